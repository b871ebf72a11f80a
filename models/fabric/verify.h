#pragma once

#include <cstdint>
#include <span>

#include "sim/program/exchange_compiler.h"

namespace tessera::fabric {

/// Checks lists of the `scheduled` fabric from their bytes alone: no tile sends two streams at a
/// time, no input port takes two, a tile uses its partner's port only for what both take. Throws
/// Defect naming tile, port and cycle. For tests: the fabric itself does not look at ports.
void verify_ports(std::span<const program::DescriptorList> lists, std::uint32_t bytes_per_cycle);

}  // namespace tessera::fabric
