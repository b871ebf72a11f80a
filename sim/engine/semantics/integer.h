#pragma once

#include <cstdint>

#include "sim/engine/hart.h"

/// RV32I, M and Zba without memory and control, in the order of the RISC-V manual.
namespace tessera::engine::semantics {

using enum isa::Mnemonic;

constexpr std::int32_t as_signed(std::uint32_t value) { return static_cast<std::int32_t>(value); }
constexpr std::uint32_t as_unsigned(std::int64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t shift_amount(std::uint32_t value) { return value & 31U; }
constexpr std::uint32_t shift_right_arithmetic(std::uint32_t value, std::uint32_t amount) {
  return as_unsigned(as_signed(value) >> shift_amount(amount));
}

// clang-format off
template <class H> void execute(Is<lui>, H& h) { h.rd(h.imm()); }
template <class H> void execute(Is<auipc>, H& h) { h.rd(h.imm()); }
template <class H> void execute(Is<addi>, H& h) { h.rd(h.rs1() + h.imm()); }
template <class H> void execute(Is<slti>, H& h) { h.rd(as_signed(h.rs1()) < as_signed(h.imm()) ? 1U : 0U); }
template <class H> void execute(Is<sltiu>, H& h) { h.rd(h.rs1() < h.imm() ? 1U : 0U); }
template <class H> void execute(Is<xori>, H& h) { h.rd(h.rs1() ^ h.imm()); }
template <class H> void execute(Is<ori>, H& h) { h.rd(h.rs1() | h.imm()); }
template <class H> void execute(Is<andi>, H& h) { h.rd(h.rs1() & h.imm()); }
template <class H> void execute(Is<slli>, H& h) { h.rd(h.rs1() << shift_amount(h.imm())); }
template <class H> void execute(Is<srli>, H& h) { h.rd(h.rs1() >> shift_amount(h.imm())); }
template <class H> void execute(Is<srai>, H& h) { h.rd(shift_right_arithmetic(h.rs1(), h.imm())); }
template <class H> void execute(Is<add>, H& h) { h.rd(h.rs1() + h.rs2()); }
template <class H> void execute(Is<sub>, H& h) { h.rd(h.rs1() - h.rs2()); }
template <class H> void execute(Is<sll>, H& h) { h.rd(h.rs1() << shift_amount(h.rs2())); }
template <class H> void execute(Is<slt>, H& h) { h.rd(as_signed(h.rs1()) < as_signed(h.rs2()) ? 1U : 0U); }
template <class H> void execute(Is<sltu>, H& h) { h.rd(h.rs1() < h.rs2() ? 1U : 0U); }
template <class H> void execute(Is<xor_>, H& h) { h.rd(h.rs1() ^ h.rs2()); }
template <class H> void execute(Is<srl>, H& h) { h.rd(h.rs1() >> shift_amount(h.rs2())); }
template <class H> void execute(Is<sra>, H& h) { h.rd(shift_right_arithmetic(h.rs1(), h.rs2())); }
template <class H> void execute(Is<or_>, H& h) { h.rd(h.rs1() | h.rs2()); }
template <class H> void execute(Is<and_>, H& h) { h.rd(h.rs1() & h.rs2()); }
template <class H> void execute(Is<fence>, H&) {}  // one context at a time: nothing to order

template <class H> void execute(Is<mul>, H& h) { h.rd(h.rs1() * h.rs2()); }
template <class H> void execute(Is<mulh>, H& h) {
  h.rd(as_unsigned((std::int64_t{as_signed(h.rs1())} * as_signed(h.rs2())) >> 32));
}
template <class H> void execute(Is<mulhsu>, H& h) {
  h.rd(as_unsigned((std::int64_t{as_signed(h.rs1())} * std::int64_t{h.rs2()}) >> 32));
}
template <class H> void execute(Is<mulhu>, H& h) {
  h.rd(static_cast<std::uint32_t>((std::uint64_t{h.rs1()} * h.rs2()) >> 32));
}
// 64-bit operands: the most negative number divided by -1 overflows in 32 bits only.
template <class H> void execute(Is<div>, H& h) {
  const std::int64_t divisor = as_signed(h.rs2());
  h.rd(divisor == 0 ? ~0U : as_unsigned(std::int64_t{as_signed(h.rs1())} / divisor));
}
template <class H> void execute(Is<divu>, H& h) { h.rd(h.rs2() == 0 ? ~0U : h.rs1() / h.rs2()); }
template <class H> void execute(Is<rem>, H& h) {
  const std::int64_t divisor = as_signed(h.rs2());
  h.rd(divisor == 0 ? h.rs1() : as_unsigned(std::int64_t{as_signed(h.rs1())} % divisor));
}
template <class H> void execute(Is<remu>, H& h) { h.rd(h.rs2() == 0 ? h.rs1() : h.rs1() % h.rs2()); }

template <class H> void execute(Is<sh1add>, H& h) { h.rd((h.rs1() << 1) + h.rs2()); }
template <class H> void execute(Is<sh2add>, H& h) { h.rd((h.rs1() << 2) + h.rs2()); }
template <class H> void execute(Is<sh3add>, H& h) { h.rd((h.rs1() << 3) + h.rs2()); }

// Branches: whether they are taken.
template <class H> bool taken(Is<beq>, H& h) { return h.rs1() == h.rs2(); }
template <class H> bool taken(Is<bne>, H& h) { return h.rs1() != h.rs2(); }
template <class H> bool taken(Is<blt>, H& h) { return as_signed(h.rs1()) < as_signed(h.rs2()); }
template <class H> bool taken(Is<bge>, H& h) { return as_signed(h.rs1()) >= as_signed(h.rs2()); }
template <class H> bool taken(Is<bltu>, H& h) { return h.rs1() < h.rs2(); }
template <class H> bool taken(Is<bgeu>, H& h) { return h.rs1() >= h.rs2(); }
template <class H> bool taken(Is<bdnz>, H& h) {
  const std::uint32_t left = h.rs1() - 1;
  h.rd(left);
  return left != 0;
}
// clang-format on

}  // namespace tessera::engine::semantics
