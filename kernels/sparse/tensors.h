#pragma once

#include <string>
#include <vector>

#include "kernels/sparse/code/relayout.h"
#include "kernels/sparse/operand/block_matrix.h"

/// Matrices of sparse products as tensors: which element lies where.
namespace tessera::sparse {

/// A dense matrix of which each part lies in chunks of rows.
struct ChunkedMatrix {
  std::string name;
  program::Role role;
  Type type;
  std::uint64_t rows, columns;
};
/// The runs of a part; what lies behind the matrix's rows and columns is padding.
void add_chunks(const Chunked& part, const ChunkedMatrix& matrix, program::Runs& runs);
/// `chunks` says what a part has.
program::Tensor tensor_of(const ChunkedMatrix& matrix, std::vector<program::TensorPart> parts,
                          std::function<Chunked(std::size_t part)> chunks);

/// Blocks of a sparse matrix whose values lie somewhere.
struct BlockTensors {
  std::string name;
  program::Role role;
  Type type;
  std::uint32_t run = 0;
};
/// Declares NAME.indices, the block column of each block, and NAME.indptr, where each block row's
/// begin: with NAME.data [blocks, side, side] what scipy.sparse.bsr_matrix takes. `matrix` outlives
/// the description.
void add_pattern(plan::Description& description, const BlockTensors& tensors,
                 const BlockMatrix& matrix);
/// Declares the same with the values of `matrix`, as the host gives them.
void add_given(plan::Description& description, const BlockTensors& tensors,
               const BlockMatrix& matrix);

}  // namespace tessera::sparse
