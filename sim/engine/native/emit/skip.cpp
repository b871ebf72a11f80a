#include <bit>
#include <utility>

#include "sim/engine/native/emit/emitter.h"

/// Branches within turns, over steps that cannot be executed speculatively.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;

/// Registers have the same places at the join, whether the branch was taken or not.
void Emitter::emit_skip(const Choice& choice, const Step& step) {
  const std::vector<Step>& side = choice.sides[0];
  std::uint32_t written = 0;
  for (const Step& each : side) written |= each.sets.writes_f;
  do_put_off(written);
  const Label join = a_.newLabel();
  a_.j(condition(step), join);
  const std::vector<Turn> turns = shared_;
  const Singles singles = singles_;
  emit_apart(side);
  do_put_off(written);
  restore_turns(turns);
  count_side(step);
  a_.bind(join);
  singles_.known &= singles.known;
  singles_.unboxed |= singles.unboxed;
  singles_.unchecked |= singles.unchecked;
  singles_.computed &= singles.computed;
  mask_of_ = nullptr;
  linked_ = nullptr;
  owe(choice.pass);
}

/// Adds the extra cost of the side that the branch does not skip.
void Emitter::count_side(const Step& step) {
  const PathCost& more = loops_.choices[step.choice].more;
  const auto tally = tally_of_.find(step.choice);
  if (tally != tally_of_.end()) {
    turns_.tallies = tally_routines_.size() - 1;
    a_.inc(tally->second.as<Gp>());
  } else if (more.is({})) {
    return;
  } else if (const Tally* const sum = setting_.counts ? nullptr : summing(more)) {
    a_.mov(x86::rax, imm((static_cast<std::uint64_t>(more.slots) << 32U) + more.work));
    a_.add(sum->host.as<Gp>().r64(), x86::rax);
  } else {
    account(more);
  }
}

/// Emits steps that are not in the current plans, with plans of their own.
void Emitter::emit_apart(std::span<const Step> steps) {
  AddressPlan plan = std::exchange(plan_, plan_addresses(steps));
  WidePlan wide = std::exchange(wide_, {});
  const std::size_t access = std::exchange(access_, 0);
  const std::span<const Step> ahead = std::exchange(ahead_, steps);
  const std::span<const Step> all = std::exchange(all_steps_, steps);
  for (const Step& each : steps) emit_step(each);
  plan_ = std::move(plan);
  wide_ = std::move(wide);
  access_ = access;
  ahead_ = ahead;
  all_steps_ = all;
}

/// Does all pending work, of f registers only for `f_registers`.
void Emitter::do_put_off(std::uint32_t f_registers) {
  make_all([](const isa::Instruction&) { return true; });
  ++step_;
  answer();
  for (unsigned x = 1; x < lag_.size(); ++x) {
    ++step_;
    if (lag_[x] != 0) get(x, x86::eax);
  }
  for (std::uint32_t left = f_registers; left != 0; left &= left - 1)
    get_f(static_cast<unsigned>(std::countr_zero(left)), x86::xmm0);
}

/// Gives shared registers back to the x registers that had them.
void Emitter::restore_turns(const std::vector<Turn>& turns) {
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (shared_[i].x == turns[i].x) continue;
    vacate(i);
    shared_[i] = {};
  }
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const bool kept = shared_[i].x == turns[i].x;
    if (!kept) a_.mov(turn_host(i), home(static_cast<unsigned>(turns[i].x)));
    shared_[i] = {turns[i].x, turns[i].unsaved || (kept && shared_[i].unsaved), step_};
  }
}

}  // namespace tessera::engine::native
