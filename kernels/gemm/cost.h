#pragma once

#include "kernels/gemm/geometry.h"
#include "sim/program/image.h"

namespace tessera::gemm {

/// What a plan costs on the fullest tile: supersteps of sync, exchange and compute one after the
/// other, nothing overlapped. Every rate and latency comes from the machine, the length of the tile
/// code from worker_code.h.
Prediction predict(const Geometry& geometry, const MachineConfig& machine);

/// SRAM that the fullest tile, number 0, needs at least: tensors live together, argument blocks,
/// descriptor lists (sized as the scheduled fabric's) and code.
program::CategoryBytes tile_memory(const Geometry& geometry, const MachineConfig& machine);

}  // namespace tessera::gemm
