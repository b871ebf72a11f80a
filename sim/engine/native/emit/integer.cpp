#include "sim/engine/instruction_kind.h"
#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"

/// RV32I, M and Zba, without memory access and control flow.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using enum isa::Mnemonic;
using x86::CondCode;
using Id = x86::Inst::Id;

bool Emitter::emit_integer(const isa::Instruction& is, const Step& step) {
  const isa::Mnemonic m = is.mnemonic;
  if (is_csr(m)) {  // a straight one: handler::constant_csr
    if (is.rd != 0) a_.mov(into(is.rd), x86::dword_ptr(x86::rbx, step.op->imm));
    return true;
  }
  if (m != fence && !is_integer_arithmetic(m)) return false;
  if (is.rd == 0) return true;
  switch (m) {
    case lui:
    case auipc:
      a_.mov(into(is.rd), imm(step.op->imm));
      break;
    case addi:
      add_immediate(is.rd, is.rs1, is.imm);
      break;
    case slti:
    case sltiu:
      a_.cmp(get(is.rs1, x86::eax), imm(is.imm));
      set_if(m == slti ? CondCode::kL : CondCode::kB, is.rd);
      break;
    case xori:
      binary_immediate(Id(x86::Inst::kIdXor), is);
      break;
    case ori:
      binary_immediate(Id(x86::Inst::kIdOr), is);
      break;
    case andi:
      binary_immediate(Id(x86::Inst::kIdAnd), is);
      break;
    case slli:
      shift_immediate(x86::Inst::kIdShl, is);
      break;
    case srli:
      shift_immediate(x86::Inst::kIdShr, is);
      break;
    case srai:
      shift_immediate(x86::Inst::kIdSar, is);
      break;
    case add:
      if (is.rs1 != 0 && is.rs2 != 0 && is.rd != is.rs1 && is.rd != is.rs2)
        shifted_add(is, 0);
      else
        binary(x86::Inst::kIdAdd, is, true);
      break;
    case sub:
      binary(x86::Inst::kIdSub, is, false);
      break;
    case sll:
      shift(x86::Inst::kIdShlx, is);
      break;
    case srl:
      shift(x86::Inst::kIdShrx, is);
      break;
    case sra:
      shift(x86::Inst::kIdSarx, is);
      break;
    case slt:
    case sltu: {
      const Gp second = get(is.rs2, x86::edx);
      a_.cmp(get(is.rs1, x86::eax), second);
      set_if(m == slt ? CondCode::kL : CondCode::kB, is.rd);
      break;
    }
    case xor_:
      binary(x86::Inst::kIdXor, is, true);
      break;
    case or_:
      binary(x86::Inst::kIdOr, is, true);
      break;
    case and_:
      binary(x86::Inst::kIdAnd, is, true);
      break;
    case sh1add:
      shifted_add(is, 1);
      break;
    case sh2add:
      shifted_add(is, 2);
      break;
    case sh3add:
      shifted_add(is, 3);
      break;
    default:
      return emit_multiply(is);
  }
  return true;
}

void Emitter::add_immediate(std::uint8_t rd, std::uint8_t rs1, std::int32_t value) {
  if (rs1 == 0) {
    a_.mov(into(rd), imm(value));
    return;
  }
  if (rd == rs1) return move_by(rd, value);
  const Gp from = get_behind(rs1, x86::eax);
  const std::int32_t by = value + lag_[rs1];
  const Gp made = into(rd);
  if (by == 0)
    a_.mov(made, from);
  else
    a_.lea(made, x86::ptr(from.r64(), by));
}

/// rd = rs1 OP rs2; computed in eax only if rd is rs2.
void Emitter::binary(Id id, const isa::Instruction& is, bool commutes) {
  unsigned first = is.rs1;
  unsigned second = is.rs2;
  if (commutes && is.rd == second) std::swap(first, second);
  const Gp with = get(second, x86::edx);
  const Gp from = get(first, x86::eax);
  const bool clobbers = is.rd == second && first != second;
  const Gp made = clobbers ? Gp(x86::eax) : into(is.rd);
  if (made != from) a_.mov(made, from);
  a_.emit(id, made, with);
  if (clobbers) put(is.rd, made);
}

void Emitter::binary_immediate(Id id, const isa::Instruction& is) {
  const Gp from = get(is.rs1, x86::eax);
  const Gp made = into(is.rd);
  if (made != from) a_.mov(made, from);
  a_.emit(id, made, imm(is.imm));
}

void Emitter::shift(Id id, const isa::Instruction& is) {
  const Gp by = get(is.rs2, x86::edx);
  const Gp from = get(is.rs1, x86::eax);
  const Gp made = into(is.rd);
  a_.emit(id, made, from, by);
}

void Emitter::shift_immediate(Id id, const isa::Instruction& is) {
  constexpr std::int32_t kLast = 31;
  const Gp from = get(is.rs1, x86::eax);
  const Gp made = into(is.rd);
  const std::int32_t by = is.imm & kLast;
  if (id == x86::Inst::kIdShl && made != from && by > 0 && by < 4) {
    a_.lea(made, x86::ptr(0, from.r64(), static_cast<std::uint32_t>(by)));
  } else {
    if (made != from) a_.mov(made, from);
    if (by != 0) a_.emit(id, made, imm(by));
  }
}

void Emitter::shifted_add(const isa::Instruction& is, unsigned amount) {
  const Gp index = get(is.rs1, x86::eax);
  const Gp base = get(is.rs2, x86::edx);
  const Gp made = into(is.rd);
  a_.lea(made, x86::ptr(base.r64(), index.r64(), amount));
}

void Emitter::set_if(CondCode condition, std::uint8_t rd) {
  a_.set(condition, x86::al);
  a_.movzx(into(rd), x86::al);
}

bool Emitter::emit_multiply(const isa::Instruction& is) {
  if (is.mnemonic >= div) {
    emit_divide(is);
    return true;
  }
  const Gp second = get(is.rs2, x86::edx);
  const Gp first = get(is.rs1, x86::eax);
  if (is.mnemonic == mul) {
    const Gp made = into(is.rd);
    if (is.rd == is.rs2) {
      a_.imul(made, first);
    } else {
      if (made != first) a_.mov(made, first);
      a_.imul(made, second);
    }
    return true;
  }
  if (is.mnemonic == mulhu) {
    a_.mov(x86::eax, first);
    a_.mov(x86::edx, second);
    a_.mulx(into(is.rd), x86::eax, x86::eax);
    return true;
  }
  a_.movsxd(x86::rax, first);
  if (is.mnemonic == mulh)
    a_.movsxd(x86::rdx, second);
  else
    a_.mov(x86::edx, second);
  a_.imul(x86::rax, x86::rdx);
  a_.shr(x86::rax, imm(kWordBits));
  put(is.rd, x86::eax);
  return true;
}

/// The instruction `steps` + 1 steps after the current one, if it is straight; else null.
const isa::Instruction* Emitter::straight_ahead(std::size_t steps) const {
  const bool straight = steps < ahead_.size() && ahead_[steps].kind == Kind::straight;
  return straight ? &ahead_[steps].instruction : nullptr;
}

/// Emits mulh or mulhu together with a mul of the same operands, in either order.
bool Emitter::emit_wide_product(const isa::Instruction& is) {
  const auto upper = [](isa::Mnemonic m) { return m == mulh || m == mulhu; };
  const isa::Instruction* const next = straight_ahead(0);
  if (next == nullptr || is_wide(0) || is.rd == 0 || next->rd == 0 || is.rd == next->rd)
    return false;
  if (!(upper(is.mnemonic) && next->mnemonic == mul) &&
      !(is.mnemonic == mul && upper(next->mnemonic)))
    return false;
  const bool same =
      (is.rs1 == next->rs1 && is.rs2 == next->rs2) || (is.rs1 == next->rs2 && is.rs2 == next->rs1);
  if (!same || is.rd == is.rs1 || is.rd == is.rs2) return false;
  const isa::Instruction& high = upper(is.mnemonic) ? is : *next;
  const isa::Instruction& low = upper(is.mnemonic) ? *next : is;
  before(ahead_.front());
  const Gp second = get(is.rs2, x86::edx);
  const Gp first = get(is.rs1, x86::eax);
  if (high.mnemonic == mulh) {
    a_.movsxd(x86::rdx, second);
    a_.movsxd(x86::rax, first);
    a_.imul(x86::rax, x86::rdx);
    put(low.rd, x86::eax);
    a_.shr(x86::rax, imm(kWordBits));
    put(high.rd, x86::eax);
  } else {
    a_.mov(x86::eax, first);
    a_.mov(x86::edx, second);
    ++step_;  // operands may lose their turns
    const Gp made = into(high.rd);
    a_.mulx(made, into(low.rd), x86::eax);
  }
  done_with_ = step_ + 1;
  return true;
}

/// The host traps in cases where RISC-V defines results: divisors 0 and -1 are handled separately.
void Emitter::emit_divide(const isa::Instruction& is) {
  const bool remainder = is.mnemonic == rem || is.mnemonic == remu;
  const bool is_signed = is.mnemonic == div || is.mnemonic == rem;
  const Label zero = a_.newLabel();
  const Label minus = a_.newLabel();
  const Label done = a_.newLabel();
  const Gp first = get(is.rs1, x86::eax);
  if (first != x86::eax) a_.mov(x86::eax, first);
  if (is.rs2 == 0) {
    if (!remainder) a_.mov(x86::eax, imm(-1));
    put(is.rd, x86::eax);
    return;
  }
  const Gp divisor = get(is.rs2, x86::edx);
  a_.test(divisor, divisor);
  a_.jz(zero);
  if (is_signed) {
    a_.cmp(divisor, imm(-1));
    a_.je(minus);
    a_.cdq();
    a_.idiv(divisor);
  } else {
    a_.xor_(x86::edx, x86::edx);
    a_.div(divisor);
  }
  if (remainder) a_.mov(x86::eax, x86::edx);
  a_.bind(done);
  put(is.rd, x86::eax);
  cold(zero, [this, remainder, done] {
    if (!remainder) a_.mov(x86::eax, imm(-1));
    a_.jmp(done);
  });
  if (!is_signed) return;
  cold(minus, [this, remainder, done] {
    if (remainder)
      a_.xor_(x86::eax, x86::eax);
    else
      a_.neg(x86::eax);
    a_.jmp(done);
  });
}

}  // namespace tessera::engine::native
