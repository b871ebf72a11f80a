#pragma once

#include <vector>

#include "kernels/pixelfly/operands.h"
#include "kernels/pixelfly/sampled.h"

/// A layer and its gradients as tensors.
namespace tessera::pixelfly {

/// S in blocks, U and V, which the host gives; the layer outlives the description.
void add_layer(plan::Description& description, const Layer& layer, program::Type type);

/// Block (row, column) of `matrix`, among its blocks; if it has none, the next one's place.
std::uint64_t block_index(const sparse::BlockMatrix& matrix, std::uint32_t row,
                          std::uint32_t column);

/// What a sampled product makes of [dS | dU], or of dV alone, in an array: blocks of S up to block
/// column `dense`, then a dense matrix. The plan outlives the description.
struct GradientBlocks {
  const Sampled& plan;
  BufferId results;
  std::uint32_t dense;
};
/// dS.data and its pattern.
void add_sparse_gradient(plan::Description& description, const GradientBlocks& blocks,
                         const sparse::BlockMatrix& s);
/// That of U or V.
void add_dense_gradient(plan::Description& description, const GradientBlocks& blocks,
                        const char* name, const data::DenseOperand& factor);

}  // namespace tessera::pixelfly
