#pragma once

#include <functional>

#include "kernels/spmm_dynamic/cells.h"

/// What spilled into other partitions' pools: the pools travel over the tiles until nothing is
/// left.
namespace tessera::spmm_dynamic {

struct Propagation {
  program::Program& program;
  const Cells& cells;
  std::uint32_t pool_bytes;
  /// Every tile computes what is for it in the pool that it holds in that buffer.
  std::function<program::ComputeSet(int side)> compute;
};

/// Appends the loops that visit partitions along y, and along x, as long as tiles' flags say so.
/// Pools travel in pairs of steps, so that they end in buffer 0.
void add_propagation(const Propagation& propagation, program::Sequence& steps);

/// Appends the loops that bring every pool home again, the way it came. `codelet`: dynamic_away.
void add_way_home(const Propagation& propagation, std::uint32_t codelet, program::Sequence& steps);

}  // namespace tessera::spmm_dynamic
