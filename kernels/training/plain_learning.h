#pragma once

#include "kernels/training/learning.h"

namespace tessera::training {

/// How weights follow their gradients, plainly: every rounding where the tile code has it, so a
/// product that is added to something is rounded once.
class PlainLearning {
 public:
  explicit PlainLearning(const Learning& learning)
      : learning_(learning), rate_(static_cast<float>(learning.rate)) {}

  /// Counts the step that begins.
  void next();
  /// A weight follows its gradient, with its moments: of SGD the velocity alone.
  void follow(float gradient, float& first, float& second, float& weight) const;

 private:
  Learning learning_;
  std::uint32_t step_ = 0;
  float rate_, first_ = 1, second_ = 1;  ///< powers of the decays of the moments
  float size_ = 0;                       ///< of the step: what moments are multiplied by
  float root_ = 1;                       ///< of 1 - second_, that Adam's epsilon is multiplied by
};

}  // namespace tessera::training
