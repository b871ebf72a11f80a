#pragma once

#include <string>
#include <vector>

#include "kernels/sparse/code/relayout.h"
#include "kernels/sparse/operand/block_matrix.h"

/// Matrices of sparse products as tensors: which element lies where.
namespace tessera::sparse {

/// Tensor::runs of a matrix of so many rows and columns, of which each part lies in chunks of rows:
/// `chunks` says what it has. What lies behind the matrix is padding.
std::function<void(std::size_t part, program::Runs& runs)> runs_of(
    std::uint64_t rows, std::uint64_t columns, std::function<Chunked(std::size_t part)> chunks);

/// Declares NAME.indices, the block column of each block, and NAME.indptr, where each block row's
/// begin: with NAME.data [blocks, side, side] what scipy.sparse.bsr_matrix takes. `like` has the
/// name and all but their shapes; `matrix` outlives the description.
void add_pattern(plan::Description& description, const program::Tensor& like,
                 const BlockMatrix& matrix);
/// Declares the same with the values of `matrix`, as the host gives them.
void add_given(plan::Description& description, const program::Tensor& like,
               const BlockMatrix& matrix);

}  // namespace tessera::sparse
