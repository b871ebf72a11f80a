#include "kernels/mlp/mlp.h"

#include <set>

#include <fmt/format.h>

#include "kernels/mlp/reference.h"
#include "kernels/planned.h"
#include "kernels/training/course.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/data/read_file.h"

namespace tessera::mlp {

void describe(config::Fields& fields, Options& options) {
  // A layer's defaults are its own, not those of the default network's layer in that place.
  if (fields.given("layers")) options.layers.clear();
  fields.list(
      {"layers",
       "layers from images to classes; the tensors weights_0, ... hold their parameters, in the "
       "orders given in kernels/mlp/README.md; not given: 128 outputs with relu, then 10"},
      options.layers);
  if (options.layers.empty() && !fields.given("layers"))
    options.layers = {{LayerKind::dense, 128, 8, Activation::relu},
                      {LayerKind::dense, 10, 8, Activation::none}};
  fields.group({"data", "labelled images"}, options.data);
  describe(fields, options, options.data.samples, options.data.test_samples, 1U << 20,
           "folder of initial weights, weights_0.npy ... of all linear maps, as written by --save "
           "and report.tensors after a run (README); seeded if not given");
  fields.field({"replicas",
                "replicas of the network, each on its own group of tiles: they share the batch, "
                "and their gradients are added"},
               options.replicas, {1, 1U << 20});
  fields.field({"dtype",
                "type of activations, of weights in products and of gradients (sums and gradients "
                "of butterfly factors are f32); f16 keeps f32 master weights, which the tensors "
                "weights_0, ... hold, and scales gradients by loss_scale"},
               options.dtype, data::kFloatTypes);
  training::describe(fields, options.scaling,
                     options.train && !options.halves() ? "dtype" : options.untrained());
  fields.group({"plan", "pinned plans; the planner searches those not given"}, options.plan);
  fields.field({"seed", "seed of the weights and of synthetic images"}, options.seed);
  const bool chains =
      !options.layers.empty() && options.layers.back().outputs == options.data.classes;
  fields.require(chains, "layers",
                 options.layers.empty()
                     ? std::string("found none, allowed one or more")
                     : fmt::format("found {} outputs of the last one, allowed {}, one per class",
                                   options.layers.back().outputs, options.data.classes));
  fields.require(options.batch % options.replicas == 0, "replicas",
                 "found {}, allowed divisors of workload.batch {}", options.replicas,
                 options.batch);
}

namespace {

/// Bytes of a tile that are not available to products: weights with their moments, and what a step
/// keeps for its gradients.
std::uint64_t kept_bytes(const Options& options, const std::vector<Linear>& linears,
                         const MachineConfig& machine, std::uint32_t padding) {
  const auto bytes = [&](std::uint32_t rows, std::uint32_t columns) {
    return training::matrix_bytes(rows, columns, machine, padding, options.dtype);
  };
  // In weights of `dtype`. f16: masters and moments count two; all gradients are kept for the
  // update.
  const std::uint64_t shares = options.replicas;
  const std::uint64_t moments = options.learning.adam() ? 2 : 1;
  const std::uint64_t gradients = shares > 1 ? 2 : 0;  // own and received
  const std::uint64_t kept = options.halves() ? 2 * moments + 2 : moments;
  const std::uint64_t trained = gradients + ceil_div(kept, shares) + (options.halves() ? 2 : 1);
  const std::uint64_t copies = options.train ? trained : 1;
  const std::uint32_t samples = options.batch / options.replicas;
  std::uint64_t sum = bytes(samples, linears.front().columns());
  for (std::size_t i = 0; i < linears.size(); ++i) {
    // Pixelfly's weights are also stored in the orders of its products, and times gamma.
    sum +=
        linears[i].layer.kind == LayerKind::dense
            ? copies * bytes(linears[i].columns(), result_columns(linears, i))
            : (copies + (linears[i].layer.gamma ? 5 : 4)) *
                  gemm::stored_bytes(linears[i].parameters() * data::element_bytes(options.dtype),
                                     machine.tiles);
    const bool in_place = linears[i].activation != Activation::gelu;
    sum += (in_place ? 2 : 3) * bytes(samples, result_columns(linears, i));
  }
  constexpr std::uint64_t kCodeAndLists = 16384;  // of all other steps
  return sum + kCodeAndLists;
}

/// The machine with the tiles of one replica.
MachineConfig group_of(MachineConfig machine, std::uint32_t replicas) {
  if (replicas > machine.tiles)
    throw KeyError("workload.replicas", "found {}, allowed at most one for each of {}", replicas,
                   counted(machine.tiles, "tile"));
  machine.tiles /= replicas;
  return machine;
}

std::string problem_text(const Options& options, const Data& data) {
  std::string text = fmt::format("{}", data.inputs());
  for (const LayerOptions& layer : options.layers) text += fmt::format("-{}", layer.outputs);
  text += fmt::format(" batch {} {}", options.batch, kernels::type_name(options.dtype));
  if (!options.data.images.empty()) text += " " + data::file_name(options.data.images);
  return text;
}

/// Floating-point operations of a step.
std::uint64_t flops_of(const Options& options, const std::vector<Linear>& linears) {
  std::uint64_t forward = 0;
  std::uint64_t backward = 0;
  for (std::size_t i = 0; i < linears.size(); ++i) {
    const std::uint64_t each = linears[i].flops() * options.batch;
    forward += each;
    backward += i > 0 ? 2 * each : each;
  }
  return options.train ? forward + backward : forward;
}

/// For batches in external memory, requires room for them and that pinned loads are possible.
void require_feed(const Options& options, const training::Turns& turns, const Linear& first,
                  const MachineConfig& machine) {
  const bool external = options.feed == Feed::external;
  const bool ahead = options.feed == Feed::host && machine.tile.overlap;
  if (options.plan.rounds && ahead) return;
  if (!external) return kernels::require_rounds(false, options.plan.rounds.has_value());
  std::uint64_t panels = training::OuterBatches::panels(turns.training, turns.steps);
  if (turns.test_steps > 0)
    panels += training::OuterBatches::panels(turns.testing, turns.test_steps);
  const std::uint64_t sample =
      first.columns() * data::element_bytes(options.dtype) + training::kElementBytes;
  kernels::require_external(machine, "batches", panels * options.batch * sample, "workload.feed",
                            "device, host");
  if (options.plan.rounds) kernels::loads_of(options.plan.rounds->loads, machine.tile);
}

/// The ways of loading batches to search, or the pinned one. Host feeds take no time on tiles, so
/// loading beside a turn is tried first and chosen unless it needs a slower plan.
std::vector<kernels::Loads> loads_of(const Options& options, const training::Turns& turns,
                                     const TileConfig& tile) {
  const auto all = kernels::loads_for(options.fed() ? turns.steps : 1, tile);
  if (options.plan.rounds && options.plan.rounds->loads) return {*options.plan.rounds->loads};
  std::vector<kernels::Loads> loads(all.begin(), all.end());
  if (options.feed == Feed::host) std::ranges::reverse(loads);
  return loads;
}

config::Json maps_printed(const NetworkPlan& plan) {
  config::Json json = config::Json::array();
  for (const LayerPlan& each : plan.maps) json.push_back(to_json(each));
  return json;
}

bool is_pixelfly(const LayerPlan& plan) {
  return std::holds_alternative<std::shared_ptr<const PixelflyPlan>>(plan);
}

config::Json printed(const Options& options, const NetworkPlan& plan, bool overlaps) {
  config::Json json{{"padding", plan.padding}};
  if (options.feed == Feed::external || (options.feed == Feed::host && overlaps))
    json["rounds"] = config::resolved(Rounds{plan.loads});
  json["products"] = maps_printed(plan);
  for (std::size_t i = 0; i < plan.maps.size(); ++i)
    if (is_pixelfly(plan.maps[i])) json["products"][i] = config::Json::object();
  return json;
}

/// The plans of pixelfly maps, which a config cannot pin, with the numbers of their maps.
config::Json searched_maps(const NetworkPlan& plan) {
  config::Json json = config::Json::array();
  for (std::size_t i = 0; i < plan.maps.size(); ++i) {
    if (!is_pixelfly(plan.maps[i])) continue;
    config::Json each{{"map", i}};
    each.update(to_json(plan.maps[i]));
    json.push_back(std::move(each));
  }
  return json;
}

}  // namespace

Mlp::Mlp(Options options, MachineCosts& costs)
    : options_(std::move(options)),
      all_tiles_(costs.machine().tiles),
      machine_(group_of(costs.machine(), options_.replicas)),
      data_(options_.data, options_.seed),
      turns_(options_, options_.data.samples, options_.data.test_samples),
      linears_(products_of(options_.layers, data_.inputs())) {
  if (!options_.weights.empty()) read_parameters(linears_, options_.weights, options_.dtype);
  options_.learning.all_steps = steps();
  options_.learning.copies = options_.replicas;
  if (scaled())
    skips_ = expected_skips(options_, data_, linears_, turns_, flops_of(options_, linears_));
  require_feed(options_, turns_, linears_.front(), costs.machine());
  const plan::Found found = search(costs);
  std::uint64_t parameters = 0;
  for (const Linear& linear : linears_) parameters += linear.parameters();
  config::Json facts{{"parameters", parameters},
                     {"training_steps", steps()},
                     {"test_steps", turns_.test_steps},
                     {"samples_a_step", options_.batch},
                     {"tiles_a_replica", machine_.tiles},
                     {"memory", training::memory_of(describe(plan_).description)}};
  if (config::Json searched = searched_maps(plan_); !searched.empty())
    facts["searched_maps"] = std::move(searched);
  summarise({.problem = problem_text(options_, data_),
             .peak_type = kernels::type_name(options_.dtype),
             .plan = printed(options_, plan_, costs.machine().tile.overlap),
             .prediction = found.prediction,
             .facts = std::move(facts),
             .useful_flops = steps() * flops_of(options_, linears_)});
}

/// Estimates of the memory that a step keeps for another are generous. Plans that reserve less of
/// it have more memory for their products; the described program shows whether they fit.
std::vector<NetworkPlan> Mlp::plans(MachineCosts& group, const TileConfig& tile) const {
  constexpr double kParts[] = {1.0 / 16, 1, 1.0 / 8, 1.0 / 4, 1.0 / 2, 3.0 / 4};
  std::vector<NetworkPlan> plans;
  std::string misfit;
  for (const std::uint32_t padding : training::paddings(
           machine_, options_.plan.padding, !options_.plan.products.empty(), options_.dtype)) {
    const std::uint64_t kept = kept_bytes(options_, linears_, machine_, padding);
    std::set<std::string> seen;
    for (const double& part : kParts) {
      NetworkPlan plan = plan_layers(
          linears_, options_.plan.products,
          {options_.dtype, samples(), round_up(samples(), padding), padding,
           static_cast<std::uint64_t>(part * static_cast<double>(kept)), options_.train, part < 1},
          group);
      if (!plan.misfit.empty()) misfit = plan.misfit;
      if (plan.misfit.empty() && seen.insert(maps_printed(plan).dump()).second) {
        for (const kernels::Loads loads : loads_of(options_, turns_, tile)) {
          plan.loads = loads;
          plans.push_back(plan);
        }
      } else if (plan.misfit.empty() && &part == &kParts[1]) {
        break;  // 1/16 and all of it give the same plan, so all parts do
      }
    }
  }
  if (plans.empty()) throw UserError(misfit);
  return plans;
}

plan::Found Mlp::search(MachineCosts& costs) {
  const std::unique_ptr<MachineCosts> group = costs.with_tiles(machine_.tiles);
  std::vector<NetworkPlan> all = plans(*group, costs.machine().tile);
  plan::Space space;
  space.bounds.assign(all.size(), 0);
  space.describe = [&](std::size_t option, std::uint32_t) { return describe(all[option]); };
  plan::Pricing pricing(costs);
  plan::Found found = plan::search(space, pricing);
  if (!found.fits)
    throw UserError(kernels::no_plan_fits("mlp for " + problem_text(options_, data_), nullptr,
                                          found.memory, costs.machine()));
  plan_ = std::move(all[found.option]);
  return found;
}

nlohmann::ordered_json Mlp::results(const TensorReader& tensors) const {
  nlohmann::ordered_json json =
      training::results(tensors, turns_, true, options_.scaling.changes());
  for (const std::string& line : data_.not_used()) json["dropped"].push_back(line);
  for (std::size_t i = 0; i < linears_.size(); ++i)
    if (linears_[i].learns_gamma()) json[fmt::format("gamma_{}", i)] = learned_gamma(tensors, i);
  return json;
}

}  // namespace tessera::mlp
