#include "kernels/mlp/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::mlp {

namespace {

using Vector = std::vector<double>;

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

class Network {
 public:
  Network(const Options& options, const std::vector<Linear>& linears)
      : options_(options), linears_(linears) {
    for (std::size_t i = 0; i < linears.size(); ++i) {
      Vector& weights = weights_.emplace_back();
      for (std::uint64_t row = 0; row < linears[i].rows(); ++row)
        for (std::uint64_t column = 0; column < linears[i].outputs; ++column)
          weights.push_back(initial_weight(options.seed, i, linears[i], row, column));
      first_.emplace_back(weights.size());
      second_.emplace_back(weights.size());
      gradients_.emplace_back(weights.size());
    }
    sums_.resize(linears.size());
    outputs_.resize(linears.size());
  }

  /// Forward, and the sample's share of the mean loss.
  StepResult look(const Vector& image, std::uint32_t label) {
    input_ = image;
    const Vector* x = &input_;
    for (std::size_t i = 0; i < linears_.size(); ++i) {
      const Linear& linear = linears_[i];
      Vector& z = sums_[i];
      const std::size_t n = linear.outputs;
      z.assign(n, 0.0);
      if (linear.bias) std::copy_n(&weights_[i][linear.inputs * n], n, z.begin());
      for (std::size_t row = 0; row < linear.inputs; ++row)
        for (std::size_t column = 0; column < n; ++column)
          z[column] += (*x)[row] * weights_[i][row * n + column];
      outputs_[i].resize(n);
      for (std::size_t c = 0; c < n; ++c) outputs_[i][c] = activated(linear.activation, z[c]);
      x = &outputs_[i];
    }
    const double largest = *std::max_element(x->begin(), x->end());
    probabilities_ = *x;
    double sum = 0;
    for (double& p : probabilities_) sum += p = std::exp(p - largest);
    for (double& p : probabilities_) p /= sum;
    const auto chosen =
        static_cast<std::size_t>(std::max_element(x->begin(), x->end()) - x->begin());
    return {(std::log(sum) + largest - (*x)[label]) / options_.batch, chosen == label ? 1.0 : 0.0};
  }

  /// Adds the gradients of the sample just looked at.
  void learn(std::uint32_t label) {
    Vector back = probabilities_;
    back[label] -= 1;
    for (double& each : back) each /= options_.batch;
    for (std::size_t i = linears_.size(); i-- > 0;) {
      const Linear& linear = linears_[i];
      const std::size_t n = linear.outputs;
      for (std::size_t c = 0; c < n; ++c) back[c] *= slope(linear.activation, sums_[i][c]);
      const Vector& x = i == 0 ? input_ : outputs_[i - 1];
      Vector further(linear.inputs, 0.0);
      for (std::size_t row = 0; row < linear.inputs; ++row) {
        for (std::size_t c = 0; c < n; ++c) {
          gradients_[i][row * n + c] += x[row] * back[c];
          further[row] += weights_[i][row * n + c] * back[c];
        }
      }
      if (linear.bias)
        for (std::size_t c = 0; c < n; ++c) gradients_[i][linear.inputs * n + c] += back[c];
      back = std::move(further);
    }
  }

  void update() {
    const training::Learning& learning = options_.learning;
    ++step_;
    double rate = learning.rate;
    if (learning.decay_every > 0) {
      const std::uint32_t falls = (step_ - 1) / learning.decay_every;
      rate *= std::pow(learning.decay, falls);
    }
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      for (std::size_t j = 0; j < weights_[i].size(); ++j) {
        const double g = gradients_[i][j];
        double& m = first_[i][j];
        double& v = second_[i][j];
        if (learning.optimiser == training::Optimiser::momentum) {
          m = learning.momentum * m + g;
          weights_[i][j] -= rate * m;
        } else {
          m = learning.beta1 * m + (1 - learning.beta1) * g;
          v = learning.beta2 * v + (1 - learning.beta2) * g * g;
          const double size = rate * std::sqrt(1 - std::pow(learning.beta2, step_)) /
                              (1 - std::pow(learning.beta1, step_));
          weights_[i][j] -= size * m / (std::sqrt(v) + learning.epsilon);
        }
        gradients_[i][j] = 0;
      }
    }
  }

  [[nodiscard]] const std::vector<Vector>& weights() const { return weights_; }

 private:
  const Options& options_;
  const std::vector<Linear>& linears_;
  std::vector<Vector> weights_, gradients_, first_, second_;
  Vector input_, probabilities_;
  std::vector<Vector> sums_, outputs_;  ///< of the sample
  std::uint32_t step_ = 0;
};

}  // namespace

Trained train_plainly(const Options& options, const Data& data, const std::vector<Linear>& linears,
                      std::uint32_t steps, std::uint32_t test_steps) {
  Trained trained;
  Network network(options, linears);
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
    }
    if (learns) network.update();
    return result;
  };
  for (std::uint32_t step = 0; step < steps; ++step)
    trained.training.push_back(
        turn(options.feed == Feed::host ? step : 0, 0, options.data.samples, options.train));
  for (std::uint32_t step = 0; step < test_steps; ++step)
    trained.test.push_back(turn(step, options.data.samples, options.data.test_samples, false));
  trained.weights = network.weights();
  return trained;
}

}  // namespace tessera::mlp
