#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/check/comparison.h"

/// How far rounded sums of products may be off. A sum of L products p in any order may be off by
///   min((S + 1) u sum |p|, 8 u sqrt(S + 1) (|sum p| + 3 sqrt(sum p^2)))
///   + the same for L sums of roundoff v + r |sum p| + (S + 2) smallest sum + smallest result
/// where the partial sum is rounded S = ceil(L / depth) + parts times with roundoff u, inside a
/// block with v, and the result with r: the certain bound (Higham, Accuracy and Stability, 3.1), or
/// eight standard deviations of independent roundings of partial sums that walk from 0 to their
/// end (Higham and Mary, SIAM J. Sci. Comput. 41, 2019), whichever is less.
namespace tessera::kernels {

/// Half the smallest number above zero: what a rounding to a subnormal number may add.
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
  std::uint32_t depth = 1;  ///< products that are added up before the sum is stored
  std::uint32_t parts = 1;  ///< partial sums that are added up at the end
};

/// Roundings of results of type `result` from sums kept in `partials`, of which `depth` products at
/// a time are added (in f32) before the sum is stored, in up to `parts` parts.
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

/// Sums of products side by side: of a row with some columns.
class ProductSums {
 public:
  explicit ProductSums(std::size_t count) : value_(count), magnitude_(count), square_(count) {}
  /// Adds `weight` times each of so many numbers.
  template <class Number>
  void add(double weight, const Number* numbers) {
    add_all<1, Number>({weight}, {numbers});
  }
  /// Adds several weights, one after the other, each times numbers of its own.
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

/// How far a rounded sum may be off.
double allowed_error(const Rounding& rounding, const ProductSum& sum);

/// The standard deviation that independent roundings give to a sum with random signs of `length`
/// such elements, of which value and squares are means.
double deviation(const Rounding& rounding, const ProductSum& sum, double length);

}  // namespace tessera::kernels
