#pragma once

#include <cstdint>

#include "sim/machine/machine_config.h"
#include "sim/program/image.h"
#include "sim/program/tile_work.h"

/// The supervisor's program: real code that enters barriers, starts exchanges, runs vertices and
/// counts loops. s0 is the base of vertices' arguments; s1 holds -1 (all workers); s2 and up count
/// loops; supervisor codelets preserve these, as the ABI requires.
namespace tessera::program {

/// The code of every tile with one control signature, and where its data begins.
struct ControlCode {
  CodeImage image;  ///< the codelets that the tiles use, then the control program
  std::uint32_t codelet_bytes = 0;
  std::uint32_t control_bytes = 0;
  std::uint32_t stack_bytes = 0;  ///< stacks of all contexts, after the code
  std::uint32_t data_begin = 0;   ///< after the stacks
};

/// Emits the control code for tiles of `zone`.
ControlCode emit_control(const Program& program, const Flow& flow, std::uint32_t zone,
                         const TileWork& work, const ControlData& data, const TileConfig& tile);

}  // namespace tessera::program
