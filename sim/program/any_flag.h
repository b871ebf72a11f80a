#pragma once

#include <span>
#include <string>

#include "sim/program/program.h"

/// A loop on flags of tiles: they are combined, and every tile branches on its copy of the result.
namespace tessera::program {

/// Runs `body` as long as one of `flags` (aligned 32-bit words, any number a tile, at least one in
/// all) is not zero before it. Adds the buffers and the codelet that the test needs to `program`.
/// Many flags are combined in groups of about their number's root: a superstep gathers each group
/// on the tile of its first flag, the next one sends the groups' words to all tiles. What writes
/// the flags must have done so before the loop.
While while_any(Program& program, const std::string& name, std::span<const Place> flags,
                Sequence body);

}  // namespace tessera::program
