#include "kernels/training/results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "sim/report/units.h"

namespace tessera::training {

namespace {

/// The names of the two numbers that a transfer sends each step.
struct ResultNames {
  std::string_view transfer;
  std::string first, second;
};
ResultNames training_results() { return {kTrainingResults, "loss", "right"}; }
ResultNames test_results() { return {kTestResults, "test_loss", "test_right"}; }
ResultNames scales() { return {kScales, "loss_scale", "skipped"}; }

void add(plan::Description& description, const ResultNames& names, std::uint32_t steps) {
  for (const std::uint64_t number : {0U, 1U}) {
    program::Tensor tensor{number == 0 ? names.first : names.second,
                           program::Role::result,
                           program::Type::f32,
                           {steps}};
    tensor.transfer = names.transfer;
    tensor.runs = [number, steps](std::size_t, program::Runs& runs) {
      for (std::uint64_t i = 0; i < steps; ++i) runs.add(2 * i + number, i);
    };
    description.tensor(std::move(tensor));
  }
}

/// Mean share of correct samples.
double accuracy(const std::vector<StepResult>& steps, std::uint32_t batch) {
  double right = 0;
  for (const StepResult& step : steps) right += step.right;
  return right / (static_cast<double>(steps.size()) * batch);
}

void add_divergence(nlohmann::ordered_json& results, const std::vector<StepResult>& steps,
                    bool scale_changes) {
  const auto first = [&](const auto& is) { return std::ranges::find_if(steps, is); };
  const auto number = [&](auto step) { return step - steps.begin() + 1; };
  const auto loss = first([](const StepResult& step) { return !std::isfinite(step.loss); });
  if (loss != steps.end())
    results["warnings"].push_back(fmt::format("training diverges: the loss is {} in step {} of {}",
                                              std::isnan(loss->loss) ? "no number" : "infinite",
                                              number(loss), steps.size()));
  const auto skipped = first([](const StepResult& step) { return step.skipped; });
  if (skipped != steps.end() && !scale_changes)
    results["warnings"].push_back(
        fmt::format("gradients overflow f16 in step {} of {} at a loss scale of {}, which skips it "
                    "(workload.loss_scale: a smaller one, or dynamic)",
                    number(skipped), steps.size(), skipped->scale));
}

/// Adds the number of samples that were in none of the first `batches` batches.
void add_not_used(nlohmann::ordered_json& results, const std::string& key, const char* what,
                  const Batches& of, std::uint64_t batches) {
  const std::uint64_t left = of.samples - std::min(of.samples, batches * of.batch);
  results[key] = left;
  if (left == 0) return;
  const std::string why = left < of.batch
                              ? fmt::format("batch {} does not divide", of.batch)
                              : fmt::format("{} {} of {}", report::grouped(batches),
                                            batches == 1 ? "batch" : "batches", of.batch);
  results["dropped"].push_back(fmt::format(
      "{} not used: {} of {} ({})", what, report::grouped(left), report::grouped(of.samples), why));
}

struct Kind {
  const char* name;
  std::vector<std::string_view> arrays;
};

/// Purposes of a training's arrays.
std::array<Kind, 7> kinds() {
  return {Kind{"weights", {"weights"}},
          Kind{"masters", {"master weights"}},
          Kind{"gradients", {"weight gradients"}},
          Kind{"optimiser",
               {"velocity", "moments", "first moments", "second moments", "rate", "loss scale"}},
          Kind{"activations",
               {"batch", "labels", "sums", "activations", "inputs of factors", "x in blocks",
                "low rank"}},
          Kind{"states", {"states", "states of all steps", "checkpoints of states"}},
          Kind{"spikes",
               {"spikes", "spikes of all steps", "spikes received", "spikes for a neighbour",
                "own spikes", "events", "events of all steps"}}};
}

}  // namespace

void add_tensors(plan::Description& description, const Turns& turns, bool scaled,
                 std::function<std::uint32_t(std::uint64_t sample)> label) {
  program::Tensor labels{"labels", program::Role::input, program::Type::u32, {turns.samples()}};
  labels.given = data::elements_by(program::Type::u32, std::move(label));
  description.tensor(std::move(labels));
  add(description, training_results(), turns.steps);
  if (scaled) add(description, scales(), turns.steps);
  if (turns.test_steps > 0) add(description, test_results(), turns.test_steps);
}

std::vector<StepResult> step_results(const TensorReader& tensors, std::string_view transfer) {
  const ResultNames names = transfer == kTestResults ? test_results() : training_results();
  if (!tensors.has(names.first)) return {};
  HostThreads one(1);
  const std::vector<float> loss = tensors.floats(names.first, one);
  const std::vector<float> right = tensors.floats(names.second, one);
  std::vector<StepResult> results;
  for (std::size_t i = 0; i < loss.size(); ++i)
    results.push_back({static_cast<double>(loss[i]), static_cast<double>(right[i])});
  if (transfer == kTestResults || !tensors.has(scales().first)) return results;
  const std::vector<float> scale = tensors.floats(scales().first, one);
  const std::vector<float> skipped = tensors.floats(scales().second, one);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].scale = static_cast<double>(scale[i]);
    results[i].skipped = skipped[i] != 0;
  }
  return results;
}

kernels::Comparison::Result reported_result(std::string_view tensor) {
  const bool tests = tensor.starts_with("test_");
  if (tests) tensor.remove_prefix(std::string_view("test_").size());
  const std::string what = tensor == "loss"         ? "the loss"
                           : tensor == "right"      ? "the number of right samples"
                           : tensor == "loss_scale" ? "the loss scale"
                                                    : "the skipping";
  return {.says = [what, tests](const kernels::Compared& one) {
    return fmt::format("{} of {} {} is {:.9g}, expected {:.9g}", what, tests ? "test step" : "step",
                       one.row + 1, one.found, one.expected);
  }};
}

nlohmann::ordered_json results(const TensorReader& tensors, const Turns& turns, bool each,
                               bool scale_changes) {
  const std::vector<StepResult> trained = step_results(tensors, kTrainingResults);
  const std::vector<StepResult> tested = step_results(tensors, kTestResults);
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  const std::uint32_t batch = turns.training.batch;
  if (!tested.empty()) json["test_accuracy"] = accuracy(tested, batch);
  json["training_accuracy"] = accuracy(trained, batch);
  add_divergence(json, trained, scale_changes);
  add_not_used(json, "samples_not_used", "samples", turns.training,
               turns.training.fed ? turns.steps : 1);
  add_not_used(json, "test_samples_not_used", "test samples", turns.testing, turns.test_steps);
  const auto list = [&](const char* name, const auto& value) {
    nlohmann::ordered_json& values = json[name] = nlohmann::ordered_json::array();
    for (const StepResult& step : trained) values.push_back(value(step));
  };
  const bool scaled = tensors.has(scales().first);
  if (scaled) json["skipped_steps"] = std::ranges::count_if(trained, &StepResult::skipped);
  list("loss", [](const StepResult& step) { return step.loss; });
  if (each) list("accuracy", [&](const StepResult& step) { return step.right / batch; });
  if (!scaled) return json;
  list("loss_scale", [](const StepResult& step) { return step.scale; });
  list("skipped", [](const StepResult& step) { return step.skipped ? 1 : 0; });
  return json;
}

nlohmann::ordered_json memory_of(const plan::Description& description) {
  nlohmann::ordered_json json;
  for (const Kind& kind : kinds()) {
    std::vector<std::uint64_t> by_tile(description.tiles());
    for (const plan::Array& array : description.arrays()) {
      if (std::ranges::find(kind.arrays, array.name) == kind.arrays.end()) continue;
      for (plan::Tile tile = 0; tile < description.tiles(); ++tile)
        by_tile[tile] += array.bytes(tile);
    }
    const std::uint64_t total = std::accumulate(by_tile.begin(), by_tile.end(), std::uint64_t{0});
    if (total == 0) continue;
    json[kind.name] = {{"total_bytes", total},
                       {"max_tile_bytes", *std::max_element(by_tile.begin(), by_tile.end())}};
  }
  return json;
}

}  // namespace tessera::training
