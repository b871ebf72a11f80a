#pragma once

#include <algorithm>

#include "kernels/training/learning.h"
#include "kernels/training/results.h"

namespace tessera::training {

// Where apex (NVIDIA) lets its dynamic scale end: apex/amp/scaler.py, max_loss_scale.
constexpr double kLargestScale = 0x1p24;

/// The factor that keeps small gradients in f16 from becoming zeros.
struct LossScaling {
  double scale = 0;      ///< 0: changes from step to step
  double first = 65536;  ///< the scale of the first step, where it changes
  std::uint32_t window = 2000;
  [[nodiscard]] bool changes() const { return scale == 0; }
};
/// Refused beside the key `unused_with`, if any: dtype f32.
void describe(config::Fields& fields, LossScaling& scaling, std::string_view unused_with);

/// How many steps of a training are expected to be skipped, for its predicted time.
struct Skips {
  std::uint32_t skipped = 0, steps = 1;

  /// Moments that stand for the steps (plan::Description::expect).
  [[nodiscard]] std::uint32_t moments() const {
    return skipped == 0 || skipped == steps ? 1 : std::min(steps, 64U);
  }
  [[nodiscard]] bool skips(std::uint32_t moment) const {
    return (2 * std::uint64_t{moment} + 1) * steps < 2 * std::uint64_t{skipped} * moments();
  }
};

/// The scale of each step, decided on the machine: gradients that overflowed are found on their
/// tiles, and every tile is told. Such a step changes nothing but the scale, which is halved; after
/// `window` steps without it is doubled.
class Scaling {
 public:
  /// All tiles of each copy know the scale. `statement` outlives it; its description expects
  /// `skips`.
  Scaling(Statement& statement, const LossScaling& scaling, plan::Copies copies, Skips skips);

  /// On each tile, as the loss takes it.
  [[nodiscard]] BufferId state() const { return state_; }
  /// Steps in which masters and weights of all `parameters` follow their gradients, with the rates
  /// of tiles 0 to `rate_tiles` - 1 of each copy.
  void update(const Learning& learning, BufferId rate, Tile rate_tiles,
              const std::vector<Parameters>& parameters);
  /// Tells the host two f32: the scale of the step's gradients, and 1 if it was skipped.
  void tell() const;

 private:
  /// States how gradients that overflowed are found: a word for each of some groups of tiles, not
  /// zero if one of them did, on the first tile of each.
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
