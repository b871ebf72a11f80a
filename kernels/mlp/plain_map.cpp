#include "kernels/mlp/plain_map.h"

#include <algorithm>
#include <cmath>

namespace tessera::mlp {

namespace {

class PlainDense : public PlainMap {
 public:
  PlainDense(const Linear& linear, Vector initial, program::Type type)
      : PlainMap(std::move(initial), type), linear_(linear) {}

  Vector forward(const Vector& x) override {
    const std::size_t n = linear_.outputs;
    Vector y(n, 0.0);
    if (linear_.bias) std::copy_n(&weights[linear_.inputs * n], n, y.begin());
    for (std::size_t row = 0; row < linear_.inputs; ++row)
      for (std::size_t c = 0; c < n; ++c) y[c] += x[row] * weights[row * n + c];
    round.all(y);
    return y;
  }
  Vector backward(const Vector& x, const Vector& gradient) override {
    const std::size_t n = linear_.outputs;
    Vector further(linear_.inputs, 0.0);
    for (std::size_t row = 0; row < linear_.inputs; ++row)
      for (std::size_t c = 0; c < n; ++c) {
        gradients[row * n + c] += x[row] * gradient[c];
        further[row] += weights[row * n + c] * gradient[c];
      }
    if (linear_.bias)
      for (std::size_t c = 0; c < n; ++c) gradients[linear_.inputs * n + c] += gradient[c];
    round.all(further);
    return further;
  }

 private:
  const Linear& linear_;
};

/// Stack after stack, factor i joining features 2^i apart.
class PlainButterfly : public PlainMap {
 public:
  PlainButterfly(const Linear& linear, Vector initial, program::Type type)
      : PlainMap(std::move(initial), type),
        linear_(linear),
        features_(linear.factors(1).features),
        stages_(linear.factors(1).stages()),
        rotates_(linear.layer.parameters == butterfly::Parameters::rotation) {}

  Vector forward(const Vector& x) override {
    inputs_.assign(linear_.stacks(), {});
    Vector y(linear_.outputs);
    const std::size_t bias = parameters.size() - y.size();
    for (std::size_t s = 0; s < inputs_.size(); ++s) {
      Vector values(features_, 0.0);
      std::copy(x.begin(), x.end(), values.begin());
      for (std::size_t stage = 0; stage < stages_; ++stage) {
        inputs_[s].push_back(values);
        for (std::size_t pair = 0; pair < features_ / 2; ++pair) {
          const Twiddle t = twiddle(s, stage, pair);
          const double a = values[t.first];
          const double b = values[t.second];
          values[t.first] = round(round(t.w[0] * a) + t.w[1] * b);
          values[t.second] = round(round(t.w[2] * a) + t.w[3] * b);
        }
      }
      for (std::size_t i = s * features_; i < std::min(y.size(), (s + 1) * features_); ++i)
        y[i] = round(values[i % features_] + weights[bias + i]);
    }
    return y;
  }

  Vector backward(const Vector& x, const Vector& gradient) override {
    const std::size_t bias = parameters.size() - gradient.size();
    Vector further(x.size(), 0.0);
    for (std::size_t s = 0; s < inputs_.size(); ++s) {
      Vector back(features_, 0.0);
      for (std::size_t i = s * features_; i < std::min(gradient.size(), (s + 1) * features_); ++i) {
        back[i % features_] = gradient[i];
        gradients[bias + i] += gradient[i];
      }
      for (std::size_t stage = stages_; stage-- > 0;)
        for (std::size_t pair = 0; pair < features_ / 2; ++pair)
          add(twiddle(s, stage, pair), inputs_[s][stage], back);
      for (std::size_t i = 0; i < x.size(); ++i) further[i] = round(further[i] + back[i]);
    }
    return further;
  }

  void round_gradients() override {}

 private:
  struct Twiddle {
    std::size_t first, second;  ///< features
    std::size_t at;             ///< of its parameters
    double w[4];
  };
  [[nodiscard]] Twiddle twiddle(std::size_t stack, std::size_t stage, std::size_t pair) const {
    const std::size_t stride = std::size_t{1} << stage;
    const std::size_t first = pair / stride * 2 * stride + pair % stride;
    const std::size_t number = (stack * stages_ + stage) * features_ / 2 + pair;
    if (!rotates_) {
      const double* w = &weights[4 * number];
      return {first, first + stride, 4 * number, {w[0], w[1], w[2], w[3]}};
    }
    const double c = round(std::cos(parameters[number]));
    const double s = round(std::sin(parameters[number]));
    return {first, first + stride, number, {c, -s, s, c}};
  }
  void add(const Twiddle& t, const Vector& in, Vector& back) {
    const double a = in[t.first];
    const double b = in[t.second];
    const double p = back[t.first];
    const double q = back[t.second];
    if (rotates_) {
      gradients[t.at] += t.w[0] * (q * a - p * b) - t.w[2] * (p * a + q * b);
    } else {
      gradients[t.at] += p * a;
      gradients[t.at + 1] += p * b;
      gradients[t.at + 2] += q * a;
      gradients[t.at + 3] += q * b;
    }
    back[t.first] = round(round(t.w[0] * p) + t.w[2] * q);
    back[t.second] = round(round(t.w[1] * p) + t.w[3] * q);
  }

  const Linear& linear_;
  std::size_t features_, stages_;
  bool rotates_;
  std::vector<std::vector<Vector>> inputs_;  ///< of the sample, by stack and factor
};

/// y = S [x, 1] + U (V^T x). With gamma `weights` has S, but for b, and U times their factors, and
/// `gradients` are with respect to those until finish_gradients().
class PlainPixelfly : public PlainMap {
 public:
  PlainPixelfly(const Linear& linear, Vector initial, program::Type type)
      : PlainMap(std::move(initial), type), linear_(linear), mask_(linear.mask()) {
    const PixelflyOrder order = pixelfly_order(linear, mask_);
    u_ = order.u;
    v_ = order.v;
    if (linear.layer.gamma) PlainPixelfly::refresh();
  }

  void refresh() override {
    PlainMap::refresh();
    if (!linear_.layer.gamma) return;
    for_scaled(
        [&](std::size_t at, double factor, double) { weights[at] = round(factor * weights[at]); });
  }
  void finish_gradients() override {
    if (!linear_.layer.gamma) return;
    round.all(gradients);
    double of_gamma = 0;
    for_scaled([&](std::size_t at, double factor, double sign) {
      of_gamma += sign * gradients[at] * round(parameters[at]);
      gradients[at] = round(factor * gradients[at]);
    });
    if (linear_.layer.learn_gamma) gradients.back() = of_gamma;
  }
  /// Gamma's is f32.
  void round_gradients() override {
    const double of_gamma = gradients.back();
    PlainMap::round_gradients();
    if (linear_.layer.learn_gamma) gradients.back() = of_gamma;
  }

  Vector forward(const Vector& x) override {
    Vector y(linear_.outputs, 0.0);
    for_elements([&](std::size_t at, std::size_t i, std::size_t j) {
      y[i] += weights[at] * (j < x.size() ? x[j] : 1.0);
    });
    const std::size_t rank = linear_.layer.rank;
    low_.assign(rank, 0.0);
    for (std::size_t j = 0; j < x.size(); ++j)
      for (std::size_t q = 0; q < rank; ++q) low_[q] += weights[v_ + j * rank + q] * x[j];
    round.all(low_);
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t q = 0; q < rank; ++q) y[i] += weights[u_ + i * rank + q] * low_[q];
    round.all(y);
    return y;
  }

  Vector backward(const Vector& x, const Vector& gradient) override {
    Vector further(x.size(), 0.0);
    for_elements([&](std::size_t at, std::size_t i, std::size_t j) {
      gradients[at] += gradient[i] * (j < x.size() ? x[j] : 1.0);
      if (j < x.size()) further[j] += weights[at] * gradient[i];
    });
    const std::size_t rank = linear_.layer.rank;
    Vector low(rank, 0.0);
    for (std::size_t i = 0; i < gradient.size(); ++i)
      for (std::size_t q = 0; q < rank; ++q) {
        gradients[u_ + i * rank + q] += gradient[i] * low_[q];
        low[q] += weights[u_ + i * rank + q] * gradient[i];
      }
    round.all(low);
    for (std::size_t j = 0; j < x.size(); ++j)
      for (std::size_t q = 0; q < rank; ++q) {
        gradients[v_ + j * rank + q] += x[j] * low[q];
        further[j] += weights[v_ + j * rank + q] * low[q];
      }
    round.all(further);
    return further;
  }

 private:
  /// Parameters that gamma is a factor of: where they are, their factor, its slope.
  template <class Take>
  void for_scaled(const Take& take) const {
    const double gamma = linear_.layer.learn_gamma
                             ? parameters.back()
                             : static_cast<double>(static_cast<float>(*linear_.layer.gamma));
    for_elements([&](std::size_t at, std::size_t, std::size_t j) {
      if (j < linear_.inputs) take(at, gamma, 1.0);
    });
    for (std::size_t at = u_; at < v_; ++at) take(at, 1 - gamma, -1.0);
  }
  /// Elements of S that are no padding: row, column; the column behind all inputs is b.
  template <class Take>
  void for_elements(const Take& take) const {
    const std::size_t b = mask_.block;
    for (std::size_t row = 0; row < mask_.block_rows(); ++row)
      for (std::uint64_t e = mask_.row_begin[row]; e < mask_.row_begin[row + 1]; ++e)
        for (std::size_t n = 0; n < b * b; ++n) {
          const std::size_t i = row * b + n / b;
          const std::size_t j = mask_.column[e] * b + n % b;
          const bool bias = j == linear_.padded_inputs();
          if (i >= linear_.outputs || (j >= linear_.inputs && !bias)) continue;
          take(e * b * b + n, i, bias ? linear_.inputs : j);
        }
  }

  const Linear& linear_;
  sparse::BlockMatrix mask_;
  std::size_t u_ = 0, v_ = 0;
  Vector low_;  ///< V^T x of the sample
};

}  // namespace

std::unique_ptr<PlainMap> plain_map(const Linear& linear, Vector initial, program::Type type) {
  if (linear.layer.kind == LayerKind::butterfly)
    return std::make_unique<PlainButterfly>(linear, std::move(initial), type);
  if (linear.layer.kind == LayerKind::pixelfly)
    return std::make_unique<PlainPixelfly>(linear, std::move(initial), type);
  return std::make_unique<PlainDense>(linear, std::move(initial), type);
}

}  // namespace tessera::mlp
