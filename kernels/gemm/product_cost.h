#pragma once

#include <cstdint>

#include "kernels/gemm/shape.h"
#include "kernels/gemm/worker_code.h"
#include "sim/machine/code_cost.h"

namespace tessera::gemm {

/// Cycles of this folder's tile code on one machine.
class ProductCost : public CodeCost {
 public:
  explicit ProductCost(const TileConfig& tile) : CodeCost(tile), tile_(tile) {}

  /// The vertex of one superstep: `block_product` in codelets.S.
  [[nodiscard]] std::uint64_t product(const BlockShape& block, std::uint64_t rows,
                                      std::uint64_t columns, std::uint64_t depth,
                                      bool accumulates) const {
    const EvenSplit positions{rows, tile_.contexts};
    auto past_block = [&](bool adds, std::uint64_t more) {
      return load_weights(block.w_bytes()) + run([&](std::uint32_t w) {
               return more + position_slots(block, adds, positions.part(w).size());
             });
    };
    const std::uint64_t first = past_block(accumulates, accumulates ? kNextColumnSlots : 0);
    std::uint64_t column = first + (depth == 1 ? branch() : plain(2));
    if (depth > 1) column += (depth - 1) * past_block(true, 0) + (depth - 2) * branch();
    const std::uint64_t call = plain(6) + 2 * branch();
    return call + run_even(kSetUpSlots) + columns * column + (columns - 1) * branch() + plain(1);
  }

 private:
  const TileConfig& tile_;
};

}  // namespace tessera::gemm
