#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/check/check.h"
#include "kernels/check/rounding.h"
#include "sim/data/dense_operand.h"

/// The check of a product Y[rows, n] = W[rows, depth] X[depth, n]: rows in double, signed sums, and
/// bit-exact rows.
namespace tessera::kernels {

/// An element of a row of W.
struct Term {
  std::uint32_t column;
  float weight;
};

/// Sets `y` to the bit-exact elements of a row in `columns`, rounded in the order of the plan.
using ExactRow = std::function<void(std::uint64_t row, Interval columns, std::span<float> y)>;

/// The factors and the computed result; X and Y are row-major. What it refers to must outlive it.
struct Product {
  std::uint64_t rows, depth, n;
  std::span<const float> x, y;
  Rounding rounding;
  /// Sets `terms` to the stored elements of a row of W.
  std::function<void(std::uint64_t row, std::vector<Term>& terms)> row;
  ExactRow exact;
  std::span<const float> dense = {};  ///< W row-major, if it is a dense matrix
};

/// Random signs of the check.
struct SignStream {
  std::uint64_t seed;
  std::uint64_t stream;   ///< for signs along rows; stream + 1 along columns
  std::uint64_t longest;  ///< maximum length of a segment
};
/// A check by rows; adds signs along columns if W is dense. The product must outlive it.
Checked row_check(const Product& product, Comparison::Result result, const SignStream& signs);

/// An element of A B^T, from a row of each.
ProductSum dot(std::span<const float> left, const float* right);

/// The elements of an operand, or of its transpose (`across`), row-major.
std::vector<float> rows_of(const data::DenseOperand& operand, HostThreads& threads,
                           bool across = false);

/// The longest segment in which an element error of half the results' root mean square still
/// stands out from roundings, within 256 (shorter segments cost half a product and more) to 1024
/// (longer ones save nothing).
std::uint64_t segment_length(const Rounding& rounding, std::uint64_t depth);

}  // namespace tessera::kernels
