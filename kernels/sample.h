#pragma once

#include "sim/program/image.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// What a program costs that is planned by a sample: all steps of its fullest tile, as a program of
/// that tile alone, which sends to itself what it sends to others.
namespace tessera::kernels {

/// Its code is run on the machine's tile; every exchange takes what the fabric says of the bytes
/// that the tile sends and receives among `tiles`. Leaves out waiting for others.
Prediction predict_sample(const program::Program& sample, std::uint32_t tiles, MachineCosts& costs);

/// Bytes of the tile: buffers side by side, code, lists of whole copies. The program that is
/// compiled needs no more, but for lists of copies that a schedule cuts.
program::CategoryBytes sample_memory(const program::Program& sample, const TileConfig& tile);

}  // namespace tessera::kernels
