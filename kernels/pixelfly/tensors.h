#pragma once

#include <vector>

#include "kernels/pixelfly/operands.h"
#include "kernels/pixelfly/sampled.h"

/// A layer and its gradients as tensors.
namespace tessera::pixelfly {

/// S in blocks, U and V, which the host gives; the layer outlives the program.
void add_layer(program::Program& program, const Layer& layer, program::Type type);

/// Block (row, column) of `matrix`, among its blocks; if it has none, the next one's place.
std::uint64_t block_index(const sparse::BlockMatrix& matrix, std::uint32_t row,
                          std::uint32_t column);

/// What a sampled product makes of [dS | dU], or of dV alone: blocks of S up to block column
/// `dense`, then a dense matrix. All of it outlives the program.
struct GradientBlocks {
  const Sampled& plan;
  const std::vector<program::BufferId>& results;  ///< by tile
  std::uint32_t dense;
};
/// dS.data and its pattern.
void add_sparse_gradient(program::Program& program, const GradientBlocks& blocks,
                         const sparse::BlockMatrix& s);
/// That of U or V.
void add_dense_gradient(program::Program& program, const GradientBlocks& blocks, const char* name,
                        const data::DenseOperand& factor);

}  // namespace tessera::pixelfly
