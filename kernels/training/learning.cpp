#include <cstring>
#include <numbers>

#include <fmt/format.h>

#include "kernels/training/assembly.h"

namespace tessera::training {

namespace {

/// As the tile code has it.
struct Rate {
  std::uint32_t step;
  float rate, first, second, step_size, root;
};

constexpr config::Names<Optimiser, 2> kOptimisers{
    {{"sgd", Optimiser::momentum}, {"adam", Optimiser::adam}}};
constexpr config::Names<Schedule, 3> kSchedules{
    {{"constant", Schedule::constant}, {"step", Schedule::step}, {"cosine", Schedule::cosine}}};

void describe_schedule(config::Fields& fields, Learning& learning) {
  fields.field(
      {"schedule", "of the rate: constant, falling in steps, or as half a wave of a cosine"},
      learning.schedule, kSchedules);
  fields.field(
      {"decay_every", "of schedule step: steps after which the rate is multiplied by decay"},
      learning.decay_every, {1, 1U << 30});
  fields.field({"decay", "of schedule step"}, learning.decay, {1e-6, 1});
  fields.field({"lowest", "of schedule cosine: what is left of the rate at the last step, a share"},
               learning.lowest, {0, 1});
  fields.field({"warm_up", "steps over which the rate grows to what the schedule says"},
               learning.warm_up, {0, 1U << 24});
  const auto belongs = [&](std::string_view key, Schedule schedule) {
    fields.require(learning.schedule == schedule || !fields.given(key), key,
                   fmt::format("found with schedule {}, allowed with {}",
                               config::name_of(kSchedules, learning.schedule),
                               config::name_of(kSchedules, schedule)));
  };
  belongs("decay_every", Schedule::step);
  belongs("decay", Schedule::step);
  belongs("lowest", Schedule::cosine);
}

}  // namespace

void require_batches(config::Fields& fields, std::uint32_t batch, std::uint32_t samples,
                     std::uint32_t test_samples) {
  fields.require(batch <= samples, "batch",
                 fmt::format("found {}, allowed 1 to {}, the samples to train on", batch, samples));
  fields.require(test_samples == 0 || test_samples >= batch, "data.test_samples",
                 fmt::format("found {}, allowed 0 or at least a batch of {}", test_samples, batch));
}

void describe(config::Fields& fields, Learning& learning) {
  fields.field({"kind", "stochastic gradient descent with momentum, or Adam"}, learning.optimiser,
               kOptimisers);
  fields.field({"learning_rate",
                "what velocity (sgd) or m_hat / (sqrt(v_hat) + epsilon) (adam) is multiplied by to "
                "be taken from weights; there is no weight decay"},
               learning.rate, {1e-12, 1e6});
  describe_schedule(fields, learning);
  const bool adam = learning.optimiser == Optimiser::adam;
  const auto belongs = [&](std::string_view key, bool used) {
    fields.require(
        used || !fields.given(key), key,
        fmt::format("found with kind {}, allowed with {}",
                    config::name_of(kOptimisers, learning.optimiser), adam ? "sgd" : "adam"));
  };
  fields.field({"momentum",
                "of sgd, as torch.optim.SGD has it: velocity = momentum velocity + gradient, "
                "without dampening, not Nesterov's"},
               learning.momentum, {0, 1});
  belongs("momentum", !adam);
  fields.field({"beta1", "of adam: decay of the gradients' mean"}, learning.beta1, {0, 0.999999});
  fields.field({"beta2", "of adam: decay of their mean square"}, learning.beta2, {0, 0.999999});
  fields.field(
      {"epsilon", "of adam, as torch.optim.Adam has it: added to the root of that, corrected"},
      learning.epsilon, {1e-30, 1});
  for (const std::string_view key : {"beta1", "beta2", "epsilon"}) belongs(key, adam);
}

std::function<void(std::span<std::byte>)> first_rate(const Learning& learning) {
  return [rate = static_cast<float>(learning.rate)](std::span<std::byte> into) {
    const Rate first{0, rate, 1, 1, 0, 0};
    static_assert(sizeof first == kRateBytes);
    std::memcpy(into.data(), &first, sizeof first);
  };
}

Assembly::Rates Assembly::rates(const Learning& learning, std::uint32_t tiles) {
  Rates made;
  for (std::uint32_t t = 0; t < tiles; ++t)
    made.buffers.push_back(buffer(t, kRateBytes, "rate", first_rate(learning), true));
  return made;
}

const char* schedule_codelet(const Learning& learning) {
  return learning.warm_up > 0 || learning.schedule == Schedule::cosine ? "training_schedule_waves"
                                                                       : "training_schedule";
}

std::vector<program::Argument> schedule_arguments(const Learning& learning, Place rate) {
  const bool adam = learning.optimiser == Optimiser::adam;
  const bool falls = learning.schedule == Schedule::step;
  // The angle of a step.
  const double wave = learning.schedule == Schedule::cosine && learning.all_steps > 1
                          ? std::numbers::pi / (learning.all_steps - 1)
                          : 0;
  return {rate,
          falls ? learning.decay_every : 0,
          bits_of(learning.decay),
          bits_of(adam ? learning.beta1 : 0),
          bits_of(adam ? learning.beta2 : 0),
          learning.warm_up,
          bits_of(wave),
          bits_of(learning.lowest)};
}

void Assembly::schedule(const Learning& learning, const Rates& rates) {
  program::ComputeSet set{"schedule", {}};
  for (std::uint32_t t = 0; t < rates.buffers.size(); ++t)
    set.vertices.push_back(scheduling(learning, rates, t, {}));
  add_step(std::move(set));
}

program::Vertex Assembly::scheduling(const Learning& learning, const Rates& rates,
                                     std::uint32_t tile, std::optional<BufferId> scale) {
  std::string name = schedule_codelet(learning);
  if (scale) name += "_scaled";
  program::Vertex vertex{TileId(tile), codelet(name), program::Executor::one_worker, 0,
                         schedule_arguments(learning, Place{rates.buffers[tile]})};
  if (scale) vertex.arguments.emplace_back(Place{*scale});
  return vertex;
}

Assembly::Moments Assembly::moments(const Learning& learning, const Matrix& weights) {
  const auto zero = [](std::uint64_t, std::uint64_t) { return 0.0; };
  const bool adam = learning.optimiser == Optimiser::adam;
  const auto make = [&](std::string_view name) {
    return matrix(weights.rows, weights.columns, name, {zero, true});
  };
  Moments made{make(adam ? "first moments" : "velocity"), {}};
  if (adam) made.second = make("second moments");
  return made;
}

void Assembly::update(const Learning& learning, const Rates& rates, const Matrix& weights,
                      const Matrix& gradient, const Moments& moments) {
  const Matrix& second = moments.second ? *moments.second : moments.first;
  std::vector<Trained> stretches;
  for (std::uint32_t t = 0; t < weights.tiles(); ++t)
    stretches.push_back({weights.lies.buffers[t], gradient.lies.buffers[t],
                         moments.first.lies.buffers[t], second.lies.buffers[t]});
  update(learning, rates, stretches);
}

const char* update_codelet(const Learning& learning) {
  return learning.optimiser == Optimiser::adam ? "training_adam" : "training_momentum";
}

std::vector<program::Argument> update_arguments(const Learning& learning,
                                                const Assembly::Trained& trained, Place rate,
                                                const kernels::EvenSplit& words) {
  const bool adam = learning.optimiser == Optimiser::adam;
  std::vector<program::Argument> arguments{Place{trained.weights},
                                           Place{trained.gradient},
                                           Place{trained.first},
                                           Place{trained.second},
                                           rate,
                                           bits_of(adam ? learning.beta1 : learning.momentum),
                                           bits_of(adam ? learning.beta2 : 0),
                                           bits_of(adam ? learning.epsilon : 0)};
  for (std::uint32_t w = 0; w < words.parts; ++w) {
    arguments.emplace_back(word(words.begin(w) * kWordBytes));
    arguments.emplace_back(word(words.part(w).size()));
  }
  return arguments;
}

void Assembly::update(const Learning& learning, const Rates& rates,
                      const std::vector<Trained>& stretches) {
  program::ComputeSet set{"update", {}};
  for (const Trained& each : stretches) {
    const TileId tile = program_.buffer(each.weights).tile;
    const kernels::EvenSplit words{program_.buffer(each.weights).bytes / kWordBytes,
                                   machine_.tile.contexts};
    set.vertices.push_back(
        {tile, codelet(update_codelet(learning)), program::Executor::all_workers, 0,
         update_arguments(learning, each, Place{rates.buffers[index(tile)]}, words)});
  }
  add_step(std::move(set));
}

}  // namespace tessera::training
