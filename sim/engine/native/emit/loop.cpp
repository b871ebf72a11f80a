#include <algorithm>
#include <bit>

#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"
#include "sim/engine/native/translation.h"

/// Loops: unrolled hyperblocks, and rpt.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;

/// The unroll factor of a loop.
std::uint32_t Emitter::turns_in_a_row(const Hyperblock& loop) const {
  std::size_t steps = loop.steps.size();
  for (const Step& step : loop.steps) {
    if (step.kind != Kind::choose) continue;
    const Choice& choice = loops_.choices[step.choice];
    steps += choice.sides[0].size() + choice.sides[1].size() + choice.x.size() + choice.f.size();
  }
  constexpr std::size_t kMostSteps = 256;
  constexpr std::size_t kMost = 8;
  return static_cast<std::uint32_t>(
      std::bit_floor(std::clamp(kMostSteps / steps, std::size_t{1}, kMost)));
}

/// Emits the unrolled loop, then a label for single turns: for when slots run out within the turns,
/// or an rpt has fewer left.
void Emitter::emit_turns(const Hyperblock& loop, std::uint32_t times) {
  const Step& back = loop.steps.back();
  const Label single = a_.newLabel();
  behind_ = a_.newLabel();
  behind_known_ = ~std::uint64_t{0};
  turns_ = {.counted = back.kind == Kind::loop_end};
  emit_guard(loop, times, single);
  begin_tallies(loop);
  std::vector<Step> all;
  for (std::uint32_t i = 0; i < times; ++i)
    all.insert(all.end(), loop.steps.begin(), loop.steps.end());
  begin_steps(all);
  for (; turns_.times < times; ++turns_.times) {
    for (const Step& step : std::span(loop.steps).first(loop.steps.size() - 1)) emit_step(step);
    if (turns_.times + 1 == times) {
      emit_back(back);
    } else {
      emit_again(back);
      if (back.kind != Kind::choose) owe(region_.exit_of(back));
    }
  }
  turns_ = {};
  forget_tallies();
  start_singles(number_);
  a_.bind(single);
  again_ = single;
}

/// Emits a list that is not a loop, then a label for the plain nodes: for when slots run out within
/// it.
void Emitter::emit_stretch(const Hyperblock& block) {
  const Label single = a_.newLabel();
  emit_guard(block, 1, single);
  begin_tallies(block);
  begin_steps(block.steps);
  for (const Step& step : std::span(block.steps).first(block.steps.size() - 1)) emit_step(step);
  end_tallies();
  account(turns_);
  turns_ = {};
  emit_step(block.steps.back());
  forget_tallies();
  start_singles(number_);
  a_.bind(single);
}

void Emitter::forget_tallies() {
  tallies_.clear();
  tally_of_.clear();
  both_of_.clear();
}

/// Goes to `single` if slots may run out at an edge before the last, or an rpt has fewer turns
/// left.
void Emitter::emit_guard(const Hyperblock& loop, std::uint32_t times, const Label& single) {
  const auto before = static_cast<std::int64_t>(loop.inner ? times : times - 1);
  a_.emit(x86::Inst::kIdMov, x86::rax, slots());
  a_.add(x86::rax, imm(before * loop.most_slots));
  a_.jns(single);
  if (loop.steps.back().kind != Kind::loop_end) return;
  if (hosted(kLoopCounter))
    a_.cmp(host(kLoopCounter), imm(times));
  else
    a_.cmp(home(kLoopCounter), imm(times));
  a_.jb(single);
}

/// Emits the end of a turn that is followed by another one.
void Emitter::emit_again(const Step& step) {
  if (step.kind == Kind::choose) return emit_step(step);
  ++step_;
  ahead_ = ahead_.subspan(1);
  before(step);
  if (step.kind == Kind::loop_end || step.always_taken()) return;
  const Label out = a_.newLabel();
  a_.j(x86::negateCond(condition(step)), out);
  behind_known_ &= singles_.known;
  cold(out, [this, now = debt(), turns = turns_, behind = behind_] {
    settle(now);
    account(turns);
    a_.jmp(behind);
  });
}

/// Emits the end of the last turn.
void Emitter::emit_back(const Step& step) {
  const bool ends = step.kind == Kind::loop_end;
  if (!ends) emit_again(step);
  end_tallies();
  if (ends) return emit_loop_end(step);
  if (step.kind != Kind::choose) return take(region_.exit_of(step));
  const Debt now = debt(static_cast<int>(number_));
  settle(now);
  account(turns_);
  go(region_.exit_of(step), again_, now.kept);
}

/// For a count of 0 the interpreter faults.
void Emitter::emit_loop(const Step& step) {
  const Exit& exit = region_.exit_of(step);
  const Gp times = get(step.instruction.rs1, x86::eax);
  settle(debt());
  if (exit.node == kOutside) return leave(step.op, region_.nodes[step.node].pipeline_state);
  a_.test(times, times);
  a_.jz(leave_before(step));
  if (hosted(kLoopCounter))
    a_.mov(host(kLoopCounter), times);
  else
    a_.mov(home(kLoopCounter), times);
  account(exit, {});
  a_.jmp(nodes_[static_cast<std::size_t>(exit.node)]);
}

void Emitter::count_loops(std::uint32_t turns) {
  if (hosted(kLoopCounter))
    a_.sub(host(kLoopCounter), imm(turns));
  else
    a_.sub(home(kLoopCounter), imm(turns));
}

void Emitter::emit_loop_end(const Step& step) {
  const Node& node = region_.nodes[step.node];
  const Exit& again = node.exits[step.exit];
  const Exit& out = node.exits[step.exit + 1];
  const PipelineState* const after = again.transition != nullptr ? again.transition->to : nullptr;
  Debt now = debt(again.node);
  const std::uint32_t kept = now.kept & debt(out.node).kept;
  now.unboxed |= now.kept & ~kept;
  now.kept = kept;
  const auto due = [&](const Op* op, bool inside) {
    settle({.unboxed = now.kept});
    if (setting_.timed) {
      a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(after)));
      a_.mov(x86::qword_ptr(x86::rbx, context_at::kPipelineState), x86::rax);
    }
    if (inside) {
      a_.mov(x86::rdx, imm(reinterpret_cast<std::uint64_t>(&step.op->edge->target)));
      a_.mov(x86::rdx, x86::qword_ptr(x86::rdx));
    } else {
      a_.mov(x86::rdx, imm(reinterpret_cast<std::uint64_t>(op)));
    }
  };
  const auto hand_over = [&] {
    a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(&due_inside_handler)));
    a_.jmp(common_exit_);
  };
  const auto go_on = [&] {
    a_.mov(x86::rax, x86::qword_ptr(x86::rdx, op_at::kHandler));
    a_.jmp(common_exit_);
  };
  settle(now);
  const Label last = a_.newLabel();
  count_loops(turns_.times + 1);
  a_.jz(last);
  account(again, turns_);
  if (again.node != kOutside) a_.js(target(again));
  const Label due_again = a_.newLabel();
  if (again.node == kOutside) {
    a_.jns(due_again);
    due(nullptr, true);
    go_on();
  }
  a_.bind(due_again);
  due(nullptr, true);
  hand_over();

  a_.bind(last);
  account(out, turns_);
  const Label due_out = a_.newLabel();
  a_.jns(due_out);
  a_.mov(x86::rax, x86::qword_ptr(x86::rsp, stack::kFrame));
  a_.cmp(x86::byte_ptr(x86::rax, frame_at::kOverdrawn), imm(0));
  if (out.node != kOutside) {
    a_.je(nodes_[static_cast<std::size_t>(out.node)]);
  } else {
    a_.jne(due_out);
    due(step.op + 1, false);
    go_on();
  }
  a_.bind(due_out);
  due(step.op + 1, false);
  hand_over();
}

}  // namespace tessera::engine::native
