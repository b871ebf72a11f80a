#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/check/comparison.h"
#include "kernels/training/course.h"
#include "sim/plan/description.h"
#include "sim/program/tensor_reader.h"

/// Results that a training gives the host, and its parameters, as tensors.
namespace tessera::training {

/// Results that the host gets each step.
struct StepResult {
  double loss;           ///< mean of the batch
  double right;          ///< samples whose largest output is their label's
  double scale = 1;      ///< f16: factor of the step's gradients
  bool skipped = false;  ///< because they overflowed
};
/// Names of the transfers that bring them, each two f32 a step, and of f16 two more.
constexpr std::string_view kTrainingResults = "training results";
constexpr std::string_view kTestResults = "test results";
constexpr std::string_view kScales = "loss scales";

/// The losses of all steps, and how many were right: loss, right, test_loss and
/// test_right; of `scaled` gradients loss_scale and skipped too; and the labels of all samples,
/// which `label` gives and which outlives the program.
std::vector<program::Tensor> tensors_of(const Turns& turns, bool scaled,
                                        std::function<std::uint32_t(std::uint64_t sample)> label);
/// Results of training or of testing; none if the program declares none.
std::vector<StepResult> step_results(const TensorReader& tensors, std::string_view transfer);

/// How people know such a tensor's numbers: "the loss of step 3 is 0.5, expected 0.4".
kernels::Comparison::Result told_result(std::string_view tensor);

/// A training's part of the report: accuracies (with `each` of each step too), losses step by step,
/// samples that no batch had; warnings of the first loss that is NaN, and of the first step that
/// is skipped at a scale that does not change.
nlohmann::ordered_json results(const TensorReader& tensors, const Turns& turns, bool each = false,
                               bool scale_changes = true);

/// Bytes that arrays have for weights, gradients, the optimiser and activations, on
/// all tiles and on the fullest: by their names, as all that is here and in layers gives them.
/// Where lives do not overlap they may share memory.
nlohmann::ordered_json memory_of(const plan::Description& description);

}  // namespace tessera::training
