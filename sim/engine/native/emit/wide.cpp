#include <bit>

#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"

/// 64-bit operations (wide.h), each emitted at its last part (loads and stores: at the first). Code
/// that leaves before or after it computes the parts' results (late.cpp).
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using Id = x86::Inst::Id;

namespace {
std::uint32_t bits_of(const Pair& pair) { return (1U << pair.low | 1U << pair.high) & ~1U; }
}  // namespace

void Emitter::begin_wide(std::span<const Step> steps) {
  forget_places();
  all_steps_ = steps;
  constexpr std::size_t kAtOnce = 5;  // host registers that an operation may need
  wide_ = shared_.empty() || shared_.size() >= kAtOnce ? plan_wide(steps, plan_) : WidePlan{};
}

std::size_t Emitter::position() const { return wide_.steps.size() - ahead_.size() - 1; }

/// True if the step `ahead` + 1 steps after the current one is part of an operation.
bool Emitter::is_wide(std::size_t ahead) const {
  const std::size_t at = wide_.steps.size() - ahead_.size() + ahead;
  return at < wide_.steps.size() && wide_.steps[at].done;
}

/// Does pending additions and comparison results of these registers.
void Emitter::settle_words(std::uint32_t registers) {
  for (std::uint32_t left = registers; left != 0; left &= left - 1) {
    const auto x = static_cast<unsigned>(std::countr_zero(left));
    if (lag_[x] != 0 || static_cast<int>(x) == asked_.x) get(x, x86::eax);
  }
}

/// Returns false if the step is not part of an operation.
bool Emitter::emit_wide(const Step& step) {
  if (wide_.steps.empty() || !wide_.steps[position()].done) return false;
  before(step);
  const WideStep& planned = wide_.steps[position()];
  if (planned.operation < 0) {
    settle_words(step.sets.reads_x);
    access_ += accesses_of(step.instruction).count;
    return true;
  }
  const WideOperation& operation = wide_.operations[static_cast<std::size_t>(planned.operation)];
  Step whole;
  whole.sets.reads_x = bits_of(operation.a) | bits_of(operation.b);
  whole.sets.writes_x = bits_of(operation.to);
  before(whole);
  for (const Kept& each : operation.kept)
    if (!each.made) keep(each);
  emit_operation(operation, step);
  for (const Kept& each : operation.kept)
    if (each.made) keep(each);
  return true;
}

void Emitter::emit_operation(const WideOperation& is, const Step& step) {
  switch (is.kind) {
    case Wide::add:
      if (is.by == 0) return wide_binary(x86::Inst::kIdAdd, is);
      wide_unary(is, [&](const Gp& made) { a_.add(made, imm(is.by)); });
      return;
    case Wide::subtract:
      return wide_binary(x86::Inst::kIdSub, is);
    case Wide::bit_and:
      return wide_binary(x86::Inst::kIdAnd, is);
    case Wide::bit_or:
      return wide_binary(x86::Inst::kIdOr, is);
    case Wide::bit_xor:
      return wide_binary(x86::Inst::kIdXor, is);
    case Wide::product:
    case Wide::multiply:
      return wide_binary(x86::Inst::kIdImul, is);
    case Wide::product_signed: {
      const Gp a = get(is.a.low, x86::eax);
      const Gp b = get(is.b.low, x86::edx);
      a_.movsxd(x86::rdx, b);
      a_.movsxd(x86::rax, a);
      a_.imul(x86::rax, x86::rdx);
      ++step_;
      a_.mov(into_wide(is), x86::rax);
      return;
    }
    case Wide::invert:
      return wide_unary(is, [&](const Gp& made) { a_.not_(made); });
    case Wide::left:
      return wide_unary(is, [&](const Gp& made) { a_.shl(made, imm(is.by)); });
    case Wide::right:
      return wide_unary(is, [&](const Gp& made) { a_.shr(made, imm(is.by)); });
    case Wide::right_signed:
      return wide_unary(is, [&](const Gp& made) { a_.sar(made, imm(is.by)); });
    case Wide::move:
      return wide_unary(is, [](const Gp&) {});
    case Wide::rotate: {
      wide(is.a, x86::rax);
      ++step_;
      const Gp from = wide(is.a, x86::rax);
      a_.rorx(into_wide(is), from, imm(is.by));
      return;
    }
    case Wide::load: {
      Mem from = address(step, accesses_of(step.instruction).all[0]);
      from.setSize(8);
      if (step.instruction.rd == is.to.high) from.addOffset(-4);
      const Gp made = into_wide(is);
      a_.mov(made, from);
      return;
    }
    case Wide::store: {
      wide(is.a, x86::rdx);
      ++step_;
      Mem to = address(step, accesses_of(step.instruction).all[0]);
      to.setSize(8);
      if (step.instruction.rs2 == is.a.high) to.addOffset(-4);
      a_.mov(to, wide(is.a, x86::rdx));
      return;
    }
  }
}

void Emitter::wide_unary(const WideOperation& is, const std::function<void(const Gp&)>& change) {
  wide(is.a, x86::rax);
  ++step_;
  const Gp from = wide(is.a, x86::rax);
  const Gp made = into_wide(is);
  if (made != from) a_.mov(made, from);
  change(made);
}

void Emitter::wide_binary(Id id, const WideOperation& is) {
  const bool same_low = is.a.low == is.b.low && is.a.high != is.b.high;
  Gp a = wide(is.a, x86::rax);
  if (same_low) a_.mov(x86::rdx, a);
  ++step_;  // others in the way may lose their turns
  wide(is.b, x86::rdx);
  ++step_;
  const Gp b = wide(is.b, x86::rdx);
  a = same_low ? Gp(x86::rdx) : wide(is.a, x86::rax);
  const Gp made = into_wide(is);
  if (made == b && made != a) {
    if (id == x86::Inst::kIdSub) {
      a_.neg(made);
      a_.add(made, a);
    } else {
      a_.emit(id, made, a);
    }
  } else if (id == x86::Inst::kIdAdd && made != a) {
    a_.lea(made, x86::ptr(a, b));
  } else {
    if (made != a) a_.mov(made, a);
    a_.emit(id, made, b);
  }
}

/// The host register that holds both words; `scratch`, cleared, for x0.
Emitter::Gp Emitter::wide(const Pair& pair, const Gp& scratch) {
  if (pair.high == 0) return get(pair.low, scratch).r64();
  if (mate_[pair.low] == pair.high) return wide_host(pair.low);
  const bool reversed = mate_[pair.high] == pair.low && mate_[pair.low] == 0;
  if (reversed) {
    const Gp from = wide_host(pair.high);
    const Gp made = own_place(pair.low).r64();
    a_.rorx(made, from, imm(kWordBits));
  } else {
    const Gp upper = word(pair.high, x86::eax);
    a_.mov(x86::eax, upper);
    a_.shl(x86::rax, imm(kWordBits));
    a_.or_(get(pair.low, x86::edx).r64(), x86::rax);
  }
  mate_[pair.low] = pair.high;
  for (Turn& turn : shared_) {
    if (turn.x != static_cast<int>(pair.high) || mate_[pair.high] != 0) continue;
    if (turn.unsaved) inside_ |= 1U << pair.high;
    turn = {};
  }
  return wide_host(pair.low);
}

/// The host register for the result of an operation.
Emitter::Gp Emitter::into_wide(const WideOperation& is) {
  const auto [low, high] = is.to;
  const bool makes_high = high != 0 && !is.keeps;
  if (makes_high) overwrite(high, low);
  overwrite(low, high);
  if (makes_high) {  // only now: an operand may be in its host register
    if (static_cast<int>(high) == asked_.x) asked_ = {};
    lag_[high] = 0;
    for (Turn& turn : shared_)
      if (turn.x == static_cast<int>(high)) turn = {};
  }
  mate_[low] = 0;
  const Gp made = into(low);
  mate_[low] = high;
  if (makes_high) inside_ |= 1U << high;
  return made.r64();
}

}  // namespace tessera::engine::native
