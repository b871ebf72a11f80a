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

  Arithmetic round;
  Vector weights;  ///< what parameters are in products
};

/// The map of number `product` in its network; dense also of low_rank.
std::unique_ptr<PlainMap> plain_map(const Linear& linear, std::size_t product, Vector initial,
                                    const Arithmetic& arithmetic);
/// Those whose features lie by rows.
std::unique_ptr<PlainMap> plain_factors(const Linear& linear, std::size_t product, Vector initial,
                                        const Arithmetic& arithmetic);

}  // namespace tessera::mlp
