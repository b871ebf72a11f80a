#pragma once

#include "kernels/codelet.h"
#include "kernels/gemm/core_product.h"

/// Calls of the code for products in a core as functions of a description, on samples of tiles. A
/// B of kept blocks has as many of them in all patches. Operands: tiles of A, B and C, sums, zeros.
namespace tessera::gemm {

/// What a call multiplies, and what its sums begin with and leave.
struct CallKind {
  const VectorType* type;
  bool kept;  ///< B is kept blocks
  Begins begins;
  Ends ends;
};

/// A core's product. Sizes: parts, patches, pairs of steps beyond the fewest that a call has, pairs
/// of each patch's kept blocks.
plan::Function product_of(const kernels::Codelet& code, const CallKind& kind);

/// The product of a tile's workers, each with sums of its own. Sizes: parts, patches and pairs of
/// steps beyond the fewest (kept blocks: pairs of all patches beyond one each) of the worker that
/// has most.
plan::Function products_of(const kernels::Codelet& code, const CallKind& kind);

/// The workers' addition of sums of parts of the depth. Sizes: accumulators, and parts less one.
/// Operands: the parts, one behind the other, and C.
plan::Function sum_of(const kernels::Codelet& code, const VectorType& type, std::uint32_t shift);

}  // namespace tessera::gemm
