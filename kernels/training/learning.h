#pragma once

#include <optional>

#include "kernels/training/parameters.h"
#include "sim/config/fields.h"

/// How weights follow their gradients: torch.optim's SGD with momentum and Adam.
namespace tessera::training {

enum class Optimiser : std::uint8_t { momentum, adam };

/// Change of the learning rate from step to step.
enum class Schedule : std::uint8_t {
  constant,
  step,   ///< times `decay` every so many steps
  cosine  ///< half a wave down to a share of it at the last step
};

struct Learning {
  Optimiser optimiser = Optimiser::momentum;
  double rate = 0.05;
  double momentum = 0.9;
  double beta1 = 0.9;  ///< for Adam, as beta2 and epsilon
  double beta2 = 0.999;
  double epsilon = 1e-8;
  Schedule schedule = Schedule::constant;
  std::uint32_t decay_every = 100;  ///< for step
  double decay = 0.5;
  double lowest = 0;            ///< for cosine: share of the rate at the end
  std::uint32_t warm_up = 0;    ///< steps over which the rate grows from nothing, before all that
  std::uint32_t all_steps = 0;  ///< steps of the training, which a workload knows
  std::uint32_t copies = 1;     ///< copies of the network, each updates a share; known likewise

  [[nodiscard]] bool adam() const { return optimiser == Optimiser::adam; }
  /// The factor by which a moment decays, for SGD the velocity.
  [[nodiscard]] double keep_first() const { return adam() ? beta1 : momentum; }
  [[nodiscard]] double keep_second() const { return adam() ? beta2 : 0; }
  /// The angle by which a cosine turns a step; 0: none.
  [[nodiscard]] double wave() const;
};
void describe(config::Fields& fields, Learning& learning);

constexpr std::uint32_t kRateBytes = 24;
/// Writes what schedules start from.
std::function<void(std::span<std::byte>)> first_rate(const Learning& learning);
/// The codelet that makes the step size of the step that begins, and its arguments.
const char* schedule_codelet(const Learning& learning);
Arguments schedule_arguments(const Learning& learning, Place rate);
/// Leading arguments of the code by which parameters follow their gradients; with `scale` masters
/// follow gradients that are scaled, and weights are rounded from them.
Arguments update_arguments(const Learning& learning, const Stretch& stretch, Place rate,
                           std::optional<BufferId> scale = {});

/// State of schedules, on tiles 0 to `tiles` - 1, kept from step to step.
BufferId rate_array(Statement& statement, const Learning& learning, Tile tiles);
/// The call that makes the step size of the step that begins, unless `scale` says that the step is
/// skipped.
program::Vertex scheduling(Statement& statement, const Learning& learning, BufferId rate,
                           std::optional<BufferId> scale = {});
/// A step in which tiles 0 to `tiles` - 1 make it.
void schedule(Statement& statement, const Learning& learning, BufferId rate, Tile tiles);

/// Calls by which parameters follow their gradients, each copy's its share; with `scale` masters
/// follow gradients that are scaled, and weights are rounded from them. Of all tiles.
CallsOf updating(Statement& statement, const Learning& learning, const Parameters& parameters,
                 BufferId rate, std::optional<BufferId> scale = {});
/// One step in which f32 weights follow their gradients.
void update(Statement& statement, const Learning& learning, BufferId rate,
            const std::vector<Parameters>& parameters);

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
  float size_ = 0;                       ///< the step's factor of the moments
  float root_ = 1;                       ///< root of 1 - second_: factor of Adam's epsilon
};

}  // namespace tessera::training
