#pragma once

#include <vector>

#include "kernels/mlp/mlp.h"
#include "kernels/mlp/plain_map.h"

/// The same training, plainly: forward, back and update a sample and a weight at a time, in loops
/// of their own, in double or in the machine's numbers.
namespace tessera::mlp {

/// The step size that tile code has for each step, to the bit with the machine's numbers but for
/// cosines.
class StepSize {
 public:
  StepSize(const training::Learning& learning, const Arithmetic& arithmetic);
  /// Of the next step that is not skipped.
  void next();
  [[nodiscard]] double value() const { return value_; }
  /// What Adam's epsilon is multiplied by: the root of 1 - beta2^t.
  [[nodiscard]] double root() const { return root_; }

 private:
  const training::Learning& learning_;
  Arithmetic round_;
  std::uint32_t step_ = 0;
  double rate_, first_ = 1, second_ = 1;  ///< powers of the decays
  double value_ = 0, root_ = 1;
};

class PlainNetwork {
 public:
  /// Both outlive it. By default in double.
  PlainNetwork(const Options& options, const std::vector<Linear>& linears, Numbers numbers = {});

  /// Forward, and the sample's share of the batch's loss; in f16 of an image that is rounded.
  StepResult look(const Vector& image, std::uint32_t label);
  /// Adds the gradients of the sample just looked at.
  void learn(std::uint32_t label);
  /// The samples of one copy of the network are done: its gradients are those of its parameters,
  /// rounded and added to the other copies'.
  void gather();
  /// Parameters follow the gradients. In f16, where one overflowed, nothing changes but the scale.
  void update();
  /// The mean loss and the number of right samples of what was looked at since the last call.
  StepResult told();
  [[nodiscard]] bool skipped() const { return skipped_; }  ///< the last update
  /// Parameters become those of each map.
  void take(const std::vector<std::vector<float>>& parameters);
  [[nodiscard]] const std::vector<std::unique_ptr<PlainMap>>& maps() const { return maps_; }

 private:
  double cross_entropy(std::uint32_t label);
  void follow(PlainMap& map, Vector& first, Vector& second);
  void rescale();

  const Options& options_;
  const std::vector<Linear>& linears_;
  Arithmetic round_;
  StepSize step_size_;
  std::vector<std::unique_ptr<PlainMap>> maps_;
  std::vector<Vector> first_, second_;
  std::vector<Vector> gathered_;  ///< gradients of copies
  std::vector<Squares> of_copies_;
  Vector input_, exponentials_;
  double sum_ = 0;                      ///< of exponentials
  std::vector<Vector> sums_, outputs_;  ///< of the sample
  StepResult batch_{};                  ///< sums over the samples since told()
  double loss_squares_ = 0;
  double scale_ = 1;  ///< of gradients
  double inverse_ = 1;
  bool skipped_ = false;
  std::uint32_t good_ = 0;
};

}  // namespace tessera::mlp
