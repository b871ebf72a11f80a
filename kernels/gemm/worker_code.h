#pragma once

#include <cstdint>

#include "kernels/gemm/shape.h"

/// The length of this folder's tile code, counted in codelets.S, as a function of the work: slots
/// of workers and instructions of the supervisor. Left for kernels that do not ask
/// the machine yet. What a slot,
/// a launch, a branch or a weight load costs is the machine's.
namespace tessera::gemm {

/// A worker's run past one weight block.
inline std::uint64_t position_slots(const BlockShape& block, bool accumulates,
                                    std::uint64_t positions) {
  const std::uint64_t moving = std::uint64_t{block.y_bytes()} / 8 * block.phase_slots;
  const std::uint64_t fill = accumulates ? moving : 0;
  if (positions == 0) return 7;
  return positions * block.position_slots() + moving + 8 + fill + (positions < 3 ? 3 : 0);
}

/// What the first run of a column block takes more if it adds to results in memory.
constexpr std::uint64_t kNextColumnSlots = 2;

/// The run that gives each worker its part, once a superstep.
constexpr std::uint64_t kSetUpSlots = 10;

/// A worker that turns `pairs` times 16 bytes of f32 into f16.
constexpr std::uint64_t packing_slots(std::uint64_t pairs) {
  if (pairs == 0) return 11;
  return pairs == 1 ? 16 : 2 * pairs + 16;
}

}  // namespace tessera::gemm
