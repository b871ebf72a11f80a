#pragma once

#include <array>
#include <type_traits>

#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine {

/// The handlers of one mode, from which a block builder chooses.
struct HandlerSet {
  std::array<Handler, isa::kMnemonics> plain{};
  /// For rounding modes that the plain handler does not support; null if the instruction does not
  /// round.
  std::array<Handler, isa::kMnemonics> directed{};
  Handler fall_through = nullptr;
  Handler loop_end = nullptr;
  bool host_rounding = true;
};

const HandlerSet& fast_handlers();
const HandlerSet& counting_handlers();
const HandlerSet& timed_handlers();
const HandlerSet& checked_handlers();

/// Handlers of Ops that are not instructions or that leave the engine. Arguments: see Handler.
namespace handler {
using Function = std::remove_pointer_t<Handler>;
Function link;               ///< finds an edge's block
Function fault;              ///< reports the fault that the frame holds
Function known_fault;        ///< faults with imm as the Fault
Function misaligned_target;  ///< a branch was taken to imm
Function stop;               ///< hands a control instruction to run()
Function constant_csr;       ///< reads a word at byte offset imm in Context
Function csr;                ///< hands a CSR instruction to run(), which continues
}  // namespace handler

}  // namespace tessera::engine
