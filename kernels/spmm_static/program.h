#pragma once

#include "kernels/sparse/code/statement.h"
#include "kernels/sparse/tensors.h"
#include "kernels/spmm_static/partition.h"
#include "kernels/spmm_static/product.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/search.h"

namespace tessera::spmm_static {

using sparse::Statement;

/// A dense matrix in equal parts on all tiles.
struct DenseEnd {
  Shape shape;
  EvenStorage storage;
  std::uint32_t columns;     ///< with padding
  const char* name;          ///< a literal
  std::uint64_t column = 0;  ///< column of the operand, the first of the matrix
};

/// The array that holds `operand` in order of blocks, with the steps that make them of rows if it
/// is given by rows. The operand outlives the program; without one the description is good for
/// estimates alone.
BufferId given(const Statement& statement, const DenseEnd& end, const data::DenseOperand* operand);

/// Results that the host reads.
inline BufferId wanted(const Statement& statement, const DenseEnd& end) {
  return statement.stored(end.storage, end.name, {}, true);
}
/// They are `matrix`, or its columns from `end.column` on.
void add_tensor(const Statement& statement, program::Tensor matrix, const DenseEnd& end,
                BufferId wanted);
/// Where a product makes them: there, or if rows are wanted in blocks from which add_rows_out()
/// makes them.
inline BufferId made(const Statement& statement, const DenseEnd& end, BufferId wanted) {
  return end.shape.relayouts() ? statement.stored(end.storage, "results in blocks") : wanted;
}
void add_rows_out(const Statement& statement, const DenseEnd& end, BufferId made, BufferId wanted);

using plan::Described;

/// X in, the product, Y out. Without `x` it is good for estimates alone. All arguments outlive it.
Described describe_program(const Partition& partition, const sparse::BlockMatrix& w,
                           const data::DenseOperand* x, const sparse::TileCode& code,
                           std::uint32_t contexts, Region region = Region::all);
/// As describe_program(), with X, the values of W and Y in memory outside: for each part of the
/// rows of W, which has a partition, the values are brought once, and X and Y come and go in rounds
/// of columns. `whole` is all of W.
Described describe_rounds(std::span<const Partition> partitions,
                          std::span<const sparse::BlockMatrix> parts,
                          const sparse::BlockMatrix& whole, const data::DenseOperand* x,
                          const sparse::TileCode& code, std::uint32_t contexts);

}  // namespace tessera::spmm_static
