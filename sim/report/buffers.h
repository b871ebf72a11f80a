#pragma once

#include <string>

#include "sim/machine/machine_config.h"
#include "sim/program/image.h"

namespace tessera::report {

/// Layout of the fullest tile's memory, a row a range of addresses: tile, name, category, buffers
/// (of that name side by side), address, bytes, and the first and last step of the program during
/// which it holds something (-1: before the first).
std::string buffers_csv(const MachineConfig& machine, const program::Program& program,
                        const program::Images& images);

}  // namespace tessera::report
