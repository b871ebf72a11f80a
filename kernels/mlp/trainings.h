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

/// How many steps' gradients overflow f16, for predictions: the first steps are done plainly, as
/// many as 100 MFLOP have, at least one of up to a GFLOP; none is expected to where that is more.
/// At a fixed scale as many of all others do; a dynamic one that came down overflows again wherever
/// it doubles.
training::Skips expected_skips(const Options& options, const Data& data,
                               const std::vector<Linear>& linears, const training::Turns& turns,
                               std::uint64_t flops_a_step);

/// A training for each seed of perturbations, by as many threads.
std::vector<Trained> train_plainly(const Options& options, const Data& data,
                                   const std::vector<Linear>& linears, const Extent& extent,
                                   std::span<const std::uint64_t> seeds, HostThreads& threads);

}  // namespace tessera::mlp
