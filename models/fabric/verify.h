#pragma once

#include <cstdint>
#include <span>

#include "models/fabric/node_ports.h"
#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::fabric {

/// Checks lists of the `scheduled` fabric from their bytes alone: no tile sends more streams at a
/// time than it has lanes, no input port takes more, a tile uses its partner's port only for what
/// both take. Throws Defect naming tile, port and cycle. For tests: the fabric itself does not look
/// at ports.
void verify_ports(std::span<const program::DescriptorList> lists, const FabricConfig& config,
                  const NodePorts& nodes = {});

}  // namespace tessera::fabric
