#pragma once

#include <complex>
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

/// How roundings add up: all in one direction, or, of seeded data, as independent ones do, of which
/// 8 standard deviations and more are allowed (Higham and Mary, SIAM J. Sci. Comput. 41, 2019).
enum class Roundings : std::uint8_t { any, independent };

/// Numbers and how far the machine's may be off: every product and every sum of a factor rounds
/// once, relative to what is rounded, and once by half the smallest number above zero.
struct Bounded {
  std::vector<Complex> value;
  std::vector<double> error;
};
Bounded apply(const Factor& factor, const Bounded& x, program::Type type,
              Roundings roundings = Roundings::any);

/// A column of an operand, which has no error yet.
Bounded exact_column(const Problem& problem, const data::DenseOperand& operand,
                     std::uint64_t column);

/// The conjugate transpose.
Factor adjoint(Factor factor);

}  // namespace tessera::butterfly
