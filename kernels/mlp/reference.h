#pragma once

#include <vector>

#include "kernels/mlp/mlp.h"

/// The same training, plainly and in double: forward, back and update a sample and a weight at a
/// time, in loops of their own.
namespace tessera::mlp {

struct Trained {
  std::vector<StepResult> training, test;
  std::vector<std::vector<double>> weights;  ///< by product, [row][column] without padding
};

/// The first `steps` of training, then `test_steps` batches of test samples.
Trained train_plainly(const Options& options, const Data& data, const std::vector<Linear>& linears,
                      std::uint32_t steps, std::uint32_t test_steps);

}  // namespace tessera::mlp
