#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/check/comparison.h"

/// Error bounds for rounded sums of products. A sum of L products p in any order may be off by
///   min((S + 1) u sum |p|, 8 u sqrt(S + 1) (|sum p| + 3 sqrt(sum p^2)))
///   + the same for L sums of roundoff v + r |sum p| + (S + 2) smallest sum + smallest result
/// where the partial sum is rounded S = ceil(L / depth) + parts times with roundoff u, inside a
/// block with v, and the result with r: the certain bound (Higham, Accuracy and Stability, 3.1), or
/// eight standard deviations of independent roundings of partial sums that walk from 0 to their
/// end (Higham and Mary, SIAM J. Sci. Comput. 41, 2019), whichever is less.
namespace tessera::kernels {

/// Half the smallest positive number: the largest error of rounding to a subnormal number.
constexpr double half_smallest(program::Type type) {
  return type == program::Type::f16 ? 0x1p-25 : 0x1p-150;
}

/// Roundings that a result goes through.
struct Rounding {
  double sum;               ///< u: of storing a partial sum
  double inside = 0;        ///< v: of adding two products before the sum is stored
  double result;            ///< r: of rounding a result; 0 if it is the sum itself
  program::Type type;       ///< the result's
  program::Type partials;   ///< stored sums'
  std::uint32_t depth = 1;  ///< products added before the sum is stored
  std::uint32_t parts = 1;  ///< partial sums added at the end
};

/// Roundings of results of type `result` from sums of type `partials`: `depth` products at a time
/// are added in f32 before the sum is stored, and up to `parts` partial sums at the end.
Rounding rounding_of(program::Type result, program::Type partials, std::uint32_t depth = 1,
                     std::uint32_t parts = 1);

struct ProductSum {
  double value = 0;
  double magnitudes = 0;
  double squares = 0;
  std::uint64_t products = 0;

  void add(double product) {
    value += product;
    magnitudes += std::abs(product);
    squares += product * product;
    ++products;
  }
  [[nodiscard]] Compared compared(std::uint64_t row, std::uint64_t column, double found,
                                  const Rounding& rounding) const;
};

/// Several ProductSums side by side: one row times several columns.
class ProductSums {
 public:
  explicit ProductSums(std::size_t count) : value_(count), magnitude_(count), square_(count) {}
  /// Adds `weight` times numbers[j] to each sum j.
  template <class Number>
  void add(double weight, const Number* numbers) {
    add_all<1, Number>({weight}, {numbers});
  }
  /// Adds kTerms weights in order, each times its own numbers.
  template <std::size_t kTerms, class Number>
  void add_all(const std::array<double, kTerms>& weights,
               const std::array<const Number*, kTerms>& numbers) {
    for (std::size_t j = 0; j < value_.size(); ++j) {
      double value = value_[j], magnitude = magnitude_[j], square = square_[j];
      for (std::size_t i = 0; i < kTerms; ++i) {
        const double product = weights[i] * static_cast<double>(numbers[i][j]);
        value += product;
        magnitude += std::abs(product);
        square += product * product;
      }
      value_[j] = value;
      magnitude_[j] = magnitude;
      square_[j] = square;
    }
    products_ += kTerms;
  }
  [[nodiscard]] ProductSum operator[](std::size_t j) const {
    return {value_[j], magnitude_[j], square_[j], products_};
  }

 private:
  std::vector<double> value_, magnitude_, square_;
  std::uint64_t products_ = 0;
};

/// Allowed absolute error of a rounded sum.
double allowed_error(const Rounding& rounding, const ProductSum& sum);

/// Standard deviation, due to independent roundings, of a signed sum of `length` elements whose
/// mean value and mean squares `sum` holds.
double deviation(const Rounding& rounding, const ProductSum& sum, double length);

}  // namespace tessera::kernels
