#pragma once

#include <functional>
#include <span>

#include "kernels/check/ordered_sums.h"
#include "kernels/check/product.h"
#include "kernels/sparse/operand/block_matrix.h"

namespace tessera::sparse {

/// Sets `y` to what the machine has to make of a row of W X, every rounding in the order of a
/// plan's sums; of X[k, n] row by row.
using ExactRow =
    std::function<void(std::uint32_t row, std::span<const float> x, std::span<float> y)>;

/// Adds row `row` of a block of W times columns of X[k, n] from `begin` on.
void add_block(const kernels::OrderedSums& ordered, const BlockMatrix& w, std::uint64_t block,
               std::uint32_t row, std::span<const float> x, std::size_t n, std::uint32_t begin,
               std::span<float> sums);

/// Compares Y[m, n] with W X, of X[k, n]; both row by row. Where not all rows are compared one of
/// 64 is, sums with random signs of segments of every row are, and whole rows in which something
/// stands out.
CheckResult check_product(const BlockMatrix& w, std::span<const float> x, std::uint32_t n,
                          std::span<const float> y, const kernels::Rounding& rounding,
                          const CheckRequest& request, const ExactRow& exact);

}  // namespace tessera::sparse
