#include "kernels/mlp/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace tessera::mlp {

namespace {

double activated(Activation activation, double z) {
  if (activation == Activation::relu) return std::max(z, 0.0);
  if (activation == Activation::none) return z;
  return z / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z)));
}

double slope(Activation activation, double z) {
  if (activation == Activation::relu) return z > 0 ? 1 : 0;
  if (activation == Activation::none) return 1;
  const double scale = std::sqrt(2 / std::numbers::pi);
  const double t = std::tanh(scale * (z + 0.044715 * z * z * z));
  return (1 + t) / 2 + z / 2 * (1 - t * t) * scale * (1 + 3 * 0.044715 * z * z);
}

/// The learning rate of a step, the first of which is 0.
double rate_of(const training::Learning& learning, std::uint32_t step) {
  double rate = learning.rate;
  if (learning.schedule == training::Schedule::step)
    rate *= std::pow(learning.decay, step / learning.decay_every);
  if (learning.schedule == training::Schedule::cosine && learning.all_steps > 1) {
    const double angle = std::numbers::pi * step / (learning.all_steps - 1);
    rate *= learning.lowest + (1 - learning.lowest) * (1 + std::cos(angle)) / 2;
  }
  return step < learning.warm_up ? rate * (step + 1) / learning.warm_up : rate;
}

}  // namespace

PlainNetwork::PlainNetwork(const Options& options, const std::vector<Linear>& linears)
    : options_(options),
      linears_(linears),
      sums_(linears.size()),
      outputs_(linears.size()),
      round_(options.dtype) {
  if (options.halves())
    scale_ = options.scaling.changes() ? options.scaling.first : options.scaling.scale;
  for (std::size_t i = 0; i < linears.size(); ++i) {
    maps_.push_back(
        plain_map(linears[i], initial_parameters(options.seed, i, linears[i]), options.dtype));
    first_.emplace_back(maps_[i]->parameters.size());
    second_.emplace_back(maps_[i]->parameters.size());
    gathered_.emplace_back(maps_[i]->parameters.size());
  }
}

StepResult PlainNetwork::look(const Vector& image, std::uint32_t label) {
  input_ = image;
  round_.all(input_);
  const Vector* x = &input_;
  for (std::size_t i = 0; i < linears_.size(); ++i) {
    sums_[i] = maps_[i]->forward(*x);
    outputs_[i] = sums_[i];
    for (double& each : outputs_[i]) each = round_(activated(linears_[i].activation, each));
    x = &outputs_[i];
  }
  const double largest = *std::max_element(x->begin(), x->end());
  probabilities_ = *x;
  double sum = 0;
  for (double& p : probabilities_) sum += p = std::exp(p - largest);
  for (double& p : probabilities_) p /= sum;
  const auto chosen = static_cast<std::size_t>(std::max_element(x->begin(), x->end()) - x->begin());
  return {(std::log(sum) + largest - (*x)[label]) / options_.batch, chosen == label ? 1.0 : 0.0};
}

void PlainNetwork::learn(std::uint32_t label) {
  Vector back = probabilities_;
  back[label] -= 1;
  for (double& each : back) each = round_(each * scale_ / options_.batch);
  for (std::size_t i = linears_.size(); i-- > 0;) {
    for (std::size_t c = 0; c < back.size(); ++c)
      back[c] = round_(back[c] * slope(linears_[i].activation, sums_[i][c]));
    back = maps_[i]->backward(i == 0 ? input_ : outputs_[i - 1], back);
  }
}

void PlainNetwork::nudge(double share) {
  slip_ = share;
  for (const auto& map : maps_) {
    for (std::size_t j = 0; j < map->parameters.size(); ++j)
      map->parameters[j] *= j % 2 == 0 ? 1 + share : 1 - share;
    map->refresh();
  }
}

void PlainNetwork::gather() {
  for (const auto& map : maps_) map->finish_gradients();
  if (options_.replicas == 1) return;
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    maps_[i]->round_gradients();
    for (std::size_t j = 0; j < gathered_[i].size(); ++j)
      gathered_[i][j] += std::exchange(maps_[i]->gradients[j], 0.0);
  }
}

/// As training/scaling.h says of the machine.
void PlainNetwork::rescale() {
  skipped_ = false;
  inverse_ = 1 / scale_;
  if (!options_.halves()) return;
  for (const auto& map : maps_) {
    map->round_gradients();
    for (const double g : map->gradients) skipped_ = skipped_ || !std::isfinite(g);
  }
  good_ = skipped_ ? 0 : good_ + 1;
  if (!options_.scaling.changes()) return;
  if (skipped_) scale_ /= 2;
  if (good_ != options_.scaling.window) return;
  good_ = 0;
  scale_ = std::min(2 * scale_, training::kLargestScale);
}

void PlainNetwork::update() {
  const training::Learning& learning = options_.learning;
  for (std::size_t i = 0; i < maps_.size() && options_.replicas > 1; ++i) {
    maps_[i]->gradients = gathered_[i];
    std::ranges::fill(gathered_[i], 0.0);
  }
  rescale();
  if (skipped_) {
    for (const auto& map : maps_) std::ranges::fill(map->gradients, 0.0);
    return;
  }
  ++step_;
  const double rate = rate_of(learning, step_ - 1);
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    PlainMap& map = *maps_[i];
    double largest = 0;
    for (const double g : map.gradients) largest = std::max(largest, std::abs(g));
    for (std::size_t j = 0; j < map.parameters.size(); ++j) {
      const double slip = (j % 2 == 0 ? slip_ : -slip_) * largest;
      const double g = inverse_ * (std::exchange(map.gradients[j], 0.0) + slip);
      double& m = first_[i][j];
      double& v = second_[i][j];
      if (learning.optimiser == training::Optimiser::momentum) {
        m = learning.momentum * m + g;
        map.parameters[j] -= rate * m;
      } else {
        m = learning.beta1 * m + (1 - learning.beta1) * g;
        v = learning.beta2 * v + (1 - learning.beta2) * g * g;
        const double mean = m / (1 - std::pow(learning.beta1, step_));
        const double square = v / (1 - std::pow(learning.beta2, step_));
        map.parameters[j] -= rate * mean / (std::sqrt(square) + learning.epsilon);
      }
    }
    map.refresh();
  }
}

Trained train_plainly(const Options& options, const Data& data, const std::vector<Linear>& linears,
                      std::uint32_t steps, std::uint32_t test_steps, double nudge) {
  Trained trained;
  PlainNetwork network(options, linears);
  network.nudge(nudge);
  const auto turn = [&](std::uint64_t number, std::uint32_t first, std::uint32_t samples,
                        bool learns) {
    StepResult result{};
    for (std::uint32_t row = 0; row < options.batch; ++row) {
      const std::uint64_t sample = first + (number * options.batch + row) % samples;
      Vector image(data.inputs());
      for (std::uint32_t i = 0; i < data.inputs(); ++i) image[i] = data.pixel(sample, i);
      const StepResult one = network.look(image, data.label(sample));
      result.loss += one.loss;
      result.right += one.right;
      if (learns) network.learn(data.label(sample));
      if (learns && (row + 1) % (options.batch / options.replicas) == 0) network.gather();
    }
    result.scale = network.scale();
    if (learns) network.update();
    result.skipped = learns && network.skipped();
    return result;
  };
  for (std::uint32_t step = 0; step < steps; ++step)
    trained.training.push_back(
        turn(options.feed == Feed::host ? step : 0, 0, options.data.samples, options.train));
  for (std::uint32_t step = 0; step < test_steps; ++step)
    trained.test.push_back(turn(step, options.data.samples, options.data.test_samples, false));
  for (const auto& map : network.maps()) trained.weights.push_back(map->parameters);
  return trained;
}

}  // namespace tessera::mlp
