#pragma once

#include <cstdint>

#include "kernels/spmm_static/partition.h"
#include "kernels/spmm_static/reduction.h"
#include "sim/machine/machine_config.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"

/// Cycles and bytes of a product on a machine: the machine's constants times the length of the tile
/// code.
namespace tessera::spmm_static {

/// Of the supervisor and workers of one tile, from call to return: `blocks` blocks in `rows` block
/// rows times `width` columns. Blocks > 1.
std::uint64_t block_cycles(const Shape& shape, const TileConfig& tile, std::uint64_t rows,
                           std::uint64_t blocks, std::uint32_t width);

/// The same element by element.
std::uint64_t element_cycles(const Shape& shape, const TileConfig& tile, const Share& share,
                             std::uint32_t width);

/// What the program of this partition takes.
Prediction predict(const Partition& partition, const MachineConfig& machine);

/// What the fullest tile needs, about: tensors that live together, lists, code.
program::CategoryBytes tile_memory(const Partition& partition);

}  // namespace tessera::spmm_static
