#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/check/check.h"
#include "kernels/check/rounding.h"
#include "sim/data/dense_operand.h"

/// The check of a product Y[rows, n] = W[rows, depth] X[depth, n]: row by row in double, with
/// random signs, and to the bit.
namespace tessera::kernels {

/// An element of a row of W.
struct Term {
  std::uint32_t column;
  float weight;
};

/// Sets `y` to what the machine has to make of elements of a row, every rounding in the order of
/// its plan.
using ExactRow = std::function<void(std::uint64_t row, Interval columns, std::span<float> y)>;

/// The factors and the result that was found; X and Y row after row. All that it names outlives it.
struct Product {
  std::uint64_t rows, depth, n;
  std::span<const float> x, y;
  Rounding rounding;
  /// Sets `terms` to the elements of a row of W that are not left out.
  std::function<void(std::uint64_t row, std::vector<Term>& terms)> row;
  ExactRow exact;
  std::span<const float> dense = {};  ///< all of W row after row, if it is a dense matrix
};

/// A check whose lines are the rows, with one side of signs for segments of `longest` columns. The
/// product outlives it.
struct SignStream {
  std::uint64_t seed;
  std::uint64_t stream;   ///< for the rows' signs; the next is the columns'
  std::uint64_t longest;  ///< columns of a segment, at most
};
Checked row_check(const Product& product, Comparison::Result result, const SignStream& signs);

/// An element of A B^T, from a row of each.
ProductSum dot(std::span<const float> left, const float* right);

/// The elements of an operand, or of its transpose, row after row.
std::vector<float> rows_of(const data::DenseOperand& operand, HostThreads& threads,
                           bool across = false);

/// The longest segment at which an element that is off by half of the results' root mean square
/// still stands out of what roundings add up to: from 256 (shorter ones cost half a product and
/// more) to 1024 (longer ones save nothing).
std::uint64_t segment_length(const Rounding& rounding, std::uint64_t depth);

}  // namespace tessera::kernels
