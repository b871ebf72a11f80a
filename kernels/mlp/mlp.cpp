#include "kernels/mlp/mlp.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/training/replicas.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/data/read_file.h"
#include "sim/plan/program_cost.h"

namespace tessera::mlp {

void describe(config::Fields& fields, Options& options) {
  // A layer's defaults are its own, not those of the default network's layer in that place.
  if (fields.given("layers")) options.layers.clear();
  fields.list(
      {"layers",
       "from the images to the classes; tensors weights_0, ... have their parameters, "
       "in the orders that kernels/mlp/README.md gives; not given: 128 outputs with relu, then "
       "10"},
      options.layers);
  if (options.layers.empty() && !fields.given("layers"))
    options.layers = {{LayerKind::dense, 128, 8, Activation::relu},
                      {LayerKind::dense, 10, 8, Activation::none}};
  fields.group({"data", "labelled images"}, options.data);
  fields.field({"batch",
                "samples a step, in the order of the data: a step begins behind the last one's "
                "samples, after the last sample with the first again; they are not shuffled"},
               options.batch, {1, 1U << 20});
  fields.field({"replicas",
                "copies of the network, each on a group of tiles of its own: the batch is divided "
                "among them and their gradients are added up"},
               options.replicas, {1, 1U << 20});
  constexpr std::uint32_t kMostSteps = 1U << 24;
  fields.field({"steps", "batches to train on; 0: as many as the epochs have"}, options.steps,
               {0, kMostSteps});
  fields.field({"epochs",
                "times that the samples are gone through, each samples / batch steps, rounded down",
                "", false, options.steps == 0 ? "" : "steps"},
               options.epochs, {1, 1U << 20});
  fields.require(
      options.steps > 0 ||
          std::uint64_t{options.epochs} * (options.data.samples / options.batch) <= kMostSteps,
      "epochs",
      fmt::format("found {} of {} samples in batches of {}, allowed up to {} steps", options.epochs,
                  options.data.samples, options.batch, kMostSteps));
  fields.field({"train", "weights follow gradients; false: the samples are looked at only"},
               options.train);
  fields.file({"weights",
               "folder of the weights to begin with, weights_0.npy ... of all linear maps, as "
               "--save and report.tensors write them after a run (README); seeded if not given"},
              options.weights);
  fields.field({"feed",
                "device: one batch, the first, which lies on the machine from the beginning; "
                "host: the next batch comes from the host each step"},
               options.feed, training::kFeeds);
  fields.field({"dtype",
                "of activations, of weights in products and of gradients (sums and gradients of "
                "butterfly factors are f32); with f16 f32 masters are updated, which the tensors "
                "weights_0, ... have, and gradients are scaled by loss_scale"},
               options.dtype, data::kFloatTypes);
  const std::string_view untrained = options.train ? "" : "train";
  training::describe(fields, options.scaling,
                     options.train && !options.halves() ? "dtype" : untrained);
  fields.group({"optimiser", "how weights follow their gradients", "", false, untrained},
               options.learning);
  fields.field({"seed", "of the weights and of synthetic images"}, options.seed);
  const bool chains =
      !options.layers.empty() && options.layers.back().outputs == options.data.classes;
  fields.require(chains, "layers",
                 options.layers.empty()
                     ? std::string("found none, allowed one or more")
                     : fmt::format("found {} outputs of the last one, allowed {}, one a class",
                                   options.layers.back().outputs, options.data.classes));
  fields.require(options.batch % options.replicas == 0, "replicas",
                 fmt::format("found {}, allowed what divides workload.batch {}", options.replicas,
                             options.batch));
  training::require_batches(fields, options.batch, options.data.samples, options.data.test_samples);
}

namespace {

/// Bytes of a tile that a product finds taken: weights with their moments, and what a step keeps
/// for its gradients.
std::uint64_t kept_bytes(const Options& options, const std::vector<Linear>& linears,
                         const MachineConfig& machine) {
  const auto bytes = [&](std::uint32_t rows, std::uint32_t columns) {
    return training::matrix_bytes(rows, columns, machine, options.dtype);
  };
  const bool adam = options.learning.optimiser == training::Optimiser::adam;
  // Of f16: a copy is half as large, masters and moments two; gradients are kept until all are
  // known.
  const std::uint64_t shares = options.replicas;
  const std::uint64_t moments = adam ? 2 : 1;
  const std::uint64_t gradients = shares > 1 ? 2 : 0;  // and those received
  const std::uint64_t kept = options.halves() ? 2 * moments + 2 : moments;
  const std::uint64_t trained = gradients + ceil_div(kept, shares) + (options.halves() ? 2 : 1);
  const std::uint64_t copies = options.train ? trained : 1;
  const std::uint32_t samples = options.batch / options.replicas;
  std::uint64_t sum = bytes(samples, linears.front().columns());
  for (std::size_t i = 0; i < linears.size(); ++i) {
    // Pixelfly's weights lie in the orders of its products too, and times gamma.
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

}  // namespace

namespace {

/// The machine with the tiles of one copy.
MachineConfig group_of(MachineConfig machine, std::uint32_t replicas) {
  if (replicas > machine.tiles)
    throw KeyError("workload.replicas", fmt::format("found {}, allowed at most one for each of {}",
                                                    replicas, counted(machine.tiles, "tile")));
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

/// Of a step.
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

}  // namespace

Mlp::Mlp(Options options, MachineCosts& costs)
    : options_(std::move(options)),
      all_tiles_(costs.machine().tiles),
      machine_(group_of(costs.machine(), options_.replicas)),
      data_(options_.data, options_.seed),
      linears_(products_of(options_.layers, data_.inputs())) {
  if (!options_.weights.empty()) read_parameters(linears_, options_.weights, options_.dtype);
  options_.learning.all_steps = steps();
  options_.learning.copies = options_.replicas;
  const program::Program program = plan_and_build(costs);
  nlohmann::ordered_json products = nlohmann::ordered_json::array();
  for (const LayerPlan& each : plans_) products.push_back(to_json(each, options_.train));
  std::uint64_t parameters = 0;
  for (const Linear& linear : linears_) parameters += linear.parameters();
  summarise({.problem = problem_text(options_, data_),
             .peak_type = kernels::type_name(options_.dtype),
             .plan = {{"products", std::move(products)}},
             .prediction = program_cost(program, costs),
             .facts = {{"parameters", parameters},
                       {"training_steps", steps()},
                       {"test_steps", test_steps()},
                       {"samples_a_step", options_.batch},
                       {"tiles_a_replica", machine_.tiles},
                       {"memory", training::memory_of(program)}},
             .useful_flops = steps() * flops_of(options_, linears_)});
}

/// What a step keeps for another is estimated with room to spare. Where nothing fits so, plans that
/// leave less are tried, and the compiled program says whether they fit.
program::Program Mlp::plan_and_build(MachineCosts& costs) {
  training::GroupCosts group(costs, machine_.tiles);
  const std::uint64_t reserved = kept_bytes(options_, linears_, machine_);
  const std::uint32_t columns = round_up(samples(), training::padding(machine_, options_.dtype));
  const auto plan = [&](std::uint64_t kept, bool least) {
    plans_ = plan_layers(linears_, {options_.dtype, samples(), columns, kept, least}, group);
    return build();
  };
  for (const std::uint64_t part : {1U, 2U, 4U, 16U}) {
    try {
      program::Program program = plan(reserved / part, part > 1);
      if (part > 1) static_cast<void>(costs.needs(program));
      return program;
    } catch (const KeyError&) {
      throw;
    } catch (const UserError& error) {
      // What does not fit with so little left is what the program needs.
      if (part == 16) throw;
    }
  }
  throw Defect("mlp: no plan was tried");
}

std::uint32_t Mlp::steps() const {
  if (options_.steps > 0) return options_.steps;
  return options_.epochs * (options_.data.samples / options_.batch);
}

std::uint32_t Mlp::test_steps() const { return options_.data.test_samples / options_.batch; }

void Mlp::add_tensors(program::Program& program) const {
  const std::uint64_t samples = std::uint64_t{options_.data.samples} + options_.data.test_samples;
  program::Tensor images{
      "images", program::Role::input, program::Type::f32, {samples, data_.inputs()}};
  images.given = [&data = data_](std::uint64_t first, std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size() / training::kElementBytes; ++i)
      data::store_element(program::Type::f32, into, i,
                          data.pixel((first + i) / data.inputs(), (first + i) % data.inputs()));
  };
  program.add_tensor(std::move(images));
  program.add_tensor(training::labels(
      samples, [&data = data_](std::uint64_t sample) { return data.label(sample); }));
  training::add_step_results(program, steps(), test_steps(), options_.halves() && options_.train);
}

nlohmann::ordered_json Mlp::results(const TensorReader& tensors) const {
  const std::vector<StepResult> trained =
      training::step_results(tensors, training::kTrainingResults);
  const std::vector<StepResult> tested = training::step_results(tensors, training::kTestResults);
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!tested.empty()) json["test_accuracy"] = training::accuracy(tested, options_.batch);
  if (!trained.empty()) json["training_accuracy"] = training::accuracy(trained, options_.batch);
  training::add_divergence(json, trained, options_.scaling.changes());
  training::add_not_used(json, options_.batch,
                         {options_.data.samples, options_.feed == Feed::host ? steps() : 1},
                         {options_.data.test_samples, test_steps()});
  for (const std::string& line : data_.not_used()) json["dropped"].push_back(line);
  for (std::size_t i = 0; i < linears_.size(); ++i)
    if (linears_[i].learns_gamma()) json[fmt::format("gamma_{}", i)] = learned_gamma(tensors, i);
  const auto list = [&](const char* name, const auto& value) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const StepResult& step : trained) values.push_back(value(step));
    json[name] = std::move(values);
  };
  const bool scaled = options_.halves() && options_.train;
  if (scaled)
    json["skipped_steps"] = std::count_if(trained.begin(), trained.end(),
                                          [](const StepResult& step) { return step.skipped; });
  list("loss", [](const StepResult& step) { return step.loss; });
  list("accuracy", [&](const StepResult& step) { return step.right / options_.batch; });
  if (!scaled) return json;
  list("loss_scale", [](const StepResult& step) { return step.scale; });
  list("skipped", [](const StepResult& step) { return step.skipped ? 1 : 0; });
  return json;
}

}  // namespace tessera::mlp
