#pragma once

#include <array>
#include <type_traits>

#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine {

/// The handlers of one mode: what a block builder chooses from.
struct HandlerSet {
  std::array<Handler, isa::kMnemonics> plain{};
  /// For rounding modes that the plain handler does not do; null where there is only one.
  std::array<Handler, isa::kMnemonics> directed{};
  Handler fall_through = nullptr;
  Handler loop_end = nullptr;
  bool host_rounding = true;
};

const HandlerSet& fast_handlers();
const HandlerSet& counting_handlers();
const HandlerSet& timed_handlers();
const HandlerSet& checked_handlers();

/// Handlers of Ops that are no instruction, or leave the engine. Arguments: see Handler.
namespace handler {
using Signature = std::remove_pointer_t<Handler>;
Signature link;               ///< finds an edge's block
Signature fault;              ///< reports the fault that the frame holds
Signature known_fault;        ///< faults with imm as the Fault
Signature misaligned_target;  ///< a branch was taken to imm
Signature stop;               ///< hands a control instruction to run()
Signature constant_csr;       ///< reads what stands imm bytes behind the context's beginning
Signature csr;                ///< hands a CSR instruction to run(), which goes on
}  // namespace handler

}  // namespace tessera::engine
