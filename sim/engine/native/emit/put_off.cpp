#include <algorithm>
#include <bit>
#include <optional>

#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/wide/values.h"

/// Shifts by constants, and carries, that a following instruction consumes: no code is emitted at
/// their own place. Two shifts joined to a rotation become one rorx; a carry that is added or
/// subtracted becomes the host's adc or sbb. A result is computed if another instruction reads it
/// or an operand is about to change; else never.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using enum isa::Mnemonic;
using isa::Instruction;

namespace {

constexpr std::size_t kFarthest = 12;  ///< steps from a result to its consumer

std::uint32_t bit_of(unsigned x) { return 1U << x; }

/// Registers from which an instruction put off is computed.
std::uint32_t operands(const Instruction& is) {
  return is.mnemonic == sltu ? bit_of(is.rs1) | bit_of(is.rs2) : bit_of(is.rs1);
}

bool shifts(const Instruction& is) { return is.mnemonic == slli || is.mnemonic == srli; }

/// True for a left and a right shift whose results are the two parts of a rotation.
bool rotate(const Instruction& a, const Instruction& b) {
  return shifts(a) && shifts(b) && a.mnemonic != b.mnemonic && a.rs1 == b.rs1 &&
         a.imm + b.imm == kWordBits;
}

bool joins(const Instruction& is) {
  return is.rd != 0 && is.rs1 != is.rs2 &&
         (is.mnemonic == or_ || is.mnemonic == xor_ || is.mnemonic == add);
}

/// True if the instruction adds x to another register, or subtracts x from one.
bool adds(const Instruction& is, unsigned x) {
  if (is.rd == 0 || is.rs1 == 0 || is.rs2 == 0 || is.rs1 == is.rs2) return false;
  return (is.mnemonic == add && (is.rs1 == x || is.rs2 == x)) ||
         (is.mnemonic == sub && is.rs2 == x);
}

/// True for steps at which control cannot leave.
bool stays(const Step& step) { return step.kind == Kind::pass || is_arithmetic(step); }

}  // namespace

/// True if the next instruction that reads the result can be emitted as one with it.
bool Emitter::is_taken(const Instruction& is) const {
  if (is.rd == 0 || (!shifts(is) && is.mnemonic != sltu)) return false;
  if (shifts(is) && (is.imm == 0 || is.rs1 == 0)) return false;
  std::optional<unsigned> other;  // register to which the result is joined
  for (const Instruction& each : waiting_)
    if (rotate(is, each)) other = each.rd;
  std::size_t ahead = 0;
  for (const Step& step : ahead_.first(std::min(ahead_.size(), kFarthest))) {
    const Instruction& next = step.instruction;
    if (step.kind != Kind::straight || is_wide(ahead++)) return false;
    if ((step.sets.reads_x & bit_of(is.rd)) != 0) {
      if (is.mnemonic == sltu) return adds(next, is.rd);
      return other && joins(next) && step.sets.reads_x == (bit_of(is.rd) | bit_of(*other));
    }
    const bool pairs = !other && rotate(is, next) && next.rd != 0;
    const std::uint32_t needed =
        bit_of(is.rd) | (pairs ? 0 : operands(is)) | (other ? bit_of(*other) : 0);
    if ((step.sets.writes_x & needed) != 0) return false;
    if (pairs) other = next.rd;
  }
  return false;
}

bool Emitter::emit_put_off(const Step& step) {
  const Instruction& is = step.instruction;
  if (emit_rotation(step) || emit_carry(step)) return true;
  make_read(step);
  if (!is_taken(is)) {
    make_lost(step);
    return false;
  }
  std::erase_if(waiting_, [&](const Instruction& each) { return each.rd == is.rd; });
  for (std::uint32_t left = operands(is) & ~1U; left != 0; left &= left - 1)
    get(static_cast<unsigned>(std::countr_zero(left)), x86::eax);
  waiting_.push_back(is);
  const bool is_old_read = std::ranges::any_of(
      waiting_, [&](const Instruction& each) { return (operands(each) & bit_of(is.rd)) != 0; });
  if (is_old_read) return true;
  overwrite(is.rd, 0);
  if (static_cast<int>(is.rd) == asked_.x) asked_ = {};
  lag_[is.rd] = 0;
  for (Turn& turn : shared_)
    if (turn.x == static_cast<int>(is.rd)) turn = {};
  return true;
}

bool Emitter::emit_rotation(const Step& step) {
  const Instruction& is = step.instruction;
  const Instruction* const first = waiting(is.rs1);
  const Instruction* const second = waiting(is.rs2);
  const bool rotates =
      joins(is) && first != nullptr && second != nullptr && rotate(*first, *second);
  if (!rotates) return false;
  const unsigned of = first->rs1;
  const std::int32_t by = first->mnemonic == srli ? first->imm : second->imm;
  make_lost(step);
  const Gp from = get(of, x86::eax);
  a_.rorx(into(is.rd), from, imm(by));
  return true;
}

bool Emitter::emit_carry(const Step& step) {
  const Instruction& is = step.instruction;
  constexpr std::size_t kAtOnce = 4;
  if (!shared_.empty() && shared_.size() < kAtOnce) return false;
  for (const unsigned x : {is.rs2, is.rs1}) {
    const unsigned to = is.rs1 == x ? is.rs2 : is.rs1;
    const Instruction* const found = waiting(x);
    if (found == nullptr || found->mnemonic != sltu || !adds(is, x) || waiting(to) != nullptr)
      continue;
    const Instruction carry = *found;
    const bool from_itself = (operands(carry) & bit_of(x)) != 0;
    const bool lost = (step.sets.writes_x & operands(carry) & ~bit_of(x)) != 0;
    if (from_itself && lost && is.rd != x && !is_dead(x)) continue;
    make_lost(step);
    const Gp second = get(carry.rs2, x86::edx);
    const Gp first = get(carry.rs1, x86::eax);
    const Gp from = get(to, x86::eax);
    a_.cmp(first, second);
    const Gp made = into(is.rd);
    if (made != from) a_.mov(made, from);
    a_.emit(is.mnemonic == sub ? x86::Inst::kIdSbb : x86::Inst::kIdAdc, made, imm(0));
    return true;
  }
  return false;
}

/// The instruction put off whose result is x; null: none.
const Instruction* Emitter::waiting(unsigned x) const {
  const auto found = std::ranges::find(waiting_, x, &Instruction::rd);
  return found == waiting_.end() ? nullptr : &*found;
}

void Emitter::before(const Step& step) {
  make_read(step);
  make_lost(step);
}

void Emitter::make_read(const Step& step) {
  make_all([&](const Instruction& each) { return (step.sets.reads_x & bit_of(each.rd)) != 0; });
}

/// Emits instructions put off whose operands the step overwrites, unless their results are dead.
void Emitter::make_lost(const Step& step) {
  const std::uint32_t written = step.sets.writes_x;
  std::erase_if(waiting_, [&](const Instruction& each) {
    const bool lost = (written & operands(each)) != 0;
    return (written & bit_of(each.rd)) != 0 || (lost && is_dead(each.rd));
  });
  make_all([&](const Instruction& each) { return (written & operands(each)) != 0; });
}

void Emitter::make_all(const std::function<bool(const Instruction&)>& due) {
  for (auto found = std::ranges::find_if(waiting_, due); found != waiting_.end();
       found = std::ranges::find_if(waiting_, due))
    make(*found);
}

/// True if after the current step the register is written before any read or exit.
bool Emitter::is_dead(unsigned x) const {
  for (const Step& step : ahead_) {
    if (!stays(step) || (step.sets.reads_x & bit_of(x)) != 0) return false;
    if ((step.sets.writes_x & bit_of(x)) != 0) return true;
  }
  return false;
}

/// Emits an instruction put off, after those that read the old value of its rd.
void Emitter::make(Instruction is) {
  make_all([&](const Instruction& each) {
    return each.rd != is.rd && (operands(each) & bit_of(is.rd)) != 0;
  });
  std::erase_if(waiting_, [&](const Instruction& each) { return each.rd == is.rd; });
  ++step_;
  emit_integer(is, {});
  ++step_;  // its operands may lose their turns
}

}  // namespace tessera::engine::native
