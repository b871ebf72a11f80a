#pragma once

#include <cstdint>
#include <span>

#include "models/fabric/node_ports.h"
#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::fabric {

/// Checks lists of the `scheduled` fabric from their bytes alone: no sender or input port has more
/// concurrent streams than lanes, and a tile uses its partner's port only for streams that both
/// receive. Throws Defect naming tile, port and cycle. For tests: the fabric itself does not check
/// ports.
void verify_ports(std::span<const program::DescriptorList> lists, const FabricConfig& config,
                  const NodePorts& nodes = {});

}  // namespace tessera::fabric
