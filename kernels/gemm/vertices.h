#pragma once

#include <string>

#include "kernels/codelet.h"
#include "kernels/gemm/shape.h"
#include "sim/plan/pricing.h"

namespace tessera::gemm {

constexpr std::uint64_t kPair = 16;  ///< bytes that adding and packing take at once

/// Calls of this folder's tile code as functions of a description. `code` outlives it.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, std::uint32_t contexts)
      : code_(code), description_(description), contexts_(contexts) {}

  /// A product of one superstep, which may add to what Y holds. Sizes: rows, column blocks, depth
  /// blocks. Operands: w, x, y.
  const plan::Function& product(const BlockShape& block, bool adds);
  [[nodiscard]] kernels::Codelet product_code(const BlockShape& block) const {
    return codelet("gemm_" + block.name());
  }
  /// sum = first + further arrays, one behind the other. Sizes: pairs of words (kPair), further
  /// arrays. Operands: first, further, sum.
  const plan::Function& adding(Type type);
  /// f32 partials to f16. Sizes: pairs of words of f32. Operands: partials, result.
  const plan::Function& packing();
  /// A matrix of rows x chunks to chunks x rows, or back. Sizes: rows, chunks. Operands: source,
  /// destination.
  const plan::Function& regrouping(std::uint32_t chunk_bytes, bool to_blocks);

 private:
  [[nodiscard]] kernels::Codelet codelet(const std::string& name) const {
    return kernels::Codelet::of(code_, description_, name, contexts_);
  }

  const elf::KernelCode& code_;
  plan::Description& description_;
  std::uint32_t contexts_;
};

/// A call of Functions::product with depth blocks of X and column blocks of Y so many bytes apart.
struct ProductSteps {
  std::uint64_t x, y;
};
program::Vertex stepped_product(const kernels::Codelet& code, const BlockShape& block, bool adds,
                                const Sizes& sizes, const ProductSteps& steps,
                                std::span<const Place> operands);

/// Cycles that one run more of `rows` positions past a block takes a tile at least; `product` is
/// that function of `description`.
std::uint64_t least_run(plan::Pricing& pricing, const plan::Description& description,
                        const plan::Function& product, std::uint64_t rows);

}  // namespace tessera::gemm
