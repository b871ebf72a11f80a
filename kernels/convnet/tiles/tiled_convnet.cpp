#include "kernels/convnet/tiles/tiled_convnet.h"

#include <algorithm>
#include <thread>

#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/plan/lower.h"

namespace tessera::convnet::tiles {

namespace {

using Json = nlohmann::ordered_json;
using program::Type;

std::shared_ptr<const Problem> problem_of(const Options& options, const MachineConfig& machine,
                                          Given given) {
  HostThreads threads(std::max(1U, std::thread::hardware_concurrency()));
  auto problem = std::make_shared<Problem>();
  problem->block = kernels::block_shape(machine.tile.matrix_unit, Type::f16, Type::f32);
  constexpr std::uint32_t kLeastDepth = 8;  // tile code moves 16 bytes of a chunk at a time
  if (problem->block.depth < kLeastDepth)
    throw KeyError("machine.tile.matrix_unit.f16_f32.inputs",
                   fmt::format("found {}, allowed {} and up for workload.dtype f16",
                               problem->block.depth, kLeastDepth));
  problem->shapes = layer_shapes(given.file.network, problem->block);
  problem->contexts = machine.tile.contexts;
  problem->tiles = machine.tiles;
  problem->model = float_model(std::move(given.file.network), given.file.weights, given.image,
                               options.seed, threads);
  return problem;
}

}  // namespace

TiledConvnet::TiledConvnet(const Options& options, MachineCosts& costs) {
  Given given = given_of(options);
  const std::vector<std::string> skipped = std::move(given.file.skipped);
  problem_ = problem_of(options, costs.machine(), std::move(given));
  planned_ = planned(problem_, options.tiles_plan.value_or(Plan{}), costs);
  const Network& network = problem_->model.network;
  WorkloadSummary summary;
  Plan plan;
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
  if (!skipped.empty()) summary.facts["skipped_nodes"] = skipped;
  if (!options.weights.empty()) summary.rounded = {{"weights", problem_->model.rounded}};
  summary.useful_flops = 2 * network.macs();
  summarise(std::move(summary));
}

program::Program TiledConvnet::lowered() const {
  return plan::lower(describe_network(problem_, planned_.geometries));
}

}  // namespace tessera::convnet::tiles
