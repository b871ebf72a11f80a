#pragma once

#include "kernels/training/assembly.h"
#include "kernels/training/learning.h"
#include "kernels/training/results.h"

namespace tessera::training {

// Where apex (NVIDIA) lets its dynamic scale end: apex/amp/scaler.py, max_loss_scale.
constexpr double kLargestScale = 0x1p24;

/// What gradients in f16 are multiplied by so that small ones are no zeros.
struct LossScaling {
  double scale = 0;      ///< 0: changes from step to step
  double first = 65536;  ///< the scale of the first step, where it changes
  std::uint32_t window = 2000;
  [[nodiscard]] bool changes() const { return scale == 0; }
};
/// Refused beside the key `unused_with`, if any: dtype f32.
void describe(config::Fields& fields, LossScaling& scaling, std::string_view unused_with);

/// The scale of each step, decided on the machine: gradients that overflowed are found on their
/// tiles, and every tile is told. Such a step changes nothing but the scale, which is halved; after
/// `window` steps without it is doubled.
class Scaling {
 public:
  /// Tiles 0 to `tiles` - 1 know the scale. `assembly` outlives it.
  Scaling(Assembly& assembly, const LossScaling& scaling, std::uint32_t tiles);

  /// Tiles of further copies know it too, each in a state of its own.
  void spread(std::vector<BufferId> states) { states_ = std::move(states); }
  /// By tile, as the loss takes it.
  [[nodiscard]] const std::vector<BufferId>& states() const { return states_; }
  /// Steps in which masters and weights of all `stretches` follow their gradients.
  void update(const Learning& learning, const std::vector<BufferId>& rates,
              const std::vector<Stretch>& stretches);
  /// Tells the host two f32: the scale of the step's gradients, and 1 if it was skipped.
  [[nodiscard]] program::HostTransfer telling() const {
    return {std::string(kScales),
            program::HostTransfer::Direction::write,
            {{{states_.front(), kElementBytes}, 2 * kElementBytes}}};
  }

 private:
  /// Places of a word for each group of tiles: not zero, if gradients there overflowed.
  std::vector<Place> look(const std::vector<Stretch>& stretches);
  program::Vertex any(std::uint32_t tile, BufferId flags, std::uint64_t count, BufferId result);

  Assembly& assembly_;
  LossScaling scaling_;
  std::vector<BufferId> states_;
};

}  // namespace tessera::training
