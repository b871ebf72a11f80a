#pragma once

#include <optional>

#include "kernels/training/parameters.h"
#include "sim/config/fields.h"

/// Optimisers: SGD with momentum and Adam as in torch.optim.
namespace tessera::training {

enum class Optimiser : std::uint8_t { momentum, adam };

/// Schedule of the learning rate.
enum class Schedule : std::uint8_t {
  constant,
  step,   ///< times `decay` every `decay_every` steps
  cosine  ///< half a cosine wave down to `lowest` of the rate at the last step
};

struct Learning {
  Optimiser optimiser = Optimiser::momentum;
  double rate = 0.05;
  double momentum = 0.9;
  double beta1 = 0.9;  ///< Adam's, as are beta2 and epsilon
  double beta2 = 0.999;
  double epsilon = 1e-8;
  Schedule schedule = Schedule::constant;
  std::uint32_t decay_every = 100;  ///< of schedule step, as decay
  double decay = 0.5;
  double lowest = 0;            ///< of schedule cosine: share of the rate at the end
  std::uint32_t warm_up = 0;    ///< steps over which the rate grows from 0
  std::uint32_t all_steps = 0;  ///< steps of the training; set by the workload
  std::uint32_t copies = 1;     ///< network copies, each updates a share; set by the workload

  [[nodiscard]] bool adam() const { return optimiser == Optimiser::adam; }
  /// Decay factor of the first moment; for SGD of the velocity.
  [[nodiscard]] double keep_first() const { return adam() ? beta1 : momentum; }
  [[nodiscard]] double keep_second() const { return adam() ? beta2 : 0; }
  /// The cosine schedule's angle per step in radians; 0: other schedules.
  [[nodiscard]] double wave() const;
};
void describe(config::Fields& fields, Learning& learning);

constexpr std::uint32_t kRateBytes = 24;
/// Writes the initial state of schedules.
std::function<void(std::span<std::byte>)> first_rate(const Learning& learning);
/// The codelet that computes the step size of the step that begins, and its arguments.
const char* schedule_codelet(const Learning& learning);
Arguments schedule_arguments(const Learning& learning, Place rate);
/// Leading arguments of the update code. With `scale`, gradients are scaled, masters are updated,
/// and weights are rounded from them.
Arguments update_arguments(const Learning& learning, const Stretch& stretch, Place rate,
                           std::optional<BufferId> scale = {});

/// State of schedules, on tiles 0 to `tiles` - 1, kept from step to step.
BufferId rate_array(Statement& statement, const Learning& learning, Tile tiles);
/// The call that computes the step size of the step that begins, unless `scale` marks the step as
/// skipped.
program::Vertex scheduling(Statement& statement, const Learning& learning, BufferId rate,
                           std::optional<BufferId> scale = {});
/// Adds a step in which tiles 0 to `tiles` - 1 compute the step size.
void schedule(Statement& statement, const Learning& learning, BufferId rate, Tile tiles);

/// Calls on all tiles that update parameters, each copy its share. With `scale`, gradients are
/// scaled, masters are updated, and weights are rounded from them.
CallsOf updating(Statement& statement, const Learning& learning, const Parameters& parameters,
                 BufferId rate, std::optional<BufferId> scale = {});
/// Adds one step that updates f32 weights.
void update(Statement& statement, const Learning& learning, BufferId rate,
            const std::vector<Parameters>& parameters);

/// Reference optimiser. It rounds where the tile code rounds; a product that is added to something
/// is rounded once, with the sum.
class PlainLearning {
 public:
  explicit PlainLearning(const Learning& learning)
      : learning_(learning), rate_(static_cast<float>(learning.rate)) {}

  /// Begins a step.
  void next();
  /// Updates a weight and its moments by its gradient; SGD uses `first` as velocity, and no
  /// `second`.
  void follow(float gradient, float& first, float& second, float& weight) const;

 private:
  Learning learning_;
  std::uint32_t step_ = 0;
  float rate_, first_ = 1, second_ = 1;  ///< first_, second_: powers of the decays
  float size_ = 0;                       ///< the step size
  float root_ = 1;                       ///< sqrt(1 - second_), the factor of Adam's epsilon
};

}  // namespace tessera::training
