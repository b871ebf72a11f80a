#include "kernels/mlp/plain_map.h"

#include <algorithm>

namespace tessera::mlp {

Vector Squares::taken() {
  Vector norms(sums_.size());
  for (std::size_t i = 0; i < sums_.size(); ++i) norms[i] = std::sqrt(sums_[i]);
  std::ranges::fill(sums_, 0.0);
  return norms;
}

namespace {

/// A part of a matrix among a map's parameters, in contiguous stretches of one input or of one
/// output.
class Terms {
 public:
  void add_element(std::size_t at, std::size_t in, std::size_t out) {
    const bool beside = !stretches_.empty() && stretches_.back().at + stretches_.back().count == at;
    if (beside && stretches_.back().goes_on(in, out)) {
      stretches_.back().of_input = in == stretches_.back().in;
      ++stretches_.back().count;
    } else {
      stretches_.push_back({at, in, out, 1, false});
    }
  }

  /// Calls take(parameter, input, output).
  template <class Take>
  void for_elements(const Take& take) const {
    for (const Stretch& its : stretches_)
      for (std::size_t i = 0; i < its.count; ++i)
        take(its.at + i, its.in + (its.of_input ? 0 : i), its.out + (its.of_input ? i : 0));
  }
  /// y += W x.
  void forward(const Vector& weights, const Vector& x, Vector& y) const {
    for (const Stretch& its : stretches_)
      its.of_input ? its.spread(x[its.in], &weights[its.at], &y[its.out])
                   : its.gather(&weights[its.at], &x[its.in], y[its.out]);
  }
  /// x += W^T y.
  void back(const Vector& weights, const Vector& y, Vector& x) const {
    for (const Stretch& its : stretches_)
      its.of_input ? its.gather(&weights[its.at], &y[its.out], x[its.in])
                   : its.spread(y[its.out], &weights[its.at], &x[its.in]);
  }
  /// Adds the outer products of the samples' y and x to gradients.
  void learn(const std::vector<Vector>& x, const std::vector<Vector>& y, Vector& gradients) const {
    for (const Stretch& its : stretches_)
      for (std::size_t sample = 0; sample < x.size(); ++sample)
        its.of_input ? its.spread(x[sample][its.in], &y[sample][its.out], &gradients[its.at])
                     : its.spread(y[sample][its.out], &x[sample][its.in], &gradients[its.at]);
  }

 private:
  struct Stretch {
    std::size_t at, in, out, count;
    bool of_input;

    [[nodiscard]] bool goes_on(std::size_t i, std::size_t o) const {
      return (i == in && o == out + count && (of_input || count == 1)) ||
             (o == out && i == in + count && !of_input);
    }
    void spread(double factor, const double* from, double* to) const {
      for (std::size_t i = 0; i < count; ++i) to[i] += factor * from[i];
    }
    void gather(const double* a, const double* b, double& to) const {
      double sum = to;
      for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
      to = sum;
    }
  };
  std::vector<Stretch> stretches_;
};

Vector norms_of(const std::vector<Vector>& samples) {
  Squares squares(samples.front().size());
  for (const Vector& each : samples) squares.add(each);
  return squares.taken();
}

/// Pixelfly: y = S [1, x] + U (V^T x), one sum per output, with V^T x rounded before; a dense W has
/// S only. With gamma, `weights` holds S, except b, and U times their factors, and `gradients` are
/// with respect to those until finish_gradients().
class PlainSums : public PlainMap {
 public:
  PlainSums(const Linear& linear, Vector initial, const Arithmetic& arithmetic)
      : PlainMap(std::move(initial), arithmetic),
        linear_(linear),
        rank_(linear.layer.kind == LayerKind::pixelfly ? linear.layer.rank : 0) {
    rank_ > 0 ? add_pixelfly() : add_dense();
    PlainSums::refresh();
  }

  void refresh() override {
    PlainMap::refresh();
    if (linear_.layer.gamma)
      for_scaled([&](std::size_t at, double factor, double) {
        weights[at] = round(factor * weights[at]);
      });
    if (round.perturbs()) find_norms();
  }

  Vector forward(const Vector& x) override {
    const Vector in = with_one(x);
    const double of_x = norm_squared(in);
    low_.assign(rank_, 0.0);
    v_.forward(weights, in, low_);
    finish(low_, of_x, v_norms_, linear_.inputs);
    Vector y(linear_.outputs, 0.0);
    s_.forward(weights, in, y);
    u_.forward(weights, low_, y);
    finish(y, of_x + norm_squared(low_), out_norms_,
           linear_.inputs + (linear_.bias ? 1 : 0) + rank_);
    return y;
  }

  Vector backward(const Vector& x, const Vector& gradient, bool wanted) override {
    Vector low(rank_, 0.0);
    const double of_gradient = norm_squared(gradient);
    u_.back(weights, gradient, low);
    finish(low, of_gradient, u_norms_, gradient.size());
    Vector further;
    if (wanted) {
      further.assign(x.size() + 1, 0.0);
      s_.back(weights, gradient, further);
      v_.back(weights, low, further);
      further.erase(further.begin());
      finish(further, of_gradient + norm_squared(low), in_norms_, gradient.size() + rank_);
    }
    x_.push_back(with_one(x));
    lows_.push_back(low_);
    gradients_of_y_.push_back(gradient);
    low_gradients_.push_back(std::move(low));
    return further;
  }

  void finish_gradients(std::uint32_t samples) override {
    const double root = std::sqrt(samples);
    learn(s_, x_, gradients_of_y_, root);
    learn(u_, lows_, gradients_of_y_, root);
    learn(v_, x_, low_gradients_, root);
    for (std::vector<Vector>* each : {&x_, &lows_, &gradients_of_y_, &low_gradients_})
      each->clear();
    round_gradients();
    if (linear_.layer.gamma) finish_gamma();
  }
  /// The gradient of gamma is f32.
  void round_gradients() override {
    const double of_gamma = round.single(gradients.back());
    PlainMap::round_gradients();
    if (linear_.learns_gamma()) gradients.back() = of_gamma;
  }

 private:
  /// Inputs from index 1 on; index 0 is the one that multiplies b.
  [[nodiscard]] Vector with_one(const Vector& x) const {
    Vector in{linear_.bias ? 1.0 : 0.0};
    in.insert(in.end(), x.begin(), x.begin() + linear_.inputs);
    return in;
  }
  void add_dense() {
    const std::size_t n = linear_.outputs;
    const std::size_t b = linear_.inputs * n;
    for (std::size_t i = 0; i < b; ++i) s_.add_element(i, 1 + i / n, i % n);
    for (std::size_t c = 0; c < n && linear_.bias; ++c) s_.add_element(b + c, 0, c);
  }
  void add_pixelfly() {
    const sparse::BlockMatrix mask = linear_.mask();
    const PixelflyOrder order = pixelfly_order(linear_, mask);
    for_elements(mask, [&](std::size_t at, std::uint32_t row, std::uint32_t column) {
      if (linear_.in_s(row, column))
        s_.add_element(at, column == linear_.padded_inputs() ? 0 : 1 + column, row);
    });
    for (std::size_t i = 0; i < linear_.outputs * rank_; ++i)
      u_.add_element(order.u + i, i % rank_, i / rank_);
    for (std::size_t i = 0; i < linear_.inputs * rank_; ++i)
      v_.add_element(order.v + i, 1 + i / rank_, i % rank_);
  }

  /// Perturbs and rounds sums of `count` products each, of a vector with squared norm `squares` and
  /// vectors with `norms`.
  void finish(Vector& sums, double squares, const Vector& norms, std::size_t count) {
    const double norm = std::sqrt(squares);
    const double root = std::sqrt(static_cast<double>(count));
    for (std::size_t i = 0; i < sums.size() && round.perturbs(); ++i)
      sums[i] = round.sum(sums[i], norm * norms[i], root);
    round.all(sums);
  }
  /// Norms of rows of [S | U], of columns of [S ; V^T] without b, and of columns of U and V.
  void find_norms() {
    Squares in(linear_.inputs + 1), out(linear_.outputs), u(rank_), v(rank_);
    const auto add = [&](const Terms& terms, Squares& of_inputs, Squares& of_outputs) {
      terms.for_elements([&](std::size_t at, std::size_t i, std::size_t o) {
        of_inputs.add(i, weights[at]);
        of_outputs.add(o, weights[at]);
      });
    };
    add(s_, in, out);
    add(u_, u, out);
    add(v_, in, v);
    in_norms_ = in.taken();
    in_norms_.erase(in_norms_.begin());
    out_norms_ = out.taken();
    u_norms_ = u.taken();
    v_norms_ = v.taken();
  }
  void learn(const Terms& terms, const std::vector<Vector>& x, const std::vector<Vector>& y,
             double root) {
    terms.learn(x, y, gradients);
    if (!round.perturbs()) return;
    const Vector of_x = norms_of(x);
    const Vector of_y = norms_of(y);
    terms.for_elements([&](std::size_t at, std::size_t in, std::size_t out) {
      gradients[at] = round.sum(gradients[at], of_x[in] * of_y[out], root);
    });
  }

  void finish_gamma() {
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
  /// Calls take(index, factor, the factor's derivative by gamma) for parameters scaled by gamma.
  template <class Take>
  void for_scaled(const Take& take) const {
    const double gamma = linear_.layer.learn_gamma
                             ? parameters.back()
                             : static_cast<double>(static_cast<float>(*linear_.layer.gamma));
    s_.for_elements([&](std::size_t at, std::size_t in, std::size_t) {
      if (in > 0) take(at, gamma, 1.0);
    });
    u_.for_elements(
        [&](std::size_t at, std::size_t, std::size_t) { take(at, round.single(1 - gamma), -1.0); });
  }

  const Linear& linear_;
  std::size_t rank_;
  Terms s_, u_, v_;
  Vector low_;  ///< V^T x of the sample
  Vector in_norms_, out_norms_, u_norms_, v_norms_;
  std::vector<Vector> x_, lows_, gradients_of_y_, low_gradients_;  ///< by sample of a copy
};

}  // namespace

std::unique_ptr<PlainMap> plain_map(const Linear& linear, std::size_t product, Vector initial,
                                    const Arithmetic& arithmetic) {
  if (linear.by_rows()) return plain_factors(linear, product, std::move(initial), arithmetic);
  return std::make_unique<PlainSums>(linear, std::move(initial), arithmetic);
}

}  // namespace tessera::mlp
