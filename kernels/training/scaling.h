#pragma once

#include <algorithm>

#include "kernels/training/learning.h"
#include "kernels/training/loss.h"
#include "kernels/training/results.h"

namespace tessera::training {

// Upper limit of the dynamic scale in apex (NVIDIA): apex/amp/scaler.py, max_loss_scale.
constexpr double kLargestScale = 0x1p24;

/// The loss scale, a factor that keeps small f16 gradients from becoming zeros.
struct LossScaling {
  double scale = 0;      ///< fixed scale; 0: dynamic
  double first = 65536;  ///< the dynamic scale of the first step
  std::uint32_t window = 2000;
  [[nodiscard]] bool changes() const { return scale == 0; }
};
/// Describes the keys; they are refused with the key `unused_with`, if any (dtype f32).
void describe(config::Fields& fields, LossScaling& scaling, std::string_view unused_with);

/// Number of steps expected to be skipped, for the predicted time.
struct Skips {
  std::uint32_t skipped = 0, steps = 1;

  /// Number of moments that represent the steps (plan::Description::expect).
  [[nodiscard]] std::uint32_t moments() const {
    return skipped == 0 || skipped == steps ? 1 : std::min(steps, 64U);
  }
  [[nodiscard]] bool skips(std::uint32_t moment) const {
    return (2 * std::uint64_t{moment} + 1) * steps < 2 * std::uint64_t{skipped} * moments();
  }
};

/// Dynamic loss scaling on the machine. Tiles find overflow in their gradients, and every tile is
/// notified. A step with overflow only halves the scale; after `window` steps without overflow the
/// scale doubles.
class Scaling {
 public:
  /// Every tile of each copy keeps the scale. `statement` must outlive this; its description
  /// expects `skips`.
  Scaling(Statement& statement, const LossScaling& scaling, plan::Copies copies, Skips skips);

  /// The array of the scale on each tile, for cross_entropy().
  [[nodiscard]] BufferId state() const { return state_; }
  /// Adds the steps that update masters and weights of all `parameters`. Tiles 0 to `rate_tiles` -
  /// 1 of each copy have rates.
  void update(const Learning& learning, BufferId rate, Tile rate_tiles,
              const std::vector<Parameters>& parameters);
  /// Sends two f32 to the host: the scale of the step's gradients, and 1 if it was skipped.
  void tell() const { training::tell(statement_.description(), kScales, {state_, kElementBytes}); }

 private:
  /// Result of overflow detection: for each group of tiles a word on its first tile, nonzero if a
  /// gradient overflowed.
  struct Found {
    std::vector<Tile> tiles;
    BufferId word;
  };
  Found look(const std::vector<Parameters>& parameters);

  Statement& statement_;
  LossScaling scaling_;
  plan::Copies copies_;
  Skips skips_;
  BufferId state_;
};

}  // namespace tessera::training
