#pragma once

#include <vector>

#include "kernels/mlp/mlp.h"
#include "kernels/mlp/plain_map.h"

/// The same training, plainly and in double: forward, back and update a sample and a weight at a
/// time, in loops of their own.
namespace tessera::mlp {

class PlainNetwork {
 public:
  /// Both outlive it.
  PlainNetwork(const Options& options, const std::vector<Linear>& linears);

  /// Forward, and the sample's share of the mean loss.
  StepResult look(const Vector& image, std::uint32_t label);
  /// Adds the gradients of the sample just looked at.
  void learn(std::uint32_t label);
  void update();
  [[nodiscard]] const std::vector<std::unique_ptr<PlainMap>>& maps() const { return maps_; }

 private:
  const Options& options_;
  const std::vector<Linear>& linears_;
  std::vector<std::unique_ptr<PlainMap>> maps_;
  std::vector<Vector> first_, second_;
  Vector input_, probabilities_;
  std::vector<Vector> sums_, outputs_;  ///< of the sample
  std::uint32_t step_ = 0;
};

struct Trained {
  std::vector<StepResult> training, test;
  std::vector<std::vector<double>> weights;  ///< by map, as initial_parameters()
};

/// The first `steps` of training, then `test_steps` batches of test samples.
Trained train_plainly(const Options& options, const Data& data, const std::vector<Linear>& linears,
                      std::uint32_t steps, std::uint32_t test_steps);

}  // namespace tessera::mlp
