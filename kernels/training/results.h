#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/program/tensor_reader.h"

/// What a training tells the host, and its parameters, as tensors.
namespace tessera::training {

/// What the host is told each step.
struct StepResult {
  double loss;           ///< mean of the batch
  double right;          ///< samples whose largest output is their label's
  double scale = 1;      ///< of f16: of the step's gradients
  bool skipped = false;  ///< because they overflowed
};
/// Names of the transfers that bring them, each two f32 a step, and of f16 two more.
constexpr std::string_view kTrainingResults = "training results";
constexpr std::string_view kTestResults = "test results";
constexpr std::string_view kScales = "loss scales";

/// Declares the losses of so many steps, and how many were right: loss, right, test_loss and
/// test_right; of `scaled` gradients loss_scale and skipped too. Nothing for no steps.
void add_step_results(program::Program& program, std::uint32_t steps, std::uint32_t test_steps,
                      bool scaled = false);
/// Those of training or of testing; none if the program declares none.
std::vector<StepResult> step_results(const TensorReader& tensors, std::string_view transfer);
/// Mean share of samples that were right.
double accuracy(const std::vector<StepResult>& steps, std::uint32_t batch);

/// Adds a line to `warnings` for the first loss that is no number, and for the first step that is
/// skipped at a scale that does not change.
void add_divergence(nlohmann::ordered_json& results, const std::vector<StepResult>& steps,
                    bool scale_changes);

/// Samples of a data set, and the batches that were taken of them.
struct Taken {
  std::uint64_t samples, batches;
};
/// Adds how many samples were in no batch, and for each set that has such a line to `dropped`.
void add_not_used(nlohmann::ordered_json& results, std::uint32_t batch, Taken training,
                  Taken testing);

/// Weights of which number i lies at places[i].
program::Tensor weights_at(std::string name, program::Type type,
                           std::span<const program::Place> places);

/// Labels of samples, which `label` gives; it outlives the program.
program::Tensor labels(std::uint64_t samples,
                       std::function<std::uint32_t(std::uint64_t sample)> label);

}  // namespace tessera::training
