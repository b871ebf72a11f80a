#include "kernels/mlp/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace tessera::mlp {

namespace {

constexpr std::uint64_t kSamples = 1000;  // stream of a network's seed; its maps' are from 0 on

/// Tanh form of GELU, every operation rounded as tile code has it.
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

/// The gradient of z out of that of its activation. What is no number passes through.
double sloped(Arithmetic& round, Activation activation, double z, double gradient) {
  if (activation == Activation::relu) return z <= 0 ? 0 : gradient;
  if (activation == Activation::none) return gradient;
  return gradient * Gelu(round, z).slope();
}

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

/// Of the last layer's outputs; leaves their exponentials and the sum of these.
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

StepResult PlainNetwork::told() {
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

/// As training/scaling.h says of the machine.
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

}  // namespace tessera::mlp
