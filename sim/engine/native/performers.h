#pragma once

#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine::native {

/// Executes the instruction of an Op; false if it faults, which leaves everything as it was.
using Performer = bool (*)(const Op* op, Context* context, std::byte* memory, Frame* frame);

/// For straight-line instructions. `directed`: rounded as the instruction says.
Performer performer(isa::Mnemonic mnemonic, bool directed);

}  // namespace tessera::engine::native
