#include "kernels/convnet/convnet.h"

#include <algorithm>
#include <functional>
#include <map>
#include <thread>

#include "kernels/check/comparison.h"
#include "kernels/convnet/network_image.h"
#include "kernels/gemm/vector_operand.h"
#include "kernels/gemm/vector_product.h"
#include "sim/config/writers.h"

namespace tessera::convnet {
namespace {

using Json = nlohmann::ordered_json;

/// Multiplications and additions with kept (not pruned) weights.
std::uint64_t useful_operations(const Model& model) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < model.network.layers.size(); ++i) {
    const LayerWeights& weights = model.weights[i];
    if (weights.kept.empty()) continue;
    sum += 2 * model.network.layers[i].macs() * weights.kept[0].size() / weights.input_blocks();
  }
  return sum;
}

bool is_pruned(const Model& model) {
  return std::ranges::any_of(model.weights, [](const LayerWeights& weights) {
    return !weights.kept.empty() && weights.kept[0].size() < weights.input_blocks();
  });
}

Json plan_of(const Network& given, const BandedPlan& chosen, Rules rules) {
  const Planner& planner = *chosen.planner;
  const Network& network = chosen.banded->network;
  PinnedPlan plan;
  plan.rules = rules;
  plan.image_columns = planner.plan().columns.front();
  for (const Bands& bands : chosen.bands)
    plan.bands.push_back(
        {given.layers[bands.first].name, given.layers[bands.last].name, bands.count});
  for (std::uint32_t i = 0; i < network.layers.size(); ++i)
    if (planner.plan().computes(i))
      plan.layers.push_back(
          {network.layers[i].name, planner.plan().layers[i].mapping, planner.plan().columns[i]});
  Json json = config::resolved(plan);
  if (plan.bands.empty()) json.erase("bands");
  return json;
}

/// By layer: predicted cycles until the last node begins the next layer, and those of the busiest
/// core, port and channel; first and last entry: loading the image and storing the result.
Json layers_of(const Network& network, const Planner& planner, const arrays::Estimate& estimate) {
  Json layers = Json::array();
  const auto add = [&](const std::string& name, const Priced& priced) {
    const std::size_t number = layers.size();
    const std::uint64_t end =
        number + 1 < estimate.marks.size() ? estimate.marks[number + 1] : estimate.cycles;
    layers.push_back(layer_facts(name, end - estimate.marks[number],
                                 {{"compute", priced.compute},
                                  {"rows", priced.rows},
                                  {"weights", priced.weights},
                                  {"results", priced.results},
                                  {"load", priced.load},
                                  {"store", priced.store}}));
  };
  Priced load, store;
  load.load = planner.load();
  store.store = planner.store();
  add("load", load);
  for (std::uint32_t i = 0; i < network.layers.size(); ++i)
    if (planner.plan().computes(i)) add(network.layers[i].name, planner.plan().layers[i]);
  add("store", store);
  return layers;
}

Prediction prediction_of(const arrays::Estimate& estimate, const Plan& plan,
                         std::uint64_t barrier) {
  Prediction all;
  all.cycles = estimate.cycles;
  all.sync_cycles = estimate.marks.size() * barrier;
  for (const Priced& layer : plan.layers) all.compute_cycles += layer.compute;
  all.compute_cycles = std::min(all.compute_cycles, all.cycles - all.sync_cycles);
  all.exchange_cycles = all.cycles - all.compute_cycles - all.sync_cycles;
  return all;
}

/// Approximate bytes of calls in the fullest node's memory of lists.
std::uint64_t list_bytes(const program::Program& program) {
  constexpr std::uint64_t kControl = 32;
  std::map<TileId, std::uint64_t> bytes;
  const std::function<void(const program::Sequence&)> add = [&](const program::Sequence& all) {
    for (const program::Step& step : all.steps) {
      if (const auto* repeat = std::get_if<program::Repeat>(&step.action)) add(repeat->body);
      if (const auto* set = std::get_if<program::ComputeSet>(&step.action))
        for (const program::Vertex& vertex : set->vertices)
          bytes[vertex.tile] += kControl + sizeof(std::uint32_t) * vertex.arguments.size();
    }
  };
  for (std::uint32_t zone = 0; zone < program.zones(); ++zone) add(program.steps(zone));
  std::uint64_t most = 0;
  for (const auto& [tile, its] : bytes) most = std::max(most, its);
  return most;
}

/// Bytes of a node's memory of code and lists; 0: both are in its SRAM.
std::uint64_t list_room(const MachineConfig& machine) {
  return machine.tile.program_kib * std::uint64_t{1024};
}

/// True if code and lists fit their memory; skips the exact check if they take less than half of
/// it.
bool has_room(const program::Program& program, MachineCosts& costs) {
  const std::uint64_t room = list_room(costs.machine());
  std::uint64_t code = 0;
  for (const program::Codelet& codelet : program.codelets()) code += codelet.code.size();
  if (room == 0 || 2 * (code + list_bytes(program)) < room) return true;
  try {
    static_cast<void>(costs.resource_usage(program));
    return true;
  } catch (const UserError&) {
    return false;
  }
}

/// True if a layer's tensor has a scale in a run of `dtype`: in f16 only the image.
bool has_scale(const Layer& layer, program::Type dtype) {
  return dtype != program::Type::bf16 &&
         (dtype != program::Type::f16 || layer.op == Operator::input);
}

/// The check's result for bf16; names the layer that overflows if values are not finite.
CheckResult with_overflow(CheckResult result, const Network& network,
                          std::span<const Tensor> tensors) {
  const auto overflowing = std::ranges::find_if(
      tensors, [](const Tensor& tensor) { return !reference::are_finite(tensor.values); });
  if (result.passed || overflowing == tensors.end()) return result;
  result.problem =
      fmt::format("layer '{}' overflows: the largest bf16 is {:g}",
                  network.layers[static_cast<std::size_t>(overflowing - tensors.begin())].name,
                  gemm::kLargestBf16);
  return result;
}

}  // namespace

Given given_of(const Options& options) {
  Given given{load_network_file(options.network, "workload.network"), {}};
  Network& network = given.file.network;
  if (!given.file.skipped.empty()) {
    given.unused["skipped_nodes"] = given.file.skipped;
    given.unused["notes"].push_back(
        fmt::format("not simulated and not counted: {}, after the last simulated layer, whose "
                    "tensor is the result",
                    fmt::join(given.file.skipped, ", ")));
  }
  for (const Layer& layer : network.layers)
    if (layer.fixed_exponent && !has_scale(layer, options.dtype))
      given.unused["unused_scales"].push_back(layer.name);
  if (options.dtype != program::Type::f16)
    for (Layer& layer : network.layers) layer.type = options.dtype;
  given.image = network_image(network, options.image, options.seed, "workload.image");
  if (!options.weights.empty())
    given.file.weights = read_weights(network, options.weights, "workload.weights");
  return given;
}

Json layer_facts(const std::string& layer, std::uint64_t cycles,
                 std::initializer_list<std::pair<const char*, std::uint64_t>> parts) {
  Json facts{{"layer", layer}, {"cycles", cycles}};
  for (const auto& [name, of] : parts) facts[fmt::format("{}_cycles", name)] = of;
  const auto largest = std::ranges::max_element(parts, {}, [](const auto& p) { return p.second; });
  facts["binds"] = largest->first;
  return facts;
}

WorkloadSummary summary_of(const Options& options, const Given& given, Json layers,
                           std::uint64_t rounded) {
  std::map<std::string, std::uint64_t> cycles;
  for (const Json& layer : layers)
    cycles[layer.at("binds").get<std::string>()] += layer.at("cycles").get<std::uint64_t>();
  const auto most =
      std::ranges::max_element(cycles, {}, [](const auto& each) { return each.second; });
  WorkloadSummary summary;
  summary.facts["predicted_layers"] = std::move(layers);
  summary.facts["binds"] = most->first;
  summary.facts.update(given.unused);
  summary.rounded = {
      {options.weights.empty() ? "network" : "weights", given.file.weights.empty() ? 0 : rounded},
      {"image", given.image.rounded}};
  return summary;
}

void describe(config::Fields& fields, Options& options) {
  fields.field({"dtype",
                "type of activations and weights: i8, i16 or bf16 on arrays of cores with memory "
                "tiles; f16 on tiles with an exchange"},
               options.dtype, kTypes);
  fields.field({"network", "resnet50, vgg16, inception_v3, or a network file"}, options.network);
  fields.file(
      {"image",
       "the input image, .npy, PNG or JPEG, of the network's input size; not given: seeded"},
      options.image);
  fields.file({"weights",
               "folder of LAYER.weight.npy [output][input][row][column] and LAYER.bias.npy; not "
               "given: from the network file, or seeded"},
              options.weights);
  fields.field(
      {"sparsity",
       "share of the 8x8 weight blocks that is pruned, except in the first convolution; 0: none"},
      options.sparsity, {0, 0.99});
  fields.field({"seed", "seed of weights and image"}, options.seed);
  const bool f16 = options.dtype == program::Type::f16;
  fields.require(!f16 || options.sparsity == 0, "sparsity", "found {}, allowed 0 with dtype f16",
                 options.sparsity);
  constexpr config::Field kPlan{
      "plan", "pinned mappings, with other keys for f16; those not given are searched"};
  f16 ? fields.optional_group(kPlan, options.tiles_plan)
      : fields.optional_group(kPlan, options.plan);
  const bool published = options.plan && options.plan->rules == Rules::published;
  fields.require(!published || options.dtype == program::Type::i8, "plan.rules",
                 "found published, allowed fastest with dtype {}",
                 config::name_of(kTypes, options.dtype));
}

std::unique_ptr<Workload> make_convnet(const Options& options, MachineCosts& costs) {
  const bool array = costs.machine().fabric.kind == "streams";
  const bool f16 = options.dtype == program::Type::f16;
  if (f16 == array)
    throw KeyError("workload.dtype", "found {}, allowed {} with machine.fabric.kind {}",
                   config::name_of(kTypes, options.dtype), array ? "i8, i16, bf16" : "f16",
                   costs.machine().fabric.kind);
  if (f16) return tiles::make_tiled_convnet(options, costs);
  return std::make_unique<Convnet>(options, costs);
}

Convnet::Convnet(const Options& options, MachineCosts& costs) {
  HostThreads threads(std::max(1U, std::thread::hardware_concurrency()));
  array_of(costs.machine());
  const VectorType& type = *gemm::vector_type_on(costs.machine(), options.dtype);
  Given given = given_of(options);
  require_known(given.file.network);
  model_ =
      std::make_shared<Model>(make_model(std::move(given.file.network), given.file.weights,
                                         given.image, options.seed, options.sparsity, threads));
  const PinnedPlan pinned = options.plan.value_or(PinnedPlan{});
  PricedProgram made = planned(pinned, costs);
  const Planner& planner = *chosen_.planner;
  const Network& network = chosen_.banded->network;
  program_ = std::move(made.program);
  std::uint64_t rounded = 0;  // rounded weights, bf16 only
  for (const LayerWeights& layer : model_->weights) rounded += layer.rounded;
  WorkloadSummary summary =
      summary_of(options, given, layers_of(network, planner, made.estimate), rounded);
  summary.prediction = prediction_of(made.estimate, planner.plan(), costs.barrier());
  summary.problem = fmt::format("{}{}{}", network.name,
                                type.type == program::Type::i8 ? "" : fmt::format(" {}", type.name),
                                is_pruned(*model_) ? ", pruned" : "");
  summary.peak_type = type.name;
  summary.plan = plan_of(model_->network, chosen_, pinned.rules);
  Json outside = Json::array();
  for (std::uint32_t i = 0; i < network.layers.size(); ++i)
    if (planner.plan().placement.of(i).outside && !network.is_band(i))
      outside.push_back(network.layers[i].name);
  if (!outside.empty()) summary.facts["tensors_in_ddr"] = std::move(outside);
  (type.is_float() ? summary.useful_flops : summary.useful_integer_operations) =
      useful_operations(*model_);
  summarise(std::move(summary));
}

/// If lists do not fit, plans with fewer items per layer; if none fits, returns the plan of the
/// shortest lists.
PricedProgram Convnet::planned(const PinnedPlan& pinned, MachineCosts& costs) {
  constexpr std::uint64_t kMost = 1U << 18U;
  const auto plan = [&](std::uint64_t item_cycles) {
    chosen_ = plan_bands(*model_, pinned, costs, item_cycles);
    const Planner& planner = *chosen_.planner;
    return make_program(planner.plan(), costs.machine(), planner.calls());
  };
  PricedProgram made = plan(0);
  if (has_room(made.program, costs)) return made;
  made = plan(kMost);
  std::uint64_t shortest = kMost;
  std::uint64_t least = list_bytes(made.program);
  if (least > list_room(costs.machine())) return made;
  for (std::uint64_t each = 64; each < kMost; each *= 8) {
    made = plan(each);
    if (has_room(made.program, costs)) return made;
    if (list_bytes(made.program) >= least) continue;
    least = list_bytes(made.program);
    shortest = each;
  }
  return plan(shortest);
}

program::Program Convnet::lowered() const { return *program_; }

CheckResult Convnet::check(const TensorReader& tensors, const CheckRequest& request) const {
  HostThreads threads(request.threads);
  const std::vector<Tensor> all = forward(model_->network, model_->weights, model_->image, threads);
  const std::vector<std::byte> found = tensors.bytes("Y", threads);
  const Tensor& expected = all.back();
  const VectorType& type = type_of(model_->network.layers.back());
  kernels::Comparison comparison({"Y", type.type});
  for (std::size_t i = 0; i < expected.values.size(); ++i)
    comparison.add({i / expected.shape.channels, i % expected.shape.channels,
                    gemm::number_of(type, &found[i * type.bytes]),
                    number_of(type.type, expected.values[i]), type.is_float() ? 0 : 0.5});
  const CheckResult result = comparison.result("full");
  return type.is_float() ? with_overflow(result, model_->network, all) : result;
}

}  // namespace tessera::convnet
