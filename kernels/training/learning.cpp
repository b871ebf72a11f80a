#include "kernels/training/learning.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "sim/data/element.h"

namespace tessera::training {

namespace {

/// Layout as in the tile code.
struct Rate {
  std::uint32_t step;
  float rate, first, second, step_size, root;
};

constexpr config::Names<Optimiser, 2> kOptimisers{
    {{"sgd", Optimiser::momentum}, {"adam", Optimiser::adam}}};
constexpr config::Names<Schedule, 3> kSchedules{
    {{"constant", Schedule::constant}, {"step", Schedule::step}, {"cosine", Schedule::cosine}}};

void describe_schedule(config::Fields& fields, Learning& learning) {
  fields.field({"schedule", "learning rate schedule: constant, step decay, or half a cosine wave"},
               learning.schedule, kSchedules);
  fields.field(
      {"decay_every", "schedule step: number of steps after which the rate is multiplied by decay"},
      learning.decay_every, {1, 1U << 30});
  fields.field({"decay", "schedule step: factor of the rate"}, learning.decay, {1e-6, 1});
  fields.field({"lowest", "schedule cosine: final learning rate as a share of the initial one"},
               learning.lowest, {0, 1});
  fields.field({"warm_up", "steps over which the rate grows linearly to the scheduled value"},
               learning.warm_up, {0, 1U << 24});
  const auto belongs = [&](std::string_view key, Schedule schedule) {
    fields.require_read(
        learning.schedule == schedule, key, "found with schedule {}, allowed with {}",
        config::name_of(kSchedules, learning.schedule), config::name_of(kSchedules, schedule));
  };
  belongs("decay_every", Schedule::step);
  belongs("decay", Schedule::step);
  belongs("lowest", Schedule::cosine);
}

std::string update_codelet(const Learning& learning, bool scaled, program::Type weights,
                           program::Type gradients) {
  std::string name = learning.adam() ? "training_adam" : "training_momentum";
  if (!scaled) return name;
  return fmt::format("{}_{}_{}", name, config::name_of(data::kFloatTypes, weights),
                     config::name_of(data::kFloatTypes, gradients));
}

/// Scaled code processes four parameters at a time.
std::uint64_t update_bytes(const Stretch& stretch, bool scaled) {
  return scaled ? stretch.count * sizeof(std::uint16_t) : stretch.gradient_bytes();
}

/// Cosine as the tile code computes it: quarter turns and Cephes' polynomials.
float cosine_of(float angle) {
  const float turns = angle * 0.63661977236758134F;
  const int quarter = static_cast<int>(turns < 0.0F ? turns - 0.5F : turns + 0.5F);
  const auto q = static_cast<float>(quarter);
  float x = std::fma(-q, 1.5707855224609375F, angle);
  x = std::fma(-q, 1.0804334124e-5F, x);
  const float y = x * x;
  float s = std::fma(-1.9515295891e-4F, y, 8.3321608736e-3F);
  s = std::fma(s, y, -1.6666654611e-1F);
  s = std::fma(s * y, x, x);
  float c = std::fma(2.443315711809948e-5F, y, -1.388731625493765e-3F);
  c = std::fma(c, y, 4.166664568298827e-2F);
  c = std::fma(c, y, -0.5F);
  c = std::fma(c, y, 1.0F);
  const float cosine = quarter % 2 != 0 ? s : c;
  return ((quarter + 1) & 2) != 0 ? -cosine : cosine;
}

}  // namespace

void describe(config::Fields& fields, Learning& learning) {
  fields.field({"kind", "stochastic gradient descent with momentum, or Adam"}, learning.optimiser,
               kOptimisers);
  fields.field({"learning_rate",
                "learning rate: factor of velocity (sgd) or m_hat / (sqrt(v_hat) + epsilon) (adam) "
                "in the update; there is no weight decay"},
               learning.rate, {1e-12, 1e6});
  describe_schedule(fields, learning);
  const bool adam = learning.adam();
  const auto belongs = [&](std::string_view key, bool used) {
    fields.require_read(used, key, "found with kind {}, allowed with {}",
                        config::name_of(kOptimisers, learning.optimiser), adam ? "sgd" : "adam");
  };
  fields.field({"momentum",
                "sgd: momentum as in torch.optim.SGD: velocity = momentum velocity + gradient, "
                "without dampening or Nesterov"},
               learning.momentum, {0, 1});
  belongs("momentum", !adam);
  fields.field({"beta1", "adam: decay of the gradients' mean"}, learning.beta1, {0, 0.999999});
  fields.field({"beta2", "adam: decay of the gradients' mean square"}, learning.beta2,
               {0, 0.999999});
  fields.field(
      {"epsilon",
       "adam: epsilon as in torch.optim.Adam, added to the root of the bias-corrected mean square"},
      learning.epsilon, {1e-30, 1});
  for (const std::string_view key : {"beta1", "beta2", "epsilon"}) belongs(key, adam);
}

double Learning::wave() const {
  return schedule == Schedule::cosine && all_steps > 1 ? std::numbers::pi / (all_steps - 1) : 0;
}

std::function<void(std::span<std::byte>)> first_rate(const Learning& learning) {
  return [rate = static_cast<float>(learning.rate)](std::span<std::byte> into) {
    const Rate first{0, rate, 1, 1, 0, 0};
    static_assert(sizeof first == kRateBytes);
    std::memcpy(into.data(), &first, sizeof first);
  };
}

const char* schedule_codelet(const Learning& learning) {
  return learning.warm_up > 0 || learning.schedule == Schedule::cosine ? "training_schedule_waves"
                                                                       : "training_schedule";
}

Arguments schedule_arguments(const Learning& learning, Place rate) {
  return {rate,
          learning.schedule == Schedule::step ? learning.decay_every : 0,
          bits_of(learning.decay),
          bits_of(learning.adam() ? learning.beta1 : 0),
          bits_of(learning.keep_second()),
          learning.warm_up,
          bits_of(learning.wave()),
          bits_of(learning.lowest)};
}

Arguments update_arguments(const Learning& learning, const Stretch& stretch, Place rate,
                           std::optional<BufferId> scale) {
  Arguments arguments{stretch.weights_place(), stretch.gradient_place(),
                      stretch.kept_place(stretch.first), stretch.kept_place(stretch.second)};
  if (scale) arguments.emplace_back(stretch.kept_place(stretch.masters));
  arguments.emplace_back(rate);
  if (scale) arguments.emplace_back(Place{*scale});
  for (const double number :
       {learning.keep_first(), learning.keep_second(), learning.adam() ? learning.epsilon : 0})
    arguments.emplace_back(bits_of(number));
  return arguments;
}

BufferId rate_array(Statement& statement, const Learning& learning, Tile tiles) {
  return statement.array_on_first(
      tiles, "rate", kRateBytes,
      [fill = first_rate(learning)](Tile /*tile*/, std::span<std::byte> into) { fill(into); },
      true);
}

program::Vertex scheduling(Statement& statement, const Learning& learning, BufferId rate,
                           std::optional<BufferId> scale) {
  Arguments arguments = schedule_arguments(learning, {rate});
  if (scale) arguments.emplace_back(Place{*scale});
  const std::string name = schedule_codelet(learning);
  return statement.code(scale ? name + "_scaled" : name).one(std::move(arguments));
}

void schedule(Statement& statement, const Learning& learning, BufferId rate, Tile tiles) {
  statement.description().compute("schedule", tiles,
                                  [vertex = scheduling(statement, learning, rate)](
                                      Tile /*tile*/, Calls& calls) { calls.add_by_size(vertex); });
}

CallsOf updating(Statement& statement, const Learning& learning, const Parameters& parameters,
                 BufferId rate, std::optional<BufferId> scale) {
  const Codelet code = statement.code(
      update_codelet(learning, scale.has_value(), parameters.type, parameters.gradients));
  return [code, learning, parameters, rate, scale](Tile tile, Calls& calls) {
    if (const std::optional<Stretch> share = parameters.share(tile))
      calls.add_by_size(code.all_over(update_arguments(learning, *share, {rate}, scale),
                                      update_bytes(*share, scale.has_value())));
  };
}

void update(Statement& statement, const Learning& learning, BufferId rate,
            const std::vector<Parameters>& parameters) {
  std::vector<CallsOf> calls;
  calls.reserve(parameters.size());
  for (const Parameters& each : parameters)
    calls.push_back(updating(statement, learning, each, rate));
  statement.compute_on_all("update", std::move(calls));
}

void PlainLearning::next() {
  if (learning_.schedule == Schedule::step && step_ > 0 && step_ % learning_.decay_every == 0)
    rate_ *= static_cast<float>(learning_.decay);
  const std::uint32_t before = step_++;
  first_ *= learning_.adam() ? static_cast<float>(learning_.beta1) : 0.0F;
  second_ *= static_cast<float>(learning_.keep_second());
  root_ = std::sqrt(1.0F - second_);
  size_ = rate_ * root_ / (1.0F - first_);
  if (step_ < learning_.warm_up)
    size_ *= static_cast<float>(step_) / static_cast<float>(learning_.warm_up);
  const auto wave = static_cast<float>(learning_.wave());
  if (wave == 0) return;
  const auto lowest = static_cast<float>(learning_.lowest);
  const float cosine = cosine_of(static_cast<float>(before) * wave);
  size_ *= std::fma((1.0F - lowest) * 0.5F, 1.0F + cosine, lowest);
}

void PlainLearning::follow(float gradient, float& first, float& second, float& weight) const {
  const auto keep_first = static_cast<float>(learning_.keep_first());
  if (!learning_.adam()) {
    first = std::fma(keep_first, first, gradient);
    weight = std::fma(-size_, first, weight);
    return;
  }
  const auto keep_second = static_cast<float>(learning_.keep_second());
  const float epsilon = static_cast<float>(learning_.epsilon) * root_;
  first = std::fma(keep_first, first, (1.0F - keep_first) * gradient);
  second = std::fma(keep_second, second, (1.0F - keep_second) * gradient * gradient);
  weight = std::fma(-size_, first / (std::sqrt(second) + epsilon), weight);
}

}  // namespace tessera::training
