#pragma once

#include "kernels/sparse/code/statement.h"
#include "kernels/sparse/tensors.h"
#include "kernels/spmm_static/partition.h"
#include "kernels/spmm_static/product.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/search.h"

namespace tessera::spmm_static {

using sparse::Statement;

/// A dense matrix stored evenly on all tiles.
struct DenseEnd {
  Shape shape;
  EvenStorage storage;
  std::uint32_t columns;     ///< with padding
  const char* name;          ///< a literal
  std::uint64_t column = 0;  ///< column of the operand where the matrix begins
};

/// The array that holds `operand` in order of blocks; states the steps that regroup rows if it is
/// given by rows. The operand outlives the program; without one the description is for estimates
/// only.
BufferId given(const Statement& statement, const DenseEnd& end, const data::DenseOperand* operand);

/// The array of results that the host reads.
inline BufferId wanted(const Statement& statement, const DenseEnd& end) {
  return statement.stored(end.storage, end.name, {}, true);
}
/// Declares them as `matrix`, or as its columns from `end.column` on.
void add_tensor(const Statement& statement, program::Tensor matrix, const DenseEnd& end,
                BufferId wanted);
/// The array that a product writes: `wanted`, or if rows are wanted an array of blocks that
/// add_rows_out() regroups.
inline BufferId made(const Statement& statement, const DenseEnd& end, BufferId wanted) {
  return end.shape.relayouts() ? statement.stored(end.storage, "results in blocks") : wanted;
}
void add_rows_out(const Statement& statement, const DenseEnd& end, BufferId made, BufferId wanted);

using plan::Described;

/// Describes input of X, the product and output of Y. Without `x` it is for estimates only. All
/// arguments outlive it.
Described describe_program(const Partition& partition, const sparse::BlockMatrix& w,
                           const data::DenseOperand* x, const sparse::TileCode& code,
                           std::uint32_t contexts, Region region = Region::all);
/// As describe_program(), with X, the values of W and Y in external memory. For each part of the
/// rows of W, which has its own partition, values are loaded once, and X and Y are loaded and
/// stored in rounds of columns. `whole` is all of W.
Described describe_rounds(std::span<const Partition> partitions,
                          std::span<const sparse::BlockMatrix> parts,
                          const sparse::BlockMatrix& whole, const data::DenseOperand* x,
                          const sparse::TileCode& code, std::uint32_t contexts);

}  // namespace tessera::spmm_static
