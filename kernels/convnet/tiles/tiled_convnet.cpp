#include "kernels/convnet/tiles/tiled_convnet.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/plan/lower.h"

namespace tessera::convnet::tiles {

namespace {

using Json = nlohmann::ordered_json;
using program::Type;

constexpr std::uint32_t kLeastDepth = 8;  // tile code moves 16 bytes of a chunk at a time

/// The pinned form, those of the unit beside pinned layers, or all that tile code takes.
std::vector<BlockShape> forms_of(const Plan& pinned, const MatrixUnitConfig& unit) {
  constexpr const char* kKey = "workload.plan.unit";
  const bool own = pinned.unit == kernels::Form() && !pinned.layers.empty();
  std::vector<BlockShape> forms;
  if (own || pinned.unit != kernels::Form())
    forms.push_back(kernels::block_shape(unit, Type::f16, Type::f32, pinned.unit, kKey));
  else
    forms = kernels::block_shapes(unit, Type::f16, Type::f32);
  std::erase_if(forms, [](const BlockShape& block) { return block.depth < kLeastDepth; });
  if (forms.empty())
    throw KeyError(kKey,
                   fmt::format("found blocks of fewer inputs, allowed {} and up", kLeastDepth));
  return forms;
}

/// Without a model's weights.
std::shared_ptr<Problem> problem_in(const BlockShape& block, const Network& network,
                                    const MachineConfig& machine) {
  auto problem = std::make_shared<Problem>();
  problem->block = block;
  problem->shapes = layer_shapes(network, block);
  problem->contexts = machine.tile.contexts;
  problem->tiles = machine.tiles;
  problem->model.network = network;
  return problem;
}

}  // namespace

TiledConvnet::TiledConvnet(const Options& options, MachineCosts& costs) {
  Given given = given_of(options);
  HostThreads threads(std::max(1U, std::thread::hardware_concurrency()));
  choose(float_model(std::move(given.file.network), given.file.weights, given.image, options.seed,
                     threads),
         options.tiles_plan.value_or(Plan{}), costs);
  const Network& network = problem_->model.network;
  WorkloadSummary summary;
  Plan plan{problem_->block.form(), {}};
  Json layers = Json::array();
  for (std::uint32_t i = 0; i < network.layers.size(); ++i) {
    if (!planned_.geometries[i]) continue;
    const Prediction& p = planned_.predictions[i];
    plan.layers.push_back({network.layers[i].name, planned_.geometries[i]->split()});
    layers.push_back(layer_facts(
        network.layers[i].name, p.cycles,
        {{"compute", p.compute_cycles}, {"exchange", p.exchange_cycles}, {"sync", p.sync_cycles}}));
  }
  summary.prediction = planned_.prediction;
  summary.problem = fmt::format("{} f16", network.name);
  summary.peak_type = "f16_f32";
  summary.plan = config::resolved(plan);
  summary.facts["binds"] = convnet::binding(layers);
  summary.facts["predicted_layers"] = std::move(layers);
  summary.facts.update(given.unused);
  if (!given.file.weights.empty())
    summary.rounded = {{weights_key(options), problem_->model.rounded}};
  summary.useful_flops = 2 * network.macs();
  summarise(std::move(summary));
}

/// In the form in which the layers take least, of those that fit.
void TiledConvnet::choose(FloatModel model, const Plan& pinned, MachineCosts& costs) {
  const std::vector<BlockShape> forms = forms_of(pinned, costs.machine().tile.matrix_unit);
  std::vector<std::pair<std::uint64_t, std::shared_ptr<Problem>>> problems;
  for (const BlockShape& form : forms) {
    auto problem = problem_in(form, model.network, costs.machine());
    const std::uint64_t least = forms.size() > 1 ? least_cycles(problem, costs) : 0;
    problems.emplace_back(least, std::move(problem));
  }
  std::ranges::stable_sort(problems, {}, [](const auto& each) { return each.first; });
  std::exception_ptr refused;
  for (const auto& [least, problem] : problems) {
    problem->model = std::move(model);
    try {
      planned_ = planned(problem, pinned, costs);
      problem_ = problem;
      return;
    } catch (const UserError&) {
      if (!refused) refused = std::current_exception();
      model = std::move(problem->model);
    }
  }
  std::rethrow_exception(refused);
}

program::Program TiledConvnet::lowered() const {
  return plan::lower(describe_network(problem_, planned_.geometries));
}

}  // namespace tessera::convnet::tiles
