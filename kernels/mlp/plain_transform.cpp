#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "kernels/fft/reference.h"
#include "kernels/mlp/plain_map.h"

namespace tessera::mlp {

namespace {

using fft::Complex;
using Spectrum = std::vector<Complex>;

double norm(const Vector& values) {
  double squares = 0;
  for (const double each : values) squares += each * each;
  return std::sqrt(squares);
}

/// Row i of W has the first column's number i - j mod N in column j.
class PlainCirculant : public PlainMap {
 public:
  PlainCirculant(const Linear& linear, Vector initial, const Arithmetic& arithmetic)
      : PlainMap(std::move(initial), arithmetic),
        linear_(linear),
        features_(linear.factors(1).features),
        roots_(fft::roots(features_, -1)),
        spread_(4 * std::sqrt(std::log2(features_) / static_cast<double>(features_))),
        columns_(linear.stacks()),
        of_bias_(linear.outputs) {
    PlainCirculant::refresh();
  }

  void refresh() override {
    PlainMap::refresh();
    for (std::size_t s = 0; s < columns_.size(); ++s) {
      const Vector column = padded(parameters, s);
      columns_[s].norm = norm(column);
      columns_[s].spectrum = spectrum(column);
      columns_[s].products.resize(features_);
    }
  }

  Vector forward(const Vector& x) override {
    in_ = spectrum(padded(x, 0));
    const double its = norm(x);
    Vector y(linear_.outputs);
    for (std::size_t s = 0; s < columns_.size(); ++s) {
      const Vector product = folded(columns_[s].spectrum, in_);
      for (std::size_t i = s * features_; i < std::min(y.size(), (s + 1) * features_); ++i) {
        const double value = round.near(product[i % features_], spread_ * columns_[s].norm * its);
        y[i] = round.once(round(value) + weights[bias() + i]);
      }
    }
    return y;
  }

  Vector backward(const Vector& x, const Vector& gradient, bool wanted) override {
    Vector further(x.size());
    double norms = 0;
    for (std::size_t s = 0; s < columns_.size(); ++s) {
      Column& column = columns_[s];
      const Vector part = padded(gradient, s);
      const Spectrum back = spectrum(part);
      for (std::size_t f = 0; f < features_; ++f) column.products[f] += back[f] * std::conj(in_[f]);
      const double its = norm(part);
      column.squares_in += std::pow(norm(x), 2);
      column.squares_back += its * its;
      norms += column.norm * its;
      if (!wanted) continue;
      Spectrum turned = column.spectrum;
      for (Complex& each : turned) each = std::conj(each);
      const Vector product = folded(std::move(turned), back);
      for (std::size_t i = 0; i < further.size(); ++i) further[i] += product[i];
    }
    for (double& each : further) each = round(round.near(each, spread_ * norms));
    for (std::size_t i = 0; i < gradient.size(); ++i) gradients[bias() + i] += gradient[i];
    of_bias_.add(gradient);
    return further;
  }

  void finish_gradients(std::uint32_t samples) override {
    const double root = std::sqrt(samples);
    for (std::size_t s = 0; s < columns_.size(); ++s) {
      Column& column = columns_[s];
      const Vector found = folded(std::move(column.products), Spectrum(features_, 1.0));
      const double norms = std::sqrt(column.squares_in * column.squares_back);
      for (std::size_t i = 0; i < features_; ++i)
        gradients[s * features_ + i] +=
            round.near(found[i], spread_ * norms + root / 3 * std::abs(found[i]));
      column.products.assign(features_, 0.0);
      column.squares_in = column.squares_back = 0;
    }
    const Vector norms = of_bias_.taken();
    for (std::size_t i = 0; i < norms.size(); ++i) {
      double& each = gradients[bias() + i];
      each = round.sum(each, norms[i] * root, root);
    }
    round_gradients();
  }

  void round_gradients() override {
    for (double& each : gradients) each = round.single(each);
  }

 private:
  /// The first column of a stack's W.
  struct Column {
    Spectrum spectrum;
    double norm;
    Spectrum products;  ///< of gradients and conjugate inputs, over samples
    double squares_in = 0, squares_back = 0;
  };

  [[nodiscard]] std::size_t bias() const { return parameters.size() - linear_.outputs; }
  /// The N numbers of a stack, zeros behind the last.
  [[nodiscard]] Vector padded(const Vector& values, std::size_t stack) const {
    Vector all(features_);
    for (std::size_t i = 0; i < features_ && stack * features_ + i < values.size(); ++i)
      all[i] = values[stack * features_ + i];
    return all;
  }
  [[nodiscard]] Spectrum spectrum(const Vector& values) const {
    Spectrum all(values.begin(), values.end());
    fft::transform(all.data(), features_, 1, roots_);
    return all;
  }
  /// The real numbers whose spectrum is the product of two: its conjugate is turned forward.
  [[nodiscard]] Vector folded(Spectrum a, const Spectrum& b) const {
    for (std::size_t f = 0; f < features_; ++f)
      a[f] = std::conj(a[f] * b[f]) / static_cast<double>(features_);
    fft::transform(a.data(), features_, 1, roots_);
    Vector all(features_);
    for (std::size_t i = 0; i < features_; ++i) all[i] = a[i].real();
    return all;
  }

  const Linear& linear_;
  std::size_t features_;
  std::vector<Complex> roots_;
  /// What f32 transforms leave in each number, also where it should be none, in u times the norms
  /// of what is folded: three transforms of log2 N stages round each number about five times a
  /// stage (its twiddle, products, sums), at random, and a number's share is the root of N.
  double spread_;
  std::vector<Column> columns_;  ///< by stack
  Spectrum in_;                  ///< of the sample
  Squares of_bias_;
};

/// y = S H G Pi H B x + b by the definition of H, a factor at a time.
class PlainFastfood : public PlainMap {
 public:
  PlainFastfood(const Linear& linear, std::size_t product, Vector initial,
                const Arithmetic& arithmetic)
      : PlainMap(std::move(initial), arithmetic),
        linear_(linear),
        features_(linear.factors(1).features),
        stacks_(linear.stacks()) {
    for (std::size_t s = 0; s < stacks_.size(); ++s)
      stacks_[s].places = permutation_of(linear, product, static_cast<std::uint32_t>(s));
    of_inputs_ = of_gradients_ = Squares(parameters.size());
    PlainFastfood::refresh();
  }

  Vector forward(const Vector& x) override {
    Vector y(linear_.outputs);
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      Stack& stack = stacks_[s];
      stack.inputs[0] = x;
      stack.inputs[0].resize(features_);
      Vector values = scaled(stack.inputs[0], 3 * s);
      hadamard(values, false);
      stack.inputs[1].clear();
      for (const std::uint32_t place : stack.places) stack.inputs[1].push_back(values[place]);
      values = scaled(stack.inputs[1], 3 * s + 1);
      hadamard(values, true);
      stack.inputs[2] = values;
      values = scaled(values, 3 * s + 2);
      for (std::size_t i = s * features_; i < std::min(y.size(), (s + 1) * features_); ++i)
        y[i] = round.once(values[i % features_] + weights[bias() + i]);
    }
    return y;
  }

  Vector backward(const Vector& x, const Vector& gradient, bool /*wanted*/) override {
    Vector further(x.size());
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      const Stack& stack = stacks_[s];
      Vector back(features_);
      for (std::size_t i = s * features_; i < std::min(gradient.size(), (s + 1) * features_); ++i)
        back[i % features_] = gradient[i];
      back = further_scaled(back, stack.inputs[2], 3 * s + 2);
      hadamard(back, false);
      back = further_scaled(back, stack.inputs[1], 3 * s + 1);
      Vector placed(features_);
      for (std::size_t i = 0; i < features_; ++i) placed[stack.places[i]] = back[i];
      hadamard(placed, true);
      placed = further_scaled(placed, stack.inputs[0], 3 * s);
      for (std::size_t i = 0; i < x.size(); ++i) further[i] = round.once(further[i] + placed[i]);
    }
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradients[bias() + i] += gradient[i];
      of_inputs_.add(bias() + i, 1);
      of_gradients_.add(bias() + i, gradient[i]);
    }
    return further;
  }

  void finish_gradients(std::uint32_t samples) override {
    const Vector inputs = of_inputs_.taken();
    const Vector back = of_gradients_.taken();
    for (std::size_t i = 0; i < gradients.size(); ++i)
      gradients[i] = round.sum(gradients[i], inputs[i] * back[i], std::sqrt(samples));
    round_gradients();
  }

  void round_gradients() override {
    for (double& each : gradients) each = round.single(each);
  }

 private:
  struct Stack {
    std::vector<std::uint32_t> places;
    Vector inputs[3];  ///< of B, G and S
  };

  [[nodiscard]] std::size_t bias() const { return parameters.size() - linear_.outputs; }

  /// Times diagonal `number`.
  Vector scaled(const Vector& values, std::size_t number) const {
    Vector all;
    for (std::size_t i = 0; i < features_; ++i)
      all.push_back(round.once(values[i] * weights[number * features_ + i]));
    return all;
  }
  /// The same of what comes back to a diagonal, whose gradients are added up.
  Vector further_scaled(const Vector& back, const Vector& input, std::size_t number) {
    for (std::size_t i = 0; i < features_; ++i) {
      const std::size_t at = number * features_ + i;
      gradients[at] += back[i] * input[i];
      of_inputs_.add(at, input[i]);
      of_gradients_.add(at, back[i]);
    }
    return scaled(back, number);
  }
  /// Features 1, 2, 4, ... apart, or the other way: that is the order of roundings.
  void hadamard(Vector& values, bool back) const {
    const double w = round(std::numbers::sqrt2 / 2);
    for (std::size_t i = 1; i < features_; i *= 2) {
      const std::size_t stride = back ? features_ / 2 / i : i;
      for (std::size_t f = 0; f < features_; ++f) {
        if ((f & stride) != 0) continue;
        const double a = round(w * values[f]);
        const double b = w * values[f + stride];
        values[f] = round.once(a + b);
        values[f + stride] = round.once(a - b);
      }
    }
  }

  const Linear& linear_;
  std::size_t features_;
  std::vector<Stack> stacks_;
  Squares of_inputs_, of_gradients_;  ///< by parameter
};

}  // namespace

std::unique_ptr<PlainMap> plain_transform(const Linear& linear, std::size_t product, Vector initial,
                                          const Arithmetic& arithmetic) {
  if (linear.circulant())
    return std::make_unique<PlainCirculant>(linear, std::move(initial), arithmetic);
  return std::make_unique<PlainFastfood>(linear, product, std::move(initial), arithmetic);
}

}  // namespace tessera::mlp
