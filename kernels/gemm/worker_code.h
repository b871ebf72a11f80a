#pragma once

#include <cstdint>

#include "kernels/gemm/shape.h"

/// The length of this folder's tile code, counted in codelets.S, as a function of the work: slots
/// of workers and instructions of the supervisor. run_test.cpp measures the same. What a slot,
/// a launch, a branch or a weight load costs is the machine's.
namespace tessera::gemm {

/// A worker's run past one weight block; an instruction of the matrix unit takes `unit_slots`.
constexpr std::uint64_t position_slots(const BlockShape& block, std::uint64_t unit_slots,
                                       bool accumulates, std::uint64_t positions) {
  const std::uint64_t phases = block.phases * unit_slots;
  const std::uint64_t fill = accumulates ? phases : 0;
  if (positions == 0) return 7;
  return positions * phases + phases + 8 + fill + (positions < 3 ? 3 : 0);
}

/// What the first run of a column block takes more if it adds to results in memory.
constexpr std::uint64_t kNextColumnSlots = 2;

/// The run that gives each worker its part, once a superstep.
constexpr std::uint64_t kSetUpSlots = 10;

/// A worker that adds `arrays` arrays of `pairs` times 16 bytes to a first one.
constexpr std::uint64_t adding_slots(std::uint64_t pairs, std::uint64_t arrays) {
  if (pairs == 0) return 14;
  return 15 + arrays * (pairs == 1 ? 10 : 2 * pairs + 9);
}

/// A worker that turns `pairs` times 16 bytes of f32 into f16.
constexpr std::uint64_t packing_slots(std::uint64_t pairs) {
  if (pairs == 0) return 11;
  return pairs == 1 ? 16 : 2 * pairs + 16;
}

/// A worker that moves `rows` times `chunks` chunks of `words` times 8 bytes.
constexpr std::uint64_t regrouping_slots(std::uint64_t rows, std::uint64_t chunks,
                                         std::uint64_t words) {
  if (rows == 0) return 16;
  const std::uint64_t loop = rows == 1 ? 0 : 1 + (rows - 1) * (words + 1);
  return 16 + chunks * (7 + words + loop);
}

}  // namespace tessera::gemm
