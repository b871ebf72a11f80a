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

double norm(const Vector& values) { return std::sqrt(norm_squared(values)); }

/// Row i of W has the first column's number i - j mod N in column j.
class PlainCirculant : public PlainStacks {
 public:
  PlainCirculant(const Linear& linear, Vector initial, const Arithmetic& arithmetic)
      : PlainStacks(linear, std::move(initial), arithmetic),
        roots_(fft::roots(features_, -1)),
        spread_(4 * std::sqrt(std::log2(features_) / static_cast<double>(features_))),
        columns_(stacks_) {
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

 private:
  Vector forward_stack(std::size_t s, const Vector& x, std::size_t count) override {
    if (s == 0) {
      in_ = spectrum(x);
      norm_ = norm(x);
    }
    Vector product = folded(columns_[s].spectrum, in_);
    product.resize(count);
    for (double& each : product) each = round(round.near(each, spread_ * columns_[s].norm * norm_));
    return product;
  }

  void backward_stack(std::size_t s, Vector part, bool wanted, Vector& further) override {
    if (s == 0) back_norms_ = 0;
    Column& column = columns_[s];
    const Spectrum back = spectrum(part);
    for (std::size_t f = 0; f < features_; ++f) column.products[f] += back[f] * std::conj(in_[f]);
    const double its = norm(part);
    column.squares_in += std::pow(norm_, 2);
    column.squares_back += its * its;
    back_norms_ += column.norm * its;
    if (wanted) {
      Spectrum turned = column.spectrum;
      for (Complex& each : turned) each = std::conj(each);
      const Vector product = folded(std::move(turned), back);
      for (std::size_t i = 0; i < further.size(); ++i) further[i] += product[i];
    }
    if (s + 1 < stacks_) return;
    for (double& each : further) each = round(round.near(each, spread_ * back_norms_));
  }

  void finish_stacks(double root) override {
    for (std::size_t s = 0; s < stacks_; ++s) {
      Column& column = columns_[s];
      const Vector found = folded(std::move(column.products), Spectrum(features_, 1.0));
      const double norms = std::sqrt(column.squares_in * column.squares_back);
      for (std::size_t i = 0; i < features_; ++i)
        gradients[s * features_ + i] +=
            round.near(found[i], spread_ * norms + root / 3 * std::abs(found[i]));
      column.products.assign(features_, 0.0);
      column.squares_in = column.squares_back = 0;
    }
  }

  /// The first column of a stack's W.
  struct Column {
    Spectrum spectrum;
    double norm;
    Spectrum products;  ///< of gradients and conjugate inputs, over samples
    double squares_in = 0, squares_back = 0;
  };

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

  std::vector<Complex> roots_;
  /// What f32 transforms leave in each number, also where it should be none, in u times the norms
  /// of what is folded: three transforms of log2 N stages round each number about five times a
  /// stage (its twiddle, products, sums), at random, and a number's share is the root of N.
  double spread_;
  std::vector<Column> columns_;  ///< by stack
  Spectrum in_;                  ///< of the sample
  double norm_ = 0;              ///< of its inputs
  double back_norms_ = 0;        ///< of columns and their gradients
};

/// y = S H G Pi H B x + b by the definition of H, a factor at a time.
class PlainFastfood : public PlainStacks {
 public:
  PlainFastfood(const Linear& linear, std::size_t product, Vector initial,
                const Arithmetic& arithmetic)
      : PlainStacks(linear, std::move(initial), arithmetic),
        each_(stacks_),
        of_inputs_(parameters.size() - outputs_),
        of_gradients_(parameters.size() - outputs_) {
    for (std::size_t s = 0; s < stacks_; ++s)
      each_[s].places = permutation_of(linear, product, static_cast<std::uint32_t>(s));
    PlainFastfood::refresh();
  }

 private:
  Vector forward_stack(std::size_t s, const Vector& x, std::size_t count) override {
    Stack& stack = each_[s];
    stack.inputs[0] = x;
    Vector values = scaled(x, 3 * s);
    hadamard(values, false);
    stack.inputs[1].clear();
    for (const std::uint32_t place : stack.places) stack.inputs[1].push_back(values[place]);
    values = scaled(stack.inputs[1], 3 * s + 1);
    hadamard(values, true);
    stack.inputs[2] = values;
    values = scaled(values, 3 * s + 2);
    values.resize(count);
    return values;
  }

  void backward_stack(std::size_t s, Vector back, bool /*wanted*/, Vector& further) override {
    const Stack& stack = each_[s];
    back = further_scaled(back, stack.inputs[2], 3 * s + 2);
    hadamard(back, false);
    back = further_scaled(back, stack.inputs[1], 3 * s + 1);
    Vector placed(features_);
    for (std::size_t i = 0; i < features_; ++i) placed[stack.places[i]] = back[i];
    hadamard(placed, true);
    placed = further_scaled(placed, stack.inputs[0], 3 * s);
    for (std::size_t i = 0; i < further.size(); ++i)
      further[i] = round.once(further[i] + placed[i]);
  }

  void finish_stacks(double root) override {
    const Vector inputs = of_inputs_.taken();
    const Vector back = of_gradients_.taken();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      gradients[i] = round.sum(gradients[i], inputs[i] * back[i], root);
  }

  struct Stack {
    std::vector<std::uint32_t> places;
    Vector inputs[3];  ///< of B, G and S
  };

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

  std::vector<Stack> each_;
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
