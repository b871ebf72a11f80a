#pragma once

#include "kernels/sparse/tensors.h"
#include "kernels/spmm_static/steps.h"
#include "sim/data/dense_operand.h"

/// Both ends of a program of products: dense matrices as they are given and wanted, and the steps
/// between rows and blocks in layout natural.
namespace tessera::spmm_static {

/// A dense matrix in equal parts on all tiles.
struct DenseEnd {
  sparse::Shape shape;
  EvenStorage storage;
  std::uint32_t columns;     ///< with padding
  const char* name;          ///< a literal
  bool measured = true;      ///< its steps
  std::uint64_t column = 0;  ///< of the operand, the first of the matrix
};

/// Buffers that hold `operand`, which outlives the program, in order of blocks, by tile; with the
/// steps that make them of rows if they are given as rows.
std::vector<BufferId> given(Assembly& assembly, const DenseEnd& end,
                            const data::DenseOperand& operand);

/// Results that the host reads, by tile.
std::vector<BufferId> wanted(Assembly& assembly, const DenseEnd& end);
/// The same as a tensor, of which each entry of `buffers` has further columns, as `end` has them.
program::Tensor tensor_of(const sparse::ChunkedMatrix& matrix, const DenseEnd& end,
                          const BuffersOfRows& buffers);
/// Where a product makes them: there, or if rows are wanted in blocks from which add_rows_out()
/// makes them.
std::vector<BufferId> made(Assembly& assembly, const DenseEnd& end,
                           const std::vector<BufferId>& wanted);
void add_rows_out(Assembly& assembly, const DenseEnd& end, const std::vector<BufferId>& made,
                  const std::vector<BufferId>& wanted);

}  // namespace tessera::spmm_static
