#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/context.h"
#include "sim/machine/machine_config.h"
#include "sim/program/image.h"

namespace tessera {

/// The state of a tile's worker contexts, and its weight store.
struct WorkerContexts {
  /// As a run begins: `seed` is that of rnd.64, of which each worker of each tile has its own.
  WorkerContexts(const TileConfig& config, const program::CodeImage& image, TileId tile,
                 std::uint64_t seed);
  WorkerContexts(const WorkerContexts&) = delete;
  WorkerContexts& operator=(const WorkerContexts&) = delete;

  std::vector<engine::Context> contexts;
  std::vector<std::uint64_t> weights;  ///< words of 64 bits, as many as the matrix unit needs

 private:
  std::vector<float> banks_;                   ///< all contexts' accumulators
  std::vector<packed::IntegerUnit> integers_;  ///< by context, where the machine has any
};

/// The stack pointer that a worker begins with, and that each call leaves.
constexpr std::uint32_t worker_stack(const program::CodeImage& image, const TileConfig& config,
                                     std::uint32_t worker) {
  return image.worker_stacks.count() + (worker + 1) * config.worker_stack_bytes;
}

}  // namespace tessera
