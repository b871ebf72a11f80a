#pragma once

#include <span>
#include <vector>

#include "kernels/mlp/reference.h"
#include "sim/base/parallel.h"

/// Plain trainings side by side, in the machine's numbers.
namespace tessera::mlp {

/// What a training, and tests after it, came to.
struct Trained {
  std::vector<StepResult> training, test;
  std::vector<std::vector<float>> parameters;  ///< by map, as initial_parameters()
};

/// How much of a training is done again.
struct Extent {
  training::Turns turns;
  /// What parameters are when tests begin, by map.
  const std::vector<std::vector<float>>& tested;
};

/// Which steps' gradients overflow f16, for predictions: the training is done plainly until a step
/// is not skipped, as far as kLookedFlops go. Behind it a fixed scale stays as good or bad as it
/// is; a dynamic one that came down overflows again wherever it doubles.
training::Skips expected_skips(const Options& options, const Data& data,
                               const std::vector<Linear>& linears, const training::Turns& turns,
                               std::uint64_t flops_a_step);

/// A training for each seed of perturbations, by as many threads.
std::vector<Trained> train_plainly(const Options& options, const Data& data,
                                   const std::vector<Linear>& linears, const Extent& extent,
                                   std::span<const std::uint64_t> seeds, HostThreads& threads);

}  // namespace tessera::mlp
