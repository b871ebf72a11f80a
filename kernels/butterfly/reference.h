#pragma once

#include <complex>
#include <span>
#include <vector>

#include "kernels/butterfly/twiddles.h"
#include "sim/data/dense_operand.h"

/// The product of the explicit factors in double, written without regard to tiles.
namespace tessera::butterfly {

using Complex = std::complex<double>;

/// Element [row, column] of a sparse matrix.
struct Element {
  std::uint32_t row;
  std::uint32_t column;
  Complex value;
};

/// A sparse matrix; `elements` in any order.
struct Factor {
  std::uint32_t rows = 0;
  std::vector<Element> elements;
  double roundings = 1;  ///< of a product and of the sums that it becomes part of
};

/// The matrices whose product is F (or F^H), the one applied first in front.
std::vector<Factor> factors(const Problem& problem, const Twiddles& twiddles);

/// All of them multiplied: [row][column], for few features.
std::vector<std::vector<Complex>> dense_product(const std::vector<Factor>& factors);

/// A factor of real numbers, row after row; complex ones have a row for the real part of each
/// feature and one for the imaginary part.
struct RealFactor {
  std::vector<std::uint32_t> begin;  ///< by row; one more
  std::vector<std::uint32_t> column;
  std::vector<double> value;
  double roundings = 1;
};
RealFactor real_factor(const Problem& problem, const Factor& factor);

/// How roundings add up: all in one direction, or, of seeded data, as independent ones do, of which
/// 8 standard deviations and more are allowed (Higham and Mary, SIAM J. Sci. Comput. 41, 2019).
enum class Roundings : std::uint8_t { any, independent };

/// Some columns of X or Y, row after row, and how far the machine's may be off: every product and
/// every sum of a factor rounds once, relative to what is rounded, and once by half the smallest
/// number above zero. So few that a factor's rows stay in a host's cache.
struct Columns {
  static constexpr std::size_t kWidth = 8;
  std::vector<double> value;
  std::vector<double> error;
};
/// Columns `columns` (of complex numbers, in them) of an operand, which have no error yet; zeros
/// behind the last.
void exact_columns(const Problem& problem, const data::DenseOperand& operand,
                   std::span<const std::uint32_t> columns, Columns& into);
/// y = factor x, in the memory that y has.
void apply(const RealFactor& factor, const Columns& x, program::Type type, Roundings roundings,
           Columns& y);

/// The dense product times columns of X, value after value as in Columns.
std::vector<double> multiply(const std::vector<std::vector<Complex>>& dense, const Columns& x,
                             std::uint32_t parts);

/// The conjugate transpose.
Factor adjoint(Factor factor);

/// A product of factors and X as it was found: [features][n], complex numbers as pairs.
struct FoundProduct {
  const Problem& problem;
  const std::vector<RealFactor>& factors;
  const data::DenseOperand& x;
  std::span<const float> found;
  Roundings roundings;  ///< `independent` if the data is seeded

  [[nodiscard]] std::uint32_t parts() const { return problem.is_complex() ? 2 : 1; }
  /// Real numbers of a column.
  [[nodiscard]] std::size_t rows() const { return std::size_t{problem.features} * parts(); }
  [[nodiscard]] std::uint64_t place(std::size_t row, std::uint64_t column) const {
    return (row / parts() * problem.n + column) * parts() + row % parts();
  }
};

/// The bit-exact reference of at most Columns::kWidth columns of an f16 product, [row][column]:
/// every sum of a factor in the order of its row, rounded where the instruction that adds it
/// rounds.
std::vector<float> exact_product(const FoundProduct& product,
                                 std::span<const std::uint32_t> columns);

}  // namespace tessera::butterfly
