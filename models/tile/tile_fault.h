#pragma once

#include <string>

#include "models/tile/tile_program.h"
#include "sim/base/errors.h"

namespace tessera {

/// Name of the executing context, for messages: "supervisor" or "worker 3".
std::string context_name(engine::Role role, std::uint32_t worker);

/// The error for `exit` (a fault): names tile, context, pc, instruction, address and codelet.
UserError tile_fault(const TileProgram& program, TileId tile, const std::string& context,
                     const engine::Exit& exit);

/// Returns the error for a fault that the machine finds, such as a worker that does not exist.
UserError tile_fault(const TileProgram& program, TileId tile, const std::string& context,
                     std::uint32_t pc, const std::string& problem);

}  // namespace tessera
