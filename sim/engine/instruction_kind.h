#pragma once

#include <cstdint>

#include "sim/engine/engine.h"
#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

/// Properties of one instruction that building a block depends on.
namespace tessera::engine {

/// Numbers of xctl.
namespace xctl {
constexpr std::int32_t kJoin = 1;
constexpr std::int32_t kClearBanks = 8;
constexpr std::int32_t kFirstZone = 16;
}  // namespace xctl

bool is_csr(isa::Mnemonic mnemonic);
bool is_conditional(isa::Mnemonic mnemonic);
/// Straight-line instructions always continue with the next.
bool is_straight(const isa::Instruction& instruction);
/// RV32I, M and Zba arithmetic: changes only one register.
bool is_integer_arithmetic(isa::Mnemonic mnemonic);
bool has_rounding(isa::Mnemonic mnemonic);
/// True if host arithmetic rounds as the instruction requires while frm is nearest even.
bool rounds_as_host(const isa::Instruction& instruction);
/// True if it uses the accumulators of the matrix unit, which supervisors do not have.
bool uses_banks(const isa::Instruction& instruction);
/// The action that a control instruction requests from run()'s caller.
Stop stop_of(const isa::Instruction& instruction);
/// Sets registers and immediate of an Op as its handler expects them.
void set_operands(Op& op, const isa::Instruction& instruction, std::uint32_t pc);

}  // namespace tessera::engine
