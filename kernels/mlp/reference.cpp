#include "kernels/mlp/reference.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

namespace tessera::mlp {

namespace {

constexpr std::uint64_t kSamples = 1000;  // random stream; those of the maps start at 0

/// Tanh form of GELU, every operation rounded as in tile code.
struct Gelu {
  Arithmetic& round;
  double z, tanh, inner;

  Gelu(Arithmetic& arithmetic, double at) : round(arithmetic), z(at) {
    const double scale = round.single(std::sqrt(2 / std::numbers::pi));
    const double cube = round.single(0.044715);
    const double squared = round.single(round.single(cube * z) * z);
    const double argument = round.single(scale * round.single(z + round.single(squared * z)));
    tanh = round.single(std::tanh(round.near(argument, std::abs(argument))));
    inner = round.single(scale * round.single(1 + 3 * squared));
  }
  [[nodiscard]] double value() const {
    const double y = z / 2 * round.single(1 + tanh);
    return round.near(y, std::abs(y));
  }
  [[nodiscard]] double slope() const {
    const double below = round.single(1 + tanh) / 2;
    const double rising = z / 2 * round.single(1 - tanh * tanh) * inner;
    return round.single(round.near(below + rising, std::abs(below) + std::abs(rising)));
  }
};

double activated(Arithmetic& round, Activation activation, double z) {
  if (activation == Activation::relu) return std::max(z, 0.0);
  if (activation == Activation::none) return z;
  return Gelu(round, z).value();
}

/// The gradient of z from that of its activation. Propagates NaN.
double sloped(Arithmetic& round, Activation activation, double z, double gradient) {
  if (activation == Activation::relu) return z <= 0 ? 0 : gradient;
  if (activation == Activation::none) return gradient;
  return gradient * Gelu(round, z).slope();
}

/// Trains networks side by side on the same data.
class Trainings {
 public:
  Trainings(const Options& options, const Data& data, const std::vector<Linear>& linears,
            std::span<const std::uint64_t> seeds, HostThreads& threads)
      : options_(options), data_(data), threads_(threads), trained_(seeds.size()) {
    for (const std::uint64_t seed : seeds)
      networks_.push_back(std::make_unique<PlainNetwork>(options, linears, Numbers{true, seed}));
  }

  /// True if the first network skips a step of training.
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
    StepResult result = network.taken_result();
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

PlainNetwork::PlainNetwork(const Options& options, const std::vector<Linear>& linears,
                           Numbers numbers)
    : options_(options),
      linears_(linears),
      round_(options.dtype, numbers, kSamples),
      learning_(options.learning),
      sums_(linears.size()),
      outputs_(linears.size()) {
  if (options.halves() && options.train)
    scale_ = options.scaling.changes() ? options.scaling.first : options.scaling.scale;
  scale_ = round_.single(scale_);
  for (std::size_t i = 0; i < linears.size(); ++i) {
    maps_.push_back(plain_map(linears[i], i, initial_parameters(options.seed, i, linears[i]),
                              {options.dtype, numbers, i}));
    const std::size_t parameters = maps_[i]->parameters.size();
    first_.emplace_back(parameters);
    second_.emplace_back(parameters);
    gathered_.emplace_back(options.replicas > 1 ? parameters : 0);
    of_copies_.emplace_back(gathered_[i].size());
  }
}

StepResult PlainNetwork::look(const Vector& image, std::uint32_t label) {
  input_ = image;
  round_.all(input_);
  const Vector* x = &input_;
  for (std::size_t i = 0; i < linears_.size(); ++i) {
    sums_[i] = maps_[i]->forward(*x);
    outputs_[i] = sums_[i];
    for (double& each : outputs_[i]) each = round_(activated(round_, linears_[i].activation, each));
    x = &outputs_[i];
  }
  const double loss = cross_entropy(label);
  std::size_t chosen = 0;
  for (std::size_t c = 0; c < x->size(); ++c)
    if ((*x)[c] > (*x)[chosen]) chosen = c;
  const double right = chosen == label ? 1.0 : 0.0;
  batch_.loss += loss;
  batch_.right += right;
  loss_squares_ += loss * loss;
  return {loss / options_.batch, right};
}

/// Cross entropy of the last layer's outputs; stores their exponentials and the sum of these.
double PlainNetwork::cross_entropy(std::uint32_t label) {
  const Vector& logits = outputs_.back();
  double largest = logits.front();
  for (const double each : logits)
    if (each > largest) largest = each;
  const double log2_e = round_.single(std::numbers::log2e);
  exponentials_.clear();
  sum_ = 0;
  for (const double each : logits) {
    const double power = round_.single(round_.single(each - largest) * log2_e);
    exponentials_.push_back(round_.single(std::exp2(power)));
    sum_ = round_.single(sum_ + exponentials_.back());
  }
  const double loss = std::log(sum_) + largest - logits[label];
  return round_.near(loss, std::log(sum_) + std::abs(largest) + std::abs(logits[label]));
}

StepResult PlainNetwork::taken_result() {
  const StepResult sums = std::exchange(batch_, {});
  const double count = options_.batch;
  const double norms = std::sqrt(std::exchange(loss_squares_, 0) * count);
  return {round_.single(round_.sum(sums.loss, norms, std::sqrt(count)) / count), sums.right,
          scale_};
}

void PlainNetwork::learn(std::uint32_t label) {
  const double scale = round_.single(round_.single(1.0 / options_.batch) * scale_);
  const double each = round_.single(scale / sum_);
  Vector back;
  for (std::size_t c = 0; c < exponentials_.size(); ++c) {
    const double share = round_.single(exponentials_[c] * each);
    back.push_back(round_(c == label ? share - scale : share));
  }
  for (std::size_t i = linears_.size(); i-- > 0;) {
    for (std::size_t c = 0; c < back.size(); ++c)
      back[c] = round_(sloped(round_, linears_[i].activation, sums_[i][c], back[c]));
    back = maps_[i]->backward(i == 0 ? input_ : outputs_[i - 1], back, i > 0);
  }
}

void PlainNetwork::take(const std::vector<std::vector<float>>& parameters) {
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    maps_[i]->parameters.assign(parameters[i].begin(), parameters[i].end());
    maps_[i]->refresh();
  }
}

void PlainNetwork::gather() {
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    maps_[i]->finish_gradients(options_.batch / options_.replicas);
    for (std::size_t j = 0; j < gathered_[i].size(); ++j) {
      const double gradient = std::exchange(maps_[i]->gradients[j], 0.0);
      gathered_[i][j] += gradient;
      of_copies_[i].add(j, gradient);
    }
  }
}

/// Loss scaling as on the machine; see training/scaling.h.
void PlainNetwork::rescale() {
  skipped_ = false;
  inverse_ = round_.single(1 / scale_);
  if (!options_.halves()) return;
  for (const auto& map : maps_)
    for (const double g : map->gradients) skipped_ = skipped_ || !std::isfinite(g);
  good_ = skipped_ ? 0 : good_ + 1;
  if (!options_.scaling.changes()) return;
  if (skipped_) scale_ /= 2;
  if (good_ != options_.scaling.window) return;
  good_ = 0;
  scale_ = std::min(2 * scale_, training::kLargestScale);
}

void PlainNetwork::update() {
  const double root = std::sqrt(options_.replicas);
  for (std::size_t i = 0; i < maps_.size() && options_.replicas > 1; ++i) {
    const Vector norms = of_copies_[i].taken();
    for (std::size_t j = 0; j < norms.size(); ++j)
      maps_[i]->gradients[j] =
          round_.sum(std::exchange(gathered_[i][j], 0.0), norms[j] * root, root);
    maps_[i]->round_gradients();
  }
  rescale();
  if (!skipped_) learning_.next();
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    PlainMap& map = *maps_[i];
    for (std::size_t j = 0; j < map.parameters.size() && !skipped_; ++j) {
      auto weight = static_cast<float>(map.parameters[j]);
      learning_.follow(static_cast<float>(inverse_ * map.gradients[j]), first_[i][j], second_[i][j],
                       weight);
      map.parameters[j] = static_cast<double>(weight);
    }
    if (!skipped_) map.refresh();
    std::ranges::fill(map.gradients, 0.0);
  }
}

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
