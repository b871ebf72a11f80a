#pragma once

#include <string>

#include "kernels/codelet.h"
#include "kernels/gemm/shape.h"
#include "sim/plan/pricing.h"

namespace tessera::gemm {

constexpr std::uint64_t kPair = 16;  ///< bytes that adding and packing process at once

/// Tile code of this folder as functions of a description. `code` must outlive it.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, std::uint32_t contexts)
      : code_(code), description_(description), contexts_(contexts) {}

  /// A product of one superstep, which may add to Y. Sizes: rows, column blocks, depth blocks.
  /// Operands: w, x, y.
  const plan::Function& product(const BlockShape& block, bool adds);
  [[nodiscard]] kernels::Codelet product_code(const BlockShape& block) const {
    return codelet("gemm_" + block.name());
  }
  /// sum = first + further contiguous arrays. Sizes: pairs of words (kPair), further arrays.
  /// Operands: first, further, sum.
  const plan::Function& adding(Type type);
  /// Converts f32 partials to f16. Sizes: pairs of f32 words. Operands: partials, result.
  const plan::Function& packing();
  /// Converts a matrix of rows x chunks to chunks x rows, or back. Sizes: rows, chunks. Operands:
  /// source, destination.
  const plan::Function& regrouping(std::uint32_t chunk_bytes, bool to_blocks);

 private:
  [[nodiscard]] kernels::Codelet codelet(const std::string& name) const {
    return kernels::Codelet::of(code_, description_, name, contexts_);
  }

  const elf::KernelCode& code_;
  plan::Description& description_;
  std::uint32_t contexts_;
};

/// A call of Functions::product; x and y are the byte pitches of X's depth blocks and Y's column
/// blocks.
struct ProductSteps {
  std::uint64_t x, y;
};
program::Vertex stepped_product(const kernels::Codelet& code, const BlockShape& block, bool adds,
                                const Sizes& sizes, const ProductSteps& steps,
                                std::span<const Place> operands);

/// Lower bound on the cycles of one more run of `rows` rows of x through a block; `product` is that
/// function of `description`.
std::uint64_t least_run(plan::Pricing& pricing, const plan::Description& description,
                        const plan::Function& product, std::uint64_t rows);

}  // namespace tessera::gemm
