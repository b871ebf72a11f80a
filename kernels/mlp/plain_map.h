#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "kernels/check/ordered_sums.h"
#include "kernels/mlp/network.h"
#include "sim/base/splitmix.h"
#include "sim/data/element.h"

/// Linear maps one sample at a time, independent of the machine's code. Operands, results and sums
/// are rounded by Arithmetic.
namespace tessera::mlp {

/// The arithmetic of a plain training.
struct Numbers {
  bool of_machine = false;  ///< f32 where the machine has f32; else double
  /// With `of_machine`: seed of perturbations of sums; 0: none.
  std::uint64_t seed = 0;
};

/// Roundings of a plain training. It rounds to f16 or f32 where tile code stores a number. Where
/// the order of an f32 sum is the plan's, it computes the sum in double and, with a seed, perturbs
/// it at random before it is rounded (stochastic arithmetic: Vignes, Math. Comput. Simul. 35, 1993;
/// Parker, UCLA CSD-970002, 1997). Model: every addition of a sum y of n products rounds its
/// partial sum S_j by a random relative error of standard deviation u / sqrt(3) at most. Products
/// of random sign have E S_j^2 = j/n sum p^2, and n sum p^2 is about |x|^2 |w|^2: together
/// u |x| |w| / sqrt(6). Products of one sign have S_j = y j/n: together u |y| sqrt(n) / 3. The
/// perturbation's deviation is kExcess times the sum of both, so that it exceeds what any order of
/// the sum does.
class Arithmetic {
 public:
  Arithmetic(program::Type type, Numbers numbers, std::uint64_t stream)
      : halves_(type == program::Type::f16),
        machine_(numbers.of_machine),
        perturbs_(numbers.of_machine && numbers.seed != 0),
        seed_(splitmix64(numbers.seed, stream)) {}

  /// Rounds a number to the type of matrices.
  double operator()(double value) const {
    return halves_ ? kernels::to_half(single(value)) : single(value);
  }
  /// Rounds a sum or multiply-add of such numbers once, as tile code does: not to f32 before f16.
  [[nodiscard]] double once(double value) const {
    return halves_ ? kernels::to_half(value) : single(value);
  }
  void all(std::vector<double>& values) const {
    if (halves_ || machine_)
      for (double& each : values) each = (*this)(each);
  }
  /// Rounds a number to f32.
  [[nodiscard]] double single(double value) const {
    return machine_ ? static_cast<double>(static_cast<float>(value)) : value;
  }
  /// Rounds, and perturbs, a sum of `count` products of vectors; `norms` is the product of their
  /// norms. Exact zeros stay, as all their products are zero.
  double sum(double value, double norms, double root_of_count) {
    constexpr double kRandomSigns = 1 / 2.449489742783178;  // 1 / sqrt(6)
    if (!perturbs_ || value == 0 || root_of_count <= 1) return value;
    return perturbed(value, kRandomSigns * norms + root_of_count / 3 * std::abs(value));
  }
  /// Perturbs the result of a few f32 operations, whose error is about u `size`.
  double near(double value, double size) { return perturbs_ ? perturbed(value, size) : value; }
  [[nodiscard]] bool perturbs() const { return perturbs_; }

 private:
  static constexpr double kExcess = 4;

  /// Adds a uniform error of standard deviation kExcess u `size`.
  double perturbed(double value, double size) {
    constexpr double kUnit = kExcess * std::numbers::sqrt3 * 0x1p-24 * 0x1p-63;
    const auto random = static_cast<std::int64_t>(splitmix64(seed_, count_++));
    return value + kUnit * size * static_cast<double>(random);
  }

  bool halves_, machine_, perturbs_;
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

using Vector = std::vector<double>;

/// Sums of squares over samples: their roots are the norms of gradients' operands.
class Squares {
 public:
  explicit Squares(std::size_t count = 0) : sums_(count, 0.0) {}
  void add(std::size_t at, double value) { sums_[at] += value * value; }
  void add(const Vector& values) {
    for (std::size_t i = 0; i < values.size(); ++i) add(i, values[i]);
  }
  [[nodiscard]] double operator[](std::size_t at) const { return sums_[at]; }
  /// Returns the norms and resets the sums.
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
  /// Adds to `gradients` and, if `wanted`, returns the gradient of x. Call forward() with x first.
  virtual Vector backward(const Vector& x, const Vector& gradient, bool wanted) = 0;
  /// Call after a change of `parameters`.
  virtual void refresh() {
    weights = parameters;
    round.all(weights);
  }
  /// Rounds the complete gradients of a copy's `samples` samples and makes them the parameters'.
  virtual void finish_gradients(std::uint32_t samples) = 0;
  /// Rounds gradients to the machine's type of gradients.
  virtual void round_gradients() { round.all(gradients); }

  Vector parameters, gradients;

 protected:
  PlainMap(Vector initial, const Arithmetic& arithmetic)
      : parameters(std::move(initial)), gradients(parameters.size()), round(arithmetic) {}

  Arithmetic round;
  Vector weights;  ///< parameters as rounded for products
};

/// The map with number `product` in its network; low_rank maps are dense.
std::unique_ptr<PlainMap> plain_map(const Linear& linear, std::size_t product, Vector initial,
                                    const Arithmetic& arithmetic);
/// As plain_map(), for maps by_rows().
std::unique_ptr<PlainMap> plain_factors(const Linear& linear, std::size_t product, Vector initial,
                                        const Arithmetic& arithmetic);

}  // namespace tessera::mlp
