#include "kernels/training/results.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/data/element.h"
#include "sim/report/units.h"

namespace tessera::training {

namespace {

/// The two numbers that a transfer brings each step.
struct Told {
  std::string_view transfer;
  std::string first, second;
};
Told training_results() { return {kTrainingResults, "loss", "right"}; }
Told test_results() { return {kTestResults, "test_loss", "test_right"}; }
Told scales() { return {kScales, "loss_scale", "skipped"}; }

void add(program::Program& program, const Told& told, std::uint32_t steps) {
  for (const std::uint64_t number : {0U, 1U}) {
    program::Tensor tensor{
        number == 0 ? told.first : told.second, program::Role::result, program::Type::f32, {steps}};
    tensor.transfer = told.transfer;
    tensor.runs = [number, steps](std::size_t, program::Runs& runs) {
      for (std::uint64_t i = 0; i < steps; ++i) runs.add(2 * i + number, i);
    };
    program.add_tensor(std::move(tensor));
  }
}

}  // namespace

void add_step_results(program::Program& program, std::uint32_t steps, std::uint32_t test_steps,
                      bool scaled) {
  if (steps > 0) add(program, training_results(), steps);
  if (steps > 0 && scaled) add(program, scales(), steps);
  if (test_steps > 0) add(program, test_results(), test_steps);
}

std::vector<StepResult> step_results(const TensorReader& tensors, std::string_view transfer) {
  const Told told = transfer == kTestResults ? test_results() : training_results();
  if (!tensors.has(told.first)) return {};
  HostThreads one(1);
  const std::vector<float> loss = tensors.floats(told.first, one);
  const std::vector<float> right = tensors.floats(told.second, one);
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

void add_not_used(nlohmann::ordered_json& results, std::uint32_t batch, Taken training,
                  Taken testing) {
  const auto add = [&](const std::string& key, const char* what, const Taken& of) {
    const std::uint64_t left = of.samples - std::min(of.samples, of.batches * batch);
    results[key] = left;
    if (left == 0) return;
    const std::string why = left < batch
                                ? fmt::format("batch {} does not divide", batch)
                                : fmt::format("{} {} of {}", report::grouped(of.batches),
                                              of.batches == 1 ? "batch" : "batches", batch);
    results["dropped"].push_back(fmt::format("{} not used: {} of {} ({})", what,
                                             report::grouped(left), report::grouped(of.samples),
                                             why));
  };
  add("samples_not_used", "samples", training);
  add("test_samples_not_used", "test samples", testing);
}

program::Tensor weights_at(std::string name, program::Type type,
                           std::span<const program::Place> places) {
  const std::uint32_t size = data::element_bytes(type);
  struct Held {
    program::Runs runs;
    std::uint32_t bytes = 0;
  };
  std::map<program::BufferId, Held> buffers;
  for (std::size_t i = 0; i < places.size(); ++i) {
    Held& held = buffers[places[i].buffer];
    held.runs.add(places[i].offset / size, i);
    held.bytes = std::max(held.bytes, places[i].offset + size);
  }
  program::Tensor tensor{std::move(name), program::Role::weights, type, {places.size()}};
  std::vector<program::Runs> all;
  for (auto& [buffer, held] : buffers) {
    tensor.parts.push_back({{buffer}, held.bytes});
    all.push_back(std::move(held.runs));
  }
  tensor.runs = [all = std::move(all)](std::size_t part, program::Runs& runs) { runs = all[part]; };
  return tensor;
}

program::Tensor labels(std::uint64_t samples,
                       std::function<std::uint32_t(std::uint64_t sample)> label) {
  program::Tensor tensor{"labels", program::Role::input, program::Type::u32, {samples}};
  tensor.given = [label = std::move(label)](std::uint64_t first, std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size() / sizeof(std::uint32_t); ++i) {
      const std::uint32_t value = label(first + i);
      std::memcpy(&into[i * sizeof value], &value, sizeof value);
    }
  };
  return tensor;
}

}  // namespace tessera::training
