#pragma once

#include "kernels/spmm_static/ends.h"
#include "kernels/spmm_static/product.h"
#include "sim/plan/search.h"

namespace tessera::spmm_static {

using plan::Described;

/// X in, the product, Y out. Without `x` it is good for estimates alone. All arguments outlive it.
Described describe_program(const Partition& partition, const sparse::BlockMatrix& w,
                           const data::DenseOperand* x, const sparse::TileCode& code,
                           std::uint32_t contexts, Region region = Region::all);
/// The same with X, the values of W and Y in memory outside: of each part of the rows of W, which
/// has a partition, the values are brought once, and X and Y come and go in rounds of columns.
/// `whole` is all of W.
Described describe_rounds(std::span<const Partition> partitions,
                          std::span<const sparse::BlockMatrix> parts,
                          const sparse::BlockMatrix& whole, const data::DenseOperand* x,
                          const sparse::TileCode& code, std::uint32_t contexts);

}  // namespace tessera::spmm_static
