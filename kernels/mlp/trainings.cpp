#include <algorithm>
#include <memory>

#include "kernels/mlp/reference.h"

namespace tessera::mlp {

namespace {

/// Networks that learn the same side by side.
class Trainings {
 public:
  Trainings(const Options& options, const Data& data, const std::vector<Linear>& linears,
            std::span<const std::uint64_t> seeds, HostThreads& threads)
      : options_(options), data_(data), threads_(threads), trained_(seeds.size()) {
    for (const std::uint64_t seed : seeds)
      networks_.push_back(std::make_unique<PlainNetwork>(options, linears, Numbers{true, seed}));
  }

  /// Whether a step of training is skipped, by the first network.
  bool skips(const training::Batches& batches, std::uint64_t step) {
    turn(batches, step, false);
    return trained_.front().training.back().skipped;
  }

  std::vector<Trained> take(const Extent& extent) {
    const training::Turns& turns = extent.turns;
    for (std::uint32_t step = 0; step < turns.steps; ++step) turn(turns.training, step, false);
    for (std::size_t n = 0; n < networks_.size(); ++n) {
      for (const auto& map : networks_[n]->maps())
        trained_[n].parameters.emplace_back(map->parameters.begin(), map->parameters.end());
      if (turns.test_steps > 0) networks_[n]->take(extent.tested);
    }
    for (std::uint32_t step = 0; step < turns.test_steps; ++step) turn(turns.testing, step, true);
    return std::move(trained_);
  }

 private:
  void turn(const training::Batches& batches, std::uint64_t number, bool tests) {
    std::vector<Vector> images(options_.batch, Vector(data_.inputs()));
    std::vector<std::uint32_t> labels(options_.batch);
    for (std::uint32_t row = 0; row < options_.batch; ++row) {
      const std::uint64_t sample = batches.sample(number, row);
      for (std::uint32_t i = 0; i < data_.inputs(); ++i) images[row][i] = data_.pixel(sample, i);
      labels[row] = data_.label(sample);
    }
    const bool learns = options_.train && !tests;
    threads_.for_ranges(networks_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n)
        (tests ? trained_[n].test : trained_[n].training)
            .push_back(of_batch(*networks_[n], images, labels, learns));
    });
  }
  [[nodiscard]] StepResult of_batch(PlainNetwork& network, const std::vector<Vector>& images,
                                    const std::vector<std::uint32_t>& labels, bool learns) const {
    for (std::uint32_t row = 0; row < options_.batch; ++row) {
      network.look(images[row], labels[row]);
      if (!learns) continue;
      network.learn(labels[row]);
      if ((row + 1) % (options_.batch / options_.replicas) == 0) network.gather();
    }
    StepResult result = network.told();
    if (!learns) return result;
    network.update();
    result.skipped = network.skipped();
    return result;
  }

  const Options& options_;
  const Data& data_;
  HostThreads& threads_;
  std::vector<std::unique_ptr<PlainNetwork>> networks_;
  std::vector<Trained> trained_;
};

}  // namespace

training::Skips expected_skips(const Options& options, const Data& data,
                               const std::vector<Linear>& linears, const training::Turns& turns,
                               std::uint64_t flops_a_step) {
  constexpr std::uint64_t kLookedFlops = 100'000'000;
  constexpr std::uint64_t kMostFlops = 1'000'000'000;
  if (flops_a_step > kMostFlops || turns.steps == 0) return {};
  const auto looked = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      kLookedFlops / std::max<std::uint64_t>(flops_a_step, 1), 1, turns.steps));
  const std::uint64_t seed = 0;
  HostThreads threads(1);
  Trainings plain(options, data, linears, {&seed, 1}, threads);
  std::uint64_t skipped = 0;
  for (std::uint32_t step = 0; step < looked; ++step)
    skipped += plain.skips(turns.training, step) ? 1 : 0;
  if (!options.scaling.changes())
    skipped = skipped * turns.steps / looked;
  else if (skipped > 0)
    skipped += (turns.steps - looked) / (std::uint64_t{options.scaling.window} + 1);
  return {word(skipped), turns.steps};
}

std::vector<Trained> train_plainly(const Options& options, const Data& data,
                                   const std::vector<Linear>& linears, const Extent& extent,
                                   std::span<const std::uint64_t> seeds, HostThreads& threads) {
  return Trainings(options, data, linears, seeds, threads).take(extent);
}

}  // namespace tessera::mlp
