#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/check/comparison.h"
#include "kernels/training/course.h"
#include "sim/plan/description.h"
#include "sim/program/tensor_reader.h"

/// Results that a training sends to the host, and parameters, as tensors.
namespace tessera::training {

/// Results that the host receives each step.
struct StepResult {
  double loss;           ///< mean over the batch
  double right;          ///< samples whose largest output is their label's
  double scale = 1;      ///< f16: loss scale of the step
  bool skipped = false;  ///< gradients overflowed
};
/// Names of the transfers of these results; each sends two f32 per step ("loss scales": f16 only).
constexpr std::string_view kTrainingResults = "training results";
constexpr std::string_view kTestResults = "test results";
constexpr std::string_view kScales = "loss scales";

/// Adds the tensors of all steps: loss, right (number of correct samples), test_loss and
/// test_right; if `scaled`, loss_scale and skipped too; and the labels of all samples, returned by
/// `label`, which must outlive the program.
void add_tensors(plan::Description& description, const Turns& turns, bool scaled,
                 std::function<std::uint32_t(std::uint64_t sample)> label);
/// Results of training or of testing; empty if the program declares none.
std::vector<StepResult> step_results(const TensorReader& tensors, std::string_view transfer);

/// Wording of errors in such a tensor: "the loss of step 3 is 0.5, expected 0.4".
kernels::Comparison::Result reported_result(std::string_view tensor);

/// A training's part of the report: accuracies (with `each`, per step too), losses per step, and
/// samples in no batch; warnings of the first loss that is not finite, and of the first step that
/// is skipped at a fixed loss scale.
nlohmann::ordered_json results(const TensorReader& tensors, const Turns& turns, bool each = false,
                               bool scale_changes = true);

/// Bytes of arrays for weights, gradients, optimiser and activations, on all tiles and on the
/// fullest, classified by array name. Arrays with disjoint lifetimes may share memory.
nlohmann::ordered_json memory_of(const plan::Description& description);

}  // namespace tessera::training
