#pragma once

#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine::native {

/// Executes the instruction of an Op; false if it faults, which changes nothing.
using Performer = bool (*)(const Op* op, Context* context, std::byte* memory, Frame* frame);

/// For straight-line instructions; else null. `directed`: rounded as the instruction says.
Performer performer(isa::Mnemonic mnemonic, bool directed);

}  // namespace tessera::engine::native
