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

  /// Forward, and the sample's share of the mean loss; in f16 of an image that is rounded.
  StepResult look(const Vector& image, std::uint32_t label);
  /// Adds the gradients of the sample just looked at.
  void learn(std::uint32_t label);
  /// The samples of one copy of the network are done: its gradients are those of its parameters,
  /// rounded and added to the other copies'.
  void gather();
  /// Parameters follow the gradients. In f16 these are rounded before, and where one overflowed,
  /// nothing changes but the scale.
  void update();
  /// Parameters become a share of themselves larger or smaller, in turns; so does every gradient
  /// from here on, by that share of its map's largest, as sums of many are rounded.
  void nudge(double share);
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] bool skipped() const { return skipped_; }
  [[nodiscard]] const std::vector<std::unique_ptr<PlainMap>>& maps() const { return maps_; }

 private:
  const Options& options_;
  const std::vector<Linear>& linears_;
  std::vector<std::unique_ptr<PlainMap>> maps_;
  std::vector<Vector> first_, second_;
  std::vector<Vector> gathered_;  ///< gradients of copies
  Vector input_, probabilities_;
  std::vector<Vector> sums_, outputs_;  ///< of the sample
  std::uint32_t step_ = 0;
  Rounding round_;
  double scale_ = 1;  ///< of gradients
  double inverse_ = 1;
  double slip_ = 0;       ///< of gradients, as nudge() says
  bool skipped_ = false;  ///< the last update
  std::uint32_t good_ = 0;
  void rescale();
};

struct Trained {
  std::vector<StepResult> training, test;
  std::vector<std::vector<double>> weights;  ///< by map, as initial_parameters()
};

/// The first `steps` of training, then `test_steps` batches of test samples; of a network nudged by
/// a share.
Trained train_plainly(const Options& options, const Data& data, const std::vector<Linear>& linears,
                      std::uint32_t steps, std::uint32_t test_steps, double nudge = 0);

}  // namespace tessera::mlp
