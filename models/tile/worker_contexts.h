#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/context.h"
#include "sim/machine/machine_config.h"
#include "sim/program/image.h"

namespace tessera {

/// The state of a tile's worker contexts, and its weight store.
struct WorkerContexts {
  /// Initial state of a run. `seed` seeds rnd.64; each worker of each tile has its own stream.
  WorkerContexts(const TileConfig& config, const program::CodeImage& image, TileId tile,
                 std::uint64_t seed);
  WorkerContexts(const WorkerContexts&) = delete;
  WorkerContexts& operator=(const WorkerContexts&) = delete;

  std::vector<engine::Context> contexts;
  std::vector<std::uint64_t> weights;  ///< 64-bit words, sized for the matrix unit

 private:
  std::vector<float> banks_;                   ///< all contexts' accumulators
  std::vector<packed::IntegerUnit> integers_;  ///< by context; empty without integer units
};

/// A worker's initial stack pointer, which each call restores.
constexpr std::uint32_t worker_stack(const program::CodeImage& image, const TileConfig& config,
                                     std::uint32_t worker) {
  return image.worker_stacks.count() + (worker + 1) * config.worker_stack_bytes;
}

}  // namespace tessera
