#include <algorithm>
#include <bit>
#include <utility>

#include "sim/base/errors.h"
#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"

/// Emits a choice: the loads of both sides of a branch, then one side after the other, then the
/// selection of results. Guest state does not change before the last place where the interpreter
/// may take over, which is always at the branch. Operands of floating-point arithmetic are 0 on the
/// side that is not taken, where all results are then exact: no flag accrues.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using enum isa::Mnemonic;
using x86::CondCode;

void Emitter::emit_choice(const Step& step) {
  const Choice& choice = loops_.choices[step.choice];
  if (choice.skips) return emit_skip(choice, step);
  branch_ = &step;
  for (const Step& load : choice.loads) load_ahead(load);
  if (choice.masked) emit_mask(choice, step);
  emit_side(choice.sides[0], false);
  emit_side(choice.sides[1], true);
  branch_ = nullptr;
  ++step_;
  for (const Choice::Select& each : choice.f) prepare(choice, each);
  const auto tally = tally_of_.find(step.choice);
  const bool counts_mask = tally != tally_of_.end() && tally->second.isVec();
  if (counts_mask && mask_of_ != choice.compared) emit_mask(choice, step);
  const bool asks = !counts_mask || !choice.x.empty() || choice.both || linked_ != nullptr;
  const CondCode taken = asks ? taken_where(choice, step) : CondCode::kNE;
  select_x(choice, taken);
  select_f(choice);
  const bool owes_both = emit_link(choice, taken);
  if (tally == tally_of_.end()) {
    if (!choice.more.is({})) add_more(choice.more, choice.masked, taken);
  } else {
    turns_.tallies = tally_routines_.size() - 1;
    count(tally->second, taken);
  }
  if (owes_both) {
    a_.cmp(x86::dword_ptr(x86::rsp, stack::kFlags), imm(0));
    add_more(*linked_->both, false, CondCode::kNE);
  }
  linked_ = choice.both ? &choice : nullptr;
  for (Turn& turn : shared_)
    if (turn.x >= static_cast<int>(kFirstShadow) && (turn.x != kLink || !choice.both)) turn = {};
  mask_of_ = nullptr;
  owe(choice.pass);
}

/// Counts turns in which the previous choice and this one are both taken, and records in kLink that
/// this one is taken. Returns true if no register counts them: then `both` must be added if the
/// word at kFlags is not 0. Does not change the host's flags.
bool Emitter::emit_link(const Choice& choice, CondCode taken) {
  bool owes = false;
  if (linked_ != nullptr) {
    const Gp before = get(kLink, x86::edx);
    a_.mov(x86::eax, imm(0));
    a_.cmov(taken, x86::eax, before);
    const auto tally = both_of_.find(linked_);
    owes = tally == both_of_.end();
    if (owes) {
      a_.mov(x86::dword_ptr(x86::rsp, stack::kFlags), x86::eax);
    } else {
      turns_.tallies = tally_routines_.size() - 1;
      a_.lea(tally->second, x86::ptr(tally->second.r64(), x86::rax));
    }
  }
  if (choice.both) {
    const Gp now = into(kLink);
    a_.mov(now, imm(0));
    a_.set(taken, now.r8());
  }
  return owes;
}

/// Counts a taken branch in a tally; the last use of the host's flags.
void Emitter::count(const asmjit::x86::Reg& tally, CondCode taken) {
  if (tally.isVec()) {
    a_.vpsubd(tally.as<Xmm>(), tally.as<Xmm>(), kMask);
    return;
  }
  if (taken == CondCode::kB) {
    a_.adc(tally.as<Gp>(), imm(0));
  } else if (taken == CondCode::kAE) {
    a_.sbb(tally.as<Gp>(), imm(-1));
  } else {
    a_.lea(x86::eax, x86::ptr(tally.as<Gp>().r64(), 1));
    a_.cmov(taken, tally.as<Gp>(), x86::eax);
  }
}

/// Emits the test; returns the condition that holds if the branch is taken.
CondCode Emitter::taken_where(const Choice& choice, const Step& step) {
  if (choice.compared == nullptr || mask_of_ != choice.compared) return condition(step);
  a_.vmovd(x86::eax, kMask);
  a_.test(x86::eax, x86::eax);
  return CondCode::kNE;
}

void Emitter::emit_mask(const Choice& choice, const Step& step) {
  ++step_;
  for (std::uint32_t left = choice.boxed; left != 0; left &= left - 1)
    get_single(static_cast<unsigned>(std::countr_zero(left)), x86::xmm0, step);
  if (choice.compared != nullptr) {
    if (mask_of_ == choice.compared) return;
    const isa::Instruction& is = choice.compare;
    const Xmm first = get_single(is.rs1, x86::xmm0, step);
    const Xmm second = get_single(is.rs2, x86::xmm1, step);
    answer();
    a_.vcmpss(kMask, first, second, imm(choice.predicate));
    mask_of_ = choice.compared;
    return;
  }
  const CondCode taken = condition(step);
  mask_where(taken);
}

/// Sets kMask to ones if `taken` holds. Does not change the host's flags.
void Emitter::mask_where(CondCode taken) {
  answer();
  a_.mov(x86::eax, imm(0));
  a_.cmov(taken, x86::rax, constant(~std::uint64_t{0}));
  a_.vmovq(kMask, x86::rax);
}

void Emitter::emit_side(const std::vector<Step>& side, bool taken) {
  masked_ = taken ? Masked::where_not_taken : Masked::where_taken;
  for (const Step& each : side) {
    ++step_;
    const bool done = emit_integer(each.instruction, each) || emit_float(each.instruction, each);
    check(done, "native: a side of a choice that is not converted");
    if (each.sets.writes_f == 0) continue;
    const std::uint64_t bit = std::uint64_t{1} << each.instruction.rd;
    singles_.known = writes_boxed(each) != 0 ? singles_.known | bit : singles_.known & ~bit;
  }
  masked_ = Masked::no;
}

/// True for values that the comparison has shown not to be NaN if this side is selected.
bool Emitter::is_number(const Choice& choice, const Choice::Select& select, std::size_t side) {
  const unsigned f = select.from[side];
  return choice.compared != nullptr && (side == 1) == choice.taken_where_met &&
         (f == choice.compare.rs1 || f == choice.compare.rs2);
}

/// Does pending work on the two values unless it is the same for both.
void Emitter::prepare(const Choice& choice, const Choice::Select& select) {
  const auto has = [](std::uint64_t bits, unsigned f) { return (bits >> f & 1) != 0; };
  if (!has(singles_.known, select.from[0]) || !has(singles_.known, select.from[1])) {
    // All 64 bits are selected.
    for (const std::uint8_t f : select.from) get_f(f, x86::xmm0);
    if (choice.compared != nullptr) a_.vmovsldup(kMask, kMask);
    return;
  }
  for (std::size_t side = 0; side < 2; ++side) {
    if (is_number(choice, select, side)) continue;
    const bool other =
        has(singles_.computed, select.from[1 - side]) || is_number(choice, select, 1 - side);
    if (!other || !hosted_f(select.rd)) check_nan(select.from[side]);
  }
}

/// Selects x results by the host's flags from condition(), and does not change them.
void Emitter::select_x(const Choice& choice, CondCode taken) {
  for (const Choice::Select& each : choice.x) {
    ++step_;
    const auto [otherwise, where_taken] = each.from;
    const bool keeps = otherwise == each.rd || where_taken == each.rd;
    if (keeps) get(each.rd, x86::eax);
    const Gp made = into(each.rd);
    if (otherwise == where_taken) {
      a_.mov(made, get(otherwise, x86::eax));
    } else if (otherwise != each.rd && where_taken != each.rd) {
      a_.mov(made, get(otherwise, x86::eax));
      a_.cmov(taken, made, get(where_taken, x86::eax));
    } else if (where_taken != each.rd) {
      a_.cmov(taken, made, get(where_taken, x86::eax));
    } else {
      a_.cmov(x86::negateCond(taken), made, get(otherwise, x86::eax));
    }
  }
}

void Emitter::select_f(const Choice& choice) {
  for (const Choice::Select& each : choice.f) {
    const Xmm otherwise = get_as_is(each.from[0], x86::xmm0);
    const Xmm where_taken = get_as_is(each.from[1], x86::xmm1);
    const Xmm made = into_f(each.rd);
    a_.vblendvps(made, otherwise, where_taken, kMask);
    SingleState result{.unboxed = false, .computed = true};
    bool known = true;
    for (std::size_t side = 0; side < 2; ++side) {
      const auto has = [f = each.from[side]](std::uint64_t bits) { return (bits >> f & 1) != 0; };
      const bool number = is_number(choice, each, side);
      known &= has(singles_.known);
      result.unboxed |= has(singles_.unboxed);
      result.unchecked |= has(singles_.unchecked) && !number;
      result.computed &= has(singles_.computed) || number;
    }
    put_single(each.rd, made, result);
    const std::uint64_t bit = std::uint64_t{1} << each.rd;
    singles_.known = known ? singles_.known | bit : singles_.known & ~bit;
  }
}

namespace {
/// True if one register may sum slots and work side by side: the turns of a hyperblock need at most
/// 32 bits of each, unless the work includes flops.
bool can_sum(const PathCost& each) {
  constexpr std::int64_t kMost = std::int64_t{4} << kPairsAt;
  const auto work = static_cast<std::int64_t>(each.work);
  return -kMost < work && work < kMost;
}
}  // namespace

/// The tally that sums costs, if there is one and it can sum `more`; else null.
const Emitter::Tally* Emitter::summing(const PathCost& more) {
  const auto tally = std::ranges::find(tallies_, true, &Tally::sums);
  if (tally == tallies_.end() || !can_sum(more)) return nullptr;
  turns_.tallies = tally_routines_.size() - 1;
  return &*tally;
}

/// Adds the extra cost of the taken side if no tally counts it: to the tally that sums costs, if
/// there is one, else to slots and work, which takes twice as many instructions. `masked`: kMask
/// already holds the condition.
void Emitter::add_more(const PathCost& more, bool masked, CondCode taken) {
  if (setting_.counts) {
    if (!masked) mask_where(taken);
    activities_.push_back({a_.newLabel(), more.done});
    a_.vpbroadcastd(x86::ymm3, kMask);
    for (unsigned i = 0; i < kDoneVectors; ++i) {
      const x86::Ymm done = x86::ymm(kFirstDone + i);
      a_.vpand(x86::ymm0, x86::ymm3, x86::ptr(activities_.back().label, static_cast<int>(32 * i)));
      a_.vpaddd(done, done, x86::ymm0);
    }
  }
  if (const Tally* const tally = summing(more)) {
    Mem from = constant((static_cast<std::uint64_t>(more.slots) << 32U) + more.work);
    from.setSize(8);
    a_.mov(x86::eax, imm(0));
    a_.cmov(taken, x86::rax, from);
    a_.add(tally->host.as<Gp>().r64(), x86::rax);
    return;
  }
  std::vector<std::pair<asmjit::Operand, Gp>> later;
  const auto add = [&](const asmjit::Operand& sum, std::int64_t by, const Gp& scratch) {
    if (by == 0) return;
    if (sum.isReg() && by == static_cast<std::int32_t>(by)) {
      a_.lea(scratch, x86::ptr(sum.as<Gp>(), static_cast<std::int32_t>(by)));
      a_.cmov(taken, sum.as<Gp>(), scratch);
      return;
    }
    Mem from = constant(static_cast<std::uint64_t>(by));
    from.setSize(8);
    a_.mov(scratch.r32(), imm(0));
    a_.cmov(taken, scratch, from);
    later.emplace_back(sum, scratch);
  };
  add(slots(), more.slots, x86::rax);
  add(work(), static_cast<std::int64_t>(more.work), x86::rdx);
  for (const auto& [sum, scratch] : later) a_.emit(x86::Inst::kIdAdd, sum, scratch);
}

/// Assigns unused host registers, if any, as tallies of the loop's choices.
void Emitter::begin_tallies(const Hyperblock& loop) {
  constexpr unsigned kMostOfCrowded = 2;  // the last registers that take turns
  const unsigned end = allocation_.crowded ? std::size(kPool) : kHosts;
  const unsigned begin = allocation_.crowded ? end - kMostOfCrowded : allocation_.free;
  std::vector<asmjit::x86::Reg> free(kPool + begin, kPool + end);
  std::vector<asmjit::x86::Reg> free_f;
  for (unsigned f = allocation_.free_f; f < allocation_.end_f; ++f)
    free_f.push_back(x86::xmm(kFirstHostF + f));
  if (!free.empty() && different_costs(loop) > free.size()) {
    tallies_.push_back({{}, free.back(), true});
    free.pop_back();
  }
  for (const Step& step : loop.steps) {
    if (step.kind != Kind::choose) continue;
    const Choice& choice = loops_.choices[step.choice];
    const bool masks = choice.compared != nullptr;
    const asmjit::x86::Reg* const each =
        choice.more.is({}) ? nullptr : tally_for(choice.more, masks, masks ? free_f : free);
    if (each != nullptr) tally_of_.emplace(step.choice, *each);
    const asmjit::x86::Reg* const both =
        choice.both ? tally_for(*choice.both, false, free) : nullptr;
    if (both != nullptr) both_of_.emplace(&choice, both->as<Gp>());
  }
  if (tallies_.empty()) return;
  zero_tallies();
  tally_routines_.push_back(a_.newLabel());
  cold(tally_routines_.back(), [this, all = tallies_] {
    pushed_ = 8;  // the return address
    add_up(all);
    pushed_ = 0;
    a_.ret();
  });
}

/// Number of different costs of a loop's choices that general registers can count or sum.
std::size_t Emitter::different_costs(const Hyperblock& loop) const {
  std::vector<PathCost> costs;
  const auto add = [&](const PathCost& each) {
    if (can_sum(each) &&
        std::ranges::none_of(costs, [&](const PathCost& known) { return known.is(each); }))
      costs.push_back(each);
  };
  for (const Step& step : loop.steps) {
    if (step.kind != Kind::choose) continue;
    const Choice& choice = loops_.choices[step.choice];
    if (!choice.more.is({}) && choice.compared == nullptr) add(choice.more);
    if (choice.both) add(*choice.both);
  }
  return costs.size();
}

/// The register that counts choices of this cost, taken from `free` if it is new; null: none is
/// free.
const x86::Reg* Emitter::tally_for(const PathCost& each, bool masks, std::vector<x86::Reg>& free) {
  const auto same = std::find_if(tallies_.begin(), tallies_.end(), [&](const Tally& known) {
    return !known.sums && known.each.is(each) && known.host.isVec() == masks;
  });
  if (same != tallies_.end()) return &same->host;
  if (free.empty()) return nullptr;
  tallies_.push_back({each, free.back(), false});
  free.pop_back();
  return &tallies_.back().host;
}

/// Adds the costs counted so far.
void Emitter::end_tallies() {
  if (std::exchange(turns_.tallies, 0) != 0) add_up(tallies_);
}

void Emitter::zero_tallies() {
  for (const Tally& each : tallies_) {
    if (each.host.isVec())
      a_.vpxor(each.host.as<Xmm>(), each.host.as<Xmm>(), each.host.as<Xmm>());
    else
      a_.xor_(each.host.as<Gp>(), each.host.as<Gp>());
  }
}

void Emitter::add_up(const std::vector<Tally>& tallies) {
  const auto add_to_sum = [&](const asmjit::Operand& sum, std::int64_t each) {
    if (each == 0) return;
    if (each == static_cast<std::int32_t>(each)) {
      a_.imul(x86::rax, x86::rdx, imm(each));
    } else {
      a_.mov(x86::rax, imm(each));
      a_.imul(x86::rax, x86::rdx);
    }
    a_.emit(x86::Inst::kIdAdd, sum, x86::rax);
  };
  for (const auto& [each, host, sums] : tallies) {
    if (sums) {
      a_.movsxd(x86::rdx, host.as<Gp>().r32());
      a_.mov(x86::rax, host.as<Gp>().r64());
      a_.sub(x86::rax, x86::rdx);
      a_.sar(x86::rax, imm(32));
      a_.emit(x86::Inst::kIdAdd, slots(), x86::rax);
      a_.emit(x86::Inst::kIdAdd, work(), x86::rdx);
      continue;
    }
    if (host.isVec())
      a_.vmovd(x86::edx, host.as<Xmm>());
    else
      a_.mov(x86::edx, host.as<Gp>());
    add_to_sum(slots(), each.slots);
    add_to_sum(work(), static_cast<std::int64_t>(each.work));
    if (!setting_.counts) continue;
    activities_.push_back({a_.newLabel(), each.done});
    a_.vmovd(x86::xmm0, x86::edx);
    a_.vpbroadcastd(x86::ymm0, x86::xmm0);
    for (unsigned i = 0; i < kDoneVectors; ++i) {
      const x86::Ymm done = x86::ymm(kFirstDone + i);
      a_.vpmulld(x86::ymm1, x86::ymm0,
                 x86::ptr(activities_.back().label, static_cast<int>(32 * i)));
      a_.vpaddd(done, done, x86::ymm1);
    }
  }
}

}  // namespace tessera::engine::native
