#include "kernels/mlp/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace tessera::mlp {

namespace {

constexpr std::uint64_t kSamples = 1000;  // streams of a network's seed: the network's, the rate's
constexpr std::uint64_t kRates = 1001;    // and its maps' from 0 on

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

StepSize::StepSize(const training::Learning& learning, const Arithmetic& arithmetic)
    : learning_(learning), round_(arithmetic), rate_(arithmetic.single(learning.rate)) {}

void StepSize::next() {
  const training::Learning& learning = learning_;
  const auto single = [&](double value) { return round_.single(value); };
  const bool adam = learning.optimiser == training::Optimiser::adam;
  if (learning.schedule == training::Schedule::step && step_ != 0 &&
      step_ % learning.decay_every == 0)
    rate_ = single(rate_ * single(learning.decay));
  ++step_;
  first_ = single(first_ * (adam ? single(learning.beta1) : 0));
  second_ = single(second_ * (adam ? single(learning.beta2) : 0));
  root_ = single(std::sqrt(single(1 - second_)));
  value_ = single(single(rate_ * root_) / single(1 - first_));
  if (step_ < learning.warm_up) value_ = single(value_ * single(double(step_) / learning.warm_up));
  if (learning.schedule != training::Schedule::cosine || learning.all_steps <= 1) return;
  const double angle = std::numbers::pi * (step_ - 1) / (learning.all_steps - 1);
  const double lowest = single(learning.lowest);
  const double wave = (1 + round_.near(std::cos(angle), 1 + angle)) / 2;
  value_ = single(value_ * single(lowest + (1 - lowest) * wave));
}

PlainNetwork::PlainNetwork(const Options& options, const std::vector<Linear>& linears,
                           Numbers numbers)
    : options_(options),
      linears_(linears),
      round_(options.dtype, numbers, kSamples),
      step_size_(options.learning, {options.dtype, numbers, kRates}),
      sums_(linears.size()),
      outputs_(linears.size()) {
  if (options.halves() && options.train)
    scale_ = options.scaling.changes() ? options.scaling.first : options.scaling.scale;
  scale_ = round_.single(scale_);
  for (std::size_t i = 0; i < linears.size(); ++i) {
    maps_.push_back(plain_map(linears[i], initial_parameters(options.seed, i, linears[i]),
                              {options.dtype, numbers, i}));
    const std::size_t parameters = maps_[i]->parameters.size();
    first_.emplace_back(parameters);
    second_.emplace_back(options.learning.optimiser == training::Optimiser::adam ? parameters : 0);
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
  if (!skipped_) step_size_.next();
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    if (!skipped_) follow(*maps_[i], first_[i], second_[i]);
    std::ranges::fill(maps_[i]->gradients, 0.0);
  }
}

/// Every operation rounded as tile code has it; a double holds a product of two f32.
void PlainNetwork::follow(PlainMap& map, Vector& first, Vector& second) {
  const training::Learning& learning = options_.learning;
  const auto single = [&](double value) { return round_.single(value); };
  const bool adam = learning.optimiser == training::Optimiser::adam;
  const double keep_first = single(adam ? learning.beta1 : learning.momentum);
  const double keep_second = single(learning.beta2);
  const double take_first = single(1 - keep_first);
  const double take_second = single(1 - keep_second);
  const double epsilon = single(single(learning.epsilon) * step_size_.root());
  const double rate = step_size_.value();
  for (std::size_t j = 0; j < map.parameters.size(); ++j) {
    const double g = single(inverse_ * map.gradients[j]);
    double& m = first[j];
    if (!adam) {
      m = single(keep_first * m + g);
      map.parameters[j] = single(map.parameters[j] - rate * m);
      continue;
    }
    double& v = second[j];
    m = single(keep_first * m + single(take_first * g));
    v = single(keep_second * v + single(single(take_second * g) * g));
    const double quotient = single(m / single(single(std::sqrt(v)) + epsilon));
    map.parameters[j] = single(map.parameters[j] - rate * quotient);
  }
  map.refresh();
}

}  // namespace tessera::mlp
