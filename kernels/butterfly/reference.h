#pragma once

#include <span>
#include <utility>
#include <vector>

#include "kernels/butterfly/twiddles.h"
#include "sim/data/dense_operand.h"

/// The product of explicit factors in double precision, independent of tiles.
namespace tessera::butterfly {

/// Calls take(pair, i, j, row, column) for the elements of factor `stage`, in order of pairs:
/// element (i, j) of a twiddle connects the features `row` and `column`.
template <class Take>
void for_elements(const Problem& problem, std::uint32_t stage, const Take& take) {
  const std::uint32_t b = problem.block;
  const std::uint32_t stride =
      problem.order == Order::increasing ? 1U << stage : problem.blocks() >> (stage + 1);
  for (std::uint32_t pair = 0; pair < problem.pairs(); ++pair) {
    const std::uint32_t first = (pair / stride * 2 * stride + pair % stride) * b;
    const auto feature = [&](std::uint32_t at) { return first + at / b * stride * b + at % b; };
    for (std::uint32_t i = 0; i < 2 * b; ++i)
      for (std::uint32_t j = 0; j < 2 * b; ++j) take(pair, i, j, feature(i), feature(j));
  }
}

/// A factor as a sparse matrix of real numbers with `width` entries per row; a complex feature has
/// a row for its real and one for its imaginary part.
struct Factor {
  std::uint32_t width;  ///< entries of a row
  std::vector<std::uint32_t> column;
  std::vector<double> value;
  double roundings;  ///< roundings of a product and of its sums

  [[nodiscard]] std::size_t rows() const { return column.size() / width; }
};
/// Factor `stage`; `adjoint`: its conjugate transpose.
Factor factor(const Problem& problem, const Twiddles& twiddles, std::uint32_t stage, bool adjoint);
/// All factors of F (or F^H), in order of application.
std::vector<Factor> factors(const Problem& problem, const Twiddles& twiddles);

/// How rounding errors add up: all in one direction or, for seeded data, as independent errors,
/// with 8 standard deviations allowed (Higham and Mary, SIAM J. Sci. Comput. 41, 2019).
enum class Roundings : std::uint8_t { any, independent };

/// Some columns of X or Y, row by row, and the allowed error of the machine's values: each product
/// and sum of a factor is rounded once, with a relative error and one of half the smallest positive
/// number. Few enough columns that a factor's rows stay in the host's cache.
struct Columns {
  static constexpr std::size_t kWidth = 8;
  std::vector<double> value;
  std::vector<double> error;
};
/// Reads columns `columns` of an operand, in complex numbers if it is complex, without error; zeros
/// beyond the last column.
void exact_columns(const Problem& problem, const data::DenseOperand& operand,
                   std::span<const std::uint32_t> columns, Columns& into);
/// y = factor x; reuses y's memory.
void apply(const Factor& factor, const Columns& x, program::Type type, Roundings roundings,
           Columns& y);

/// The machine's result of a product of factors and X: [features][n], complex numbers as pairs.
struct FoundProduct {
  const Problem& problem;
  const std::vector<Factor>& factors;
  const data::DenseOperand& x;
  std::span<const float> found;
  Roundings roundings;  ///< `independent` if the data is seeded

  [[nodiscard]] std::uint32_t parts() const { return problem.is_complex() ? 2 : 1; }
  /// Real numbers in a column.
  [[nodiscard]] std::size_t rows() const { return std::size_t{problem.features} * parts(); }
  [[nodiscard]] std::uint64_t place(std::size_t row, std::uint64_t column) const {
    return (row / parts() * problem.n + column) * parts() + row % parts();
  }
  /// Applies all factors to `columns` in place.
  void apply_all(Columns& columns) const {
    Columns next;
    for (const Factor& each : factors) {
      apply(each, columns, problem.type(), roundings, next);
      std::swap(columns, next);
    }
  }
};

/// The bit-exact reference of at most Columns::kWidth columns of an f16 product, [row][column]:
/// every sum of a factor in the order of its row, rounded wherever the adding instruction rounds.
std::vector<float> exact_product(const FoundProduct& product,
                                 std::span<const std::uint32_t> columns);

}  // namespace tessera::butterfly
