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
};

/// The matrices whose product is F (or F^H), the one applied first in front.
std::vector<Factor> factors(const Problem& problem, const Twiddles& twiddles);

/// All of them multiplied: [row][column], for few features.
std::vector<std::vector<Complex>> dense_product(const std::vector<Factor>& factors);

/// Numbers and how far the machine's may be off: every product and every sum of a factor rounds
/// once, relative to what is rounded, and once by half the smallest number above zero.
struct Bounded {
  std::vector<Complex> value;
  std::vector<double> error;
};
Bounded apply(const Factor& factor, const Bounded& x, program::Type type);

/// A column of an operand, which has no error yet.
Bounded exact_column(const Problem& problem, const data::DenseOperand& operand,
                     std::uint64_t column);

/// The conjugate transpose.
Factor adjoint(Factor factor);

}  // namespace tessera::butterfly
