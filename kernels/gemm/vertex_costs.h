#pragma once

#include "kernels/gemm/vertices.h"
#include "sim/plan/pricing.h"

namespace tessera::gemm {

/// What calls of this folder's tile code cost on one machine, for planners of other folders.
class VertexCosts {
 public:
  explicit VertexCosts(MachineCosts& costs)
      : code_("gemm"),
        description_(1),
        functions_(code_, description_, costs.machine().tile.contexts),
        pricing_(costs) {}

  [[nodiscard]] const MachineConfig& machine() const { return pricing_.machine(); }

  std::uint64_t product(const BlockShape& block, const Vertices::Part& part) {
    return cost(functions_.product(block, part.adds), {part.rows, part.columns, part.depth});
  }
  std::uint64_t adding(Type type, std::uint64_t bytes, std::uint32_t arrays) {
    return cost(functions_.adding(type), {bytes / Vertices::kPair, arrays});
  }
  std::uint64_t packing(std::uint64_t bytes) {
    return cost(functions_.packing(), {bytes / Vertices::kPair});
  }
  std::uint64_t regrouping(const Vertices::Chunks& chunks, bool to_blocks) {
    return cost(functions_.regrouping(chunks.bytes, to_blocks), {chunks.rows, chunks.chunks});
  }

 private:
  std::uint64_t cost(const plan::Function& function, const plan::Sizes& sizes) {
    return pricing_.call(description_, function, sizes);
  }

  elf::KernelCode code_;
  plan::Description description_;  ///< of no steps: it keeps functions and code
  Functions functions_;
  plan::Pricing pricing_;
};

}  // namespace tessera::gemm
