#pragma once

#include <cstdint>

#include "kernels/sparse/code/shape.h"

/// The length of codelets_blocks.S and codelets_reduce.S, counted there, as a function of the work:
/// slots of workers and instructions of the supervisor. Tests measure the same.
namespace tessera::spmm_static {

using sparse::Shape;

/// A worker's run past one block; an instruction of the matrix unit takes `unit_slots`.
inline std::uint64_t block_run_slots(const Shape& shape, std::uint64_t unit_slots, bool accumulates,
                                     std::uint64_t positions) {
  if (positions == 0) return 7;
  const std::uint64_t steps =
      positions * shape.run().phases + shape.run().outputs * (accumulates ? std::uint64_t{2} : 1);
  const bool last_branch = shape.unroll() == 1 && positions == 1;
  const bool few = positions == 2 || last_branch;
  return steps * unit_slots + 8 + (few ? 3 : 0);
}

/// The run that gives each worker its part, once a vertex.
constexpr std::uint64_t kBlockSetUpSlots = 13;

/// Supervisor instructions of a vertex that overlap with no worker.
constexpr std::uint64_t kBlockCallInstructions = 6;

// A worker that adds up segments: entry and end, nothing to do, one segment beside its chunks and
// units.
constexpr std::uint64_t kReduceSlots = 13;
constexpr std::uint64_t kReduceIdleSlots = 7;
constexpr std::uint64_t kSegmentSlots = 13;

/// Four words of so many partials (of both halves), added up and stored.
inline std::uint64_t chunk_slots(const Shape& shape, std::uint64_t partials) {
  const bool halves = shape.halves_outputs();
  if (partials == 0) return halves ? 24 : 13;
  if (partials == 1) return halves ? 22 : 12;
  if (partials == 2) return halves ? 39 : 20;
  return halves ? 25 + 8 * partials : 13 + 4 * partials;
}

/// One word of results.
inline std::uint64_t word_slots(const Shape& shape, std::uint64_t partials) {
  if (partials < 2) return (shape.mixed() ? 8 : 6) + partials;
  return shape.mixed() ? 10 + 4 * partials : 8 + 3 * partials;
}

}  // namespace tessera::spmm_static
