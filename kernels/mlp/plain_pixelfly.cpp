#include <algorithm>
#include <cmath>

#include "kernels/mlp/plain_map.h"

namespace tessera::mlp {

namespace {

/// y = S [x, 1] + U (V^T x). With gamma `weights` has S, but for b, and U times their factors, and
/// `gradients` are with respect to those until finish_gradients().
class PlainPixelfly : public PlainMap {
 public:
  PlainPixelfly(const Linear& linear, Vector initial, const Arithmetic& arithmetic)
      : PlainMap(std::move(initial), arithmetic),
        linear_(linear),
        mask_(linear.mask()),
        rank_(linear.layer.rank),
        of_x_(linear.inputs + 1),
        of_low_(rank_),
        of_gradients_(linear.outputs),
        of_low_gradients_(rank_) {
    const PixelflyOrder order = pixelfly_order(linear, mask_);
    u_ = order.u;
    v_ = order.v;
    PlainPixelfly::refresh();
  }

  void refresh() override {
    PlainMap::refresh();
    if (linear_.layer.gamma)
      for_scaled([&](std::size_t at, double factor, double) {
        weights[at] = round(factor * weights[at]);
      });
    find_norms();
  }

  void finish_gradients(std::uint32_t samples) override {
    finish_sums(std::sqrt(samples));
    round_gradients();
    if (!linear_.layer.gamma) return;
    double of_gamma = 0;
    Squares squares(2);
    for_scaled([&](std::size_t at, double factor, double sign) {
      const double weight = round(parameters[at]);
      squares.add(0, gradients[at]);
      squares.add(1, weight);
      of_gamma += sign * gradients[at] * weight;
      gradients[at] = round(factor * gradients[at]);
    });
    if (!linear_.layer.learn_gamma) return;
    const double norms = std::sqrt(squares[0] * squares[1]);
    const double root = std::sqrt(static_cast<double>(parameters.size()));
    gradients.back() = round.single(round.sum(of_gamma, norms, root));
  }
  /// Gamma's is f32.
  void round_gradients() override {
    const double of_gamma = round.single(gradients.back());
    PlainMap::round_gradients();
    if (linear_.layer.learn_gamma) gradients.back() = of_gamma;
  }

  Vector forward(const Vector& x) override {
    Vector y(linear_.outputs, 0.0);
    for_elements([&](std::size_t at, std::size_t i, std::size_t j) {
      y[i] += weights[at] * (j < x.size() ? x[j] : 1.0);
    });
    low_.assign(rank_, 0.0);
    for (std::size_t j = 0; j < x.size(); ++j)
      for (std::size_t q = 0; q < rank_; ++q) low_[q] += weights[v_ + j * rank_ + q] * x[j];
    const double of_x = 1 + norm_squared(x);
    perturb(low_, std::sqrt(of_x), v_columns_, x.size());
    round.all(low_);
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t q = 0; q < rank_; ++q) y[i] += weights[u_ + i * rank_ + q] * low_[q];
    perturb(y, std::sqrt(of_x + norm_squared(low_)), rows_, x.size() + rank_);
    round.all(y);
    return y;
  }

  Vector backward(const Vector& x, const Vector& gradient, bool /*wanted*/) override {
    Vector further(x.size(), 0.0);
    for_elements([&](std::size_t at, std::size_t i, std::size_t j) {
      gradients[at] += gradient[i] * (j < x.size() ? x[j] : 1.0);
      if (j < x.size()) further[j] += weights[at] * gradient[i];
    });
    Vector low(rank_, 0.0);
    for (std::size_t i = 0; i < gradient.size(); ++i)
      for (std::size_t q = 0; q < rank_; ++q) {
        gradients[u_ + i * rank_ + q] += gradient[i] * low_[q];
        low[q] += weights[u_ + i * rank_ + q] * gradient[i];
      }
    const double of_gradient = norm_squared(gradient);
    perturb(low, std::sqrt(of_gradient), u_columns_, gradient.size());
    round.all(low);
    for (std::size_t j = 0; j < x.size(); ++j)
      for (std::size_t q = 0; q < rank_; ++q) {
        gradients[v_ + j * rank_ + q] += x[j] * low[q];
        further[j] += weights[v_ + j * rank_ + q] * low[q];
      }
    perturb(further, std::sqrt(of_gradient + norm_squared(low)), columns_, gradient.size() + rank_);
    round.all(further);
    of_x_.add(x);
    of_x_.add(x.size(), 1);
    of_low_.add(low_);
    of_gradients_.add(gradient);
    of_low_gradients_.add(low);
    return further;
  }

 private:
  void finish_sums(double root) {
    const Vector x = of_x_.taken();
    const Vector low = of_low_.taken();
    const Vector g = of_gradients_.taken();
    const Vector low_g = of_low_gradients_.taken();
    const auto one = [&](std::size_t at, double norms) {
      gradients[at] = round.sum(gradients[at], norms, root);
    };
    for_elements([&](std::size_t at, std::size_t i, std::size_t j) { one(at, g[i] * x[j]); });
    for (std::size_t n = 0; n < v_ - u_; ++n) one(u_ + n, g[n / rank_] * low[n % rank_]);
    for (std::size_t n = 0; n < linear_.inputs * rank_; ++n)
      one(v_ + n, x[n / rank_] * low_g[n % rank_]);
  }
  /// Norms of rows of [S | U], of columns of [S ; V^T] without b, and of columns of U and V.
  void find_norms() {
    if (!round.perturbs()) return;
    Squares rows(linear_.outputs), columns(linear_.inputs + 1), u(rank_), v(rank_);
    for_elements([&](std::size_t at, std::size_t i, std::size_t j) {
      rows.add(i, weights[at]);
      columns.add(j, weights[at]);
    });
    for (std::size_t n = 0; n < v_ - u_; ++n) {
      rows.add(n / rank_, weights[u_ + n]);
      u.add(n % rank_, weights[u_ + n]);
    }
    for (std::size_t n = 0; n < linear_.inputs * rank_; ++n) {
      columns.add(n / rank_, weights[v_ + n]);
      v.add(n % rank_, weights[v_ + n]);
    }
    rows_ = rows.taken();
    columns_ = columns.taken();
    u_columns_ = u.taken();
    v_columns_ = v.taken();
  }

  /// Parameters that gamma is a factor of: where they are, their factor, its slope.
  template <class Take>
  void for_scaled(const Take& take) const {
    const double gamma = linear_.layer.learn_gamma
                             ? parameters.back()
                             : static_cast<double>(static_cast<float>(*linear_.layer.gamma));
    for_elements([&](std::size_t at, std::size_t, std::size_t j) {
      if (j < linear_.inputs) take(at, gamma, 1.0);
    });
    for (std::size_t at = u_; at < v_; ++at) take(at, round.single(1 - gamma), -1.0);
  }
  /// Elements of S that are no padding: row, column; the column behind all inputs is b.
  template <class Take>
  void for_elements(const Take& take) const {
    const std::size_t b = mask_.block;
    for (std::size_t row = 0; row < mask_.block_rows(); ++row) {
      const std::size_t first = row * b;
      const std::size_t end = std::min<std::size_t>(first + b, linear_.outputs);
      for (std::uint64_t e = mask_.row_begin[row]; e < mask_.row_begin[row + 1]; ++e) {
        const std::size_t column = mask_.column[e] * b;
        const bool bias = column == linear_.padded_inputs();
        const std::size_t left = bias ? linear_.inputs : column;
        const std::size_t right =
            bias ? left + 1 : std::min<std::size_t>(column + b, linear_.inputs);
        for (std::size_t i = first; i < end; ++i)
          for (std::size_t j = left; j < right; ++j) take((e * b + i - first) * b + j - left, i, j);
      }
    }
  }

  const Linear& linear_;
  sparse::BlockMatrix mask_;
  std::size_t rank_;
  std::size_t u_ = 0, v_ = 0;
  Vector low_;  ///< V^T x of the sample
  Vector rows_, columns_, u_columns_, v_columns_;
  Squares of_x_, of_low_, of_gradients_, of_low_gradients_;  ///< of the samples
};

}  // namespace

std::unique_ptr<PlainMap> plain_pixelfly(const Linear& linear, Vector initial,
                                         const Arithmetic& arithmetic) {
  return std::make_unique<PlainPixelfly>(linear, std::move(initial), arithmetic);
}

}  // namespace tessera::mlp
