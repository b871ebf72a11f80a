#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "kernels/mlp/arithmetic.h"
#include "kernels/mlp/network.h"

/// Linear maps a sample at a time, written without regard to the machine's; what products take and
/// give, and every sum, is rounded as Arithmetic says.
namespace tessera::mlp {

using Vector = std::vector<double>;

/// Sums of the squares of what samples gave, and their roots: the norms of gradients' operands.
class Squares {
 public:
  explicit Squares(std::size_t count = 0) : sums_(count, 0.0) {}
  void add(std::size_t at, double value) { sums_[at] += value * value; }
  void add(const Vector& values) {
    for (std::size_t i = 0; i < values.size(); ++i) add(i, values[i]);
  }
  [[nodiscard]] double operator[](std::size_t at) const { return sums_[at]; }
  /// The norms; begins again from nothing.
  Vector taken();

 private:
  Vector sums_;
};

inline double norm_squared(std::span<const double> values) {
  double sum = 0;
  for (const double each : values) sum += each * each;
  return sum;
}

/// y = x W + b with its parameters in the order of initial_parameters().
class PlainMap {
 public:
  PlainMap(const PlainMap&) = delete;
  PlainMap& operator=(const PlainMap&) = delete;
  virtual ~PlainMap() = default;
  [[nodiscard]] virtual Vector forward(const Vector& x) = 0;
  /// Adds to `gradients`; the gradient of x, if `wanted`. After forward() of the same x.
  virtual Vector backward(const Vector& x, const Vector& gradient, bool wanted) = 0;
  /// After a change of `parameters`.
  virtual void refresh() {
    weights = parameters;
    round.all(weights);
  }
  /// Gradients of a copy's `samples` samples are complete: rounded, and become those of parameters.
  virtual void finish_gradients(std::uint32_t samples) = 0;
  /// Rounds gradients to the type that the machine keeps them in.
  virtual void round_gradients() { round.all(gradients); }

  Vector parameters, gradients;

 protected:
  PlainMap(Vector initial, const Arithmetic& arithmetic)
      : parameters(std::move(initial)), gradients(parameters.size()), round(arithmetic) {}
  /// Rounds sums of `count` products each, of a vector of norm `norm` and ones of `norms`.
  void perturb(std::span<double> sums, double norm, const Vector& norms, std::size_t count) {
    const double root = std::sqrt(static_cast<double>(count));
    for (std::size_t i = 0; i < sums.size() && round.perturbs(); ++i)
      sums[i] = round.sum(sums[i], norm * norms[i], root);
  }

  Arithmetic round;
  Vector weights;  ///< what parameters are in products
};

/// y = x W + b where W is a stack of square maps of `features_` numbers, the first of which are the
/// inputs, and whose results, one stack behind the other, are the outputs. b comes behind the
/// stacks' parameters; gradients are f32.
class PlainStacks : public PlainMap {
 public:
  Vector forward(const Vector& x) final;
  Vector backward(const Vector& x, const Vector& gradient, bool wanted) final;
  void finish_gradients(std::uint32_t samples) final;
  void round_gradients() final;

 protected:
  PlainStacks(const Linear& linear, Vector initial, const Arithmetic& arithmetic);

  /// The first `count` outputs of a stack, of inputs with zeros behind them; stacks come in order.
  virtual Vector forward_stack(std::size_t stack, const Vector& x, std::size_t count) = 0;
  /// Adds to `gradients` of a stack's parameters, given those of its outputs, and to `further` what
  /// comes back to the inputs, if it is wanted; stacks come in order.
  virtual void backward_stack(std::size_t stack, Vector back, bool wanted, Vector& further) = 0;
  /// As finish_gradients(), of the stacks alone.
  virtual void finish_stacks(double root_of_samples) = 0;

  /// The numbers of a stack, zeros behind the last.
  [[nodiscard]] Vector padded(const Vector& values, std::size_t stack) const;

  std::size_t outputs_, features_, stacks_;

 private:
  Squares of_bias_;
};

/// The map of number `product` in its network; dense also of low_rank.
std::unique_ptr<PlainMap> plain_map(const Linear& linear, std::size_t product, Vector initial,
                                    const Arithmetic& arithmetic);

/// By kind: butterfly, circulant and fastfood, pixelfly.
std::unique_ptr<PlainMap> plain_butterfly(const Linear& linear, Vector initial,
                                          const Arithmetic& arithmetic);
std::unique_ptr<PlainMap> plain_transform(const Linear& linear, std::size_t product, Vector initial,
                                          const Arithmetic& arithmetic);
std::unique_ptr<PlainMap> plain_pixelfly(const Linear& linear, Vector initial,
                                         const Arithmetic& arithmetic);

}  // namespace tessera::mlp
