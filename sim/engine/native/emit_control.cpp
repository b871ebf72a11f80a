#include "sim/engine/native/emitter.h"
#include "sim/engine/native/layout.h"
#include "sim/engine/native/translation.h"

/// Branches, jumps and loops, and what the edges that they take add.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using enum isa::Mnemonic;

namespace {
bool always_taken(const Step& step) {
  return step.kind == Kind::jump ||
         (step.instruction.mnemonic == bdnz && step.instruction.rs1 == 0);
}
}  // namespace

void Emitter::add_work(std::uint64_t work) {
  const auto value = static_cast<std::int64_t>(work);
  if (value == static_cast<std::int32_t>(value)) {
    a_.emit(x86::Inst::kIdAdd, this->work(), imm(value));
  } else {
    a_.mov(x86::rax, imm(value));
    a_.emit(x86::Inst::kIdAdd, this->work(), x86::rax);
  }
}

/// The sign of the slots is in the host's flags.
void Emitter::account(const Spent& spent) {
  if (setting_.counts) {
    activities_.push_back({a_.newLabel(), spent.done});
    for (unsigned i = 0; i < kDoneVectors; ++i) {
      const x86::Ymm done = x86::ymm(kFirstDone + i);
      a_.vpaddd(done, done, x86::ptr(activities_.back().label, static_cast<int>(32 * i)));
    }
  }
  for (std::size_t i = 0; i < kCauses; ++i) {
    if (spent.waits[i] == 0) continue;
    a_.add(x86::qword_ptr(x86::rbx, context_at::kWaits + static_cast<int>(8 * i)),
           imm(spent.waits[i]));
  }
  add_work(spent.work);
  a_.emit(x86::Inst::kIdAdd, this->slots(), imm(spent.slots));
}

/// Adds what was executed since the node began.
void Emitter::account(const Way& way, const Turns& turns) {
  call_tallies(turns);
  Spent spent = owed_[turns.owed];
  spent.add(way);
  account(spent);
}

void Emitter::account(const Turns& turns) {
  call_tallies(turns);
  if (turns.owed != 0) account(owed_[turns.owed]);
}

/// Where turns are left in the middle.
void Emitter::call_tallies(const Turns& turns) {
  if (turns.tallies != 0) a_.call(tally_routines_[turns.tallies]);
}

void Emitter::owe(const Spent& spent) {
  owed_.push_back(owed_[turns_.owed]);
  owed_.back().add(spent);
  turns_.owed = owed_.size() - 1;
}

void Emitter::owe(const Way& way) {
  Spent spent;
  spent.add(way);
  owe(spent);
}

/// Where the way leads in the region.
Emitter::Label Emitter::target(const Way& way) const {
  if (way.node == kOutside) return {};
  const auto number = static_cast<std::size_t>(way.node);
  return number == number_ ? again_ : nodes_[number];
}

/// Leaves the node at hand over the way's edge.
void Emitter::take(const Way& way, const Turns& turns, const Label& to, const Debt& debt) {
  settle(debt);
  account(way, turns);
  go(way, to, debt.kept);
}

/// After account(): the sign of the slots is in the host's flags. `unboxed`: f registers whose
/// boxes only the interpreter needs.
void Emitter::go(const Way& way, const Label& to, std::uint32_t unboxed) {
  const Label due = a_.newLabel();
  const Signature* const after = way.passing != nullptr ? way.passing->to : nullptr;
  const auto to_target = [this, &edge = *way.edge, after] {
    if (setting_.timed) {
      a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(after)));
      a_.mov(x86::qword_ptr(x86::rbx, context_at::kSignature), x86::rax);
    }
    a_.mov(x86::rdx, imm(reinterpret_cast<std::uint64_t>(&edge.target)));
    a_.mov(x86::rdx, x86::qword_ptr(x86::rdx));
  };
  cold(due, [this, to_target, unboxed] {
    settle({.unboxed = unboxed});
    to_target();
    a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(&due_handler)));
    a_.jmp(common_exit_);
  });
  if (to.isValid()) {
    a_.js(to);
    a_.jmp(due);
    return;
  }
  a_.jns(due);
  to_target();
  a_.mov(x86::rax, x86::qword_ptr(x86::rdx, op_at::kHandler));
  a_.jmp(common_exit_);
}

/// Goes to `single` where slots may run out at an edge before the last, or an rpt has fewer turns
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

/// The end of a turn that another one follows.
void Emitter::emit_again(const Step& step) {
  if (step.kind == Kind::choose) return emit_step(step);
  ++step_;
  ahead_ = ahead_.subspan(1);
  if (step.kind == Kind::loop_end || always_taken(step)) return;
  const Label out = a_.newLabel();
  a_.j(x86::negateCond(condition(step)), out);
  behind_known_ &= singles_.known;
  cold(out, [this, now = debt(), turns = turns_, behind = behind_] {
    settle(now);
    account(turns);
    a_.jmp(behind);
  });
}

/// What is still to be added to either register is compared with.
void Emitter::compare_equal(unsigned a, unsigned b) {
  const std::int32_t more = lag_[a] - lag_[b];
  Gp first = get_behind(a, x86::eax);
  if (b == 0 && more == 0) {
    a_.test(first, first);
  } else if (b == 0) {
    a_.cmp(first, imm(-more));
  } else {
    const Gp second = get_behind(b, x86::edx);
    if (more != 0) {
      a_.lea(x86::eax, x86::ptr(first.r64(), more));
      first = x86::eax;
    }
    a_.cmp(first, second);
  }
}

/// Compares; the condition that is met where the branch is taken.
x86::CondCode Emitter::condition(const Step& step) {
  const isa::Instruction& is = step.instruction;
  if (is.mnemonic == bdnz) {
    get(is.rs1, x86::eax);
    a_.sub(into(is.rs1), imm(1));
    return x86::CondCode::kNE;
  }
  if (is.mnemonic == beq || is.mnemonic == bne) {
    compare_equal(is.rs1, is.rs2);
    return is.mnemonic == beq ? x86::CondCode::kE : x86::CondCode::kNE;
  }
  const Gp first = get(is.rs1, x86::eax);
  if (is.rs2 == 0)
    a_.test(first, first);
  else
    a_.cmp(first, get(is.rs2, x86::edx));
  switch (is.mnemonic) {
    case blt:
      return x86::CondCode::kL;
    case bge:
      return x86::CondCode::kGE;
    case bltu:
      return x86::CondCode::kB;
    default:
      return x86::CondCode::kAE;
  }
}

/// The end of the last turn.
void Emitter::emit_back(const Step& step) {
  const bool ends = step.kind == Kind::loop_end;
  if (!ends) emit_again(step);
  end_tallies();
  if (ends) return emit_loop_end(step);
  if (step.kind != Kind::choose) return take(region_.way_of(step));
  const Debt now = debt(static_cast<int>(number_));
  settle(now);
  account(turns_);
  go(region_.way_of(step), again_, now.kept);
}

void Emitter::emit_branch(const Step& step) {
  const Way way = region_.way_of(step);
  if (always_taken(step)) return take(way);
  const x86::CondCode taken = condition(step);
  const bool back = way.node != kOutside && static_cast<std::size_t>(way.node) <= number_;
  if (back) {
    const Label on = a_.newLabel();
    a_.j(x86::negateCond(taken), on);
    take(way);
    a_.bind(on);
    return;
  }
  const Label label = a_.newLabel();
  a_.j(taken, label);
  cold(label, [this, way, now = debt(way.node), turns = turns_, to = target(way)] {
    take(way, turns, to, now);
  });
}

void Emitter::emit_jump(const Step& step) {
  const isa::Instruction& is = step.instruction;
  if (is.rd != 0) a_.mov(into(is.rd), imm(step.op->imm));
  take(region_.way_of(step));
}

/// A target that is not known is the interpreter's.
void Emitter::emit_jump_register(const Step& step) {
  const Node& node = region_.nodes[step.node];
  const isa::Instruction& is = step.instruction;
  const Gp base = get(is.rs1, x86::edx);
  settle(debt());
  if (node.returns.empty()) return leave(step.op, node.signature);
  a_.lea(x86::edx, x86::ptr(base.r64(), is.imm));
  a_.and_(x86::edx, imm(-2));
  std::vector<Label> found;
  for (const auto& [pc, next] : node.returns) {
    found.push_back(a_.newLabel());
    a_.cmp(x86::edx, imm(pc));
    a_.je(found.back());
  }
  leave(step.op, node.signature);
  for (std::size_t i = 0; i < found.size(); ++i) {
    a_.bind(found[i]);
    if (is.rd != 0 && hosted(is.rd)) a_.mov(host(is.rd), imm(step.op->edge->pc));
    if (is.rd != 0 && !hosted(is.rd)) a_.mov(home(is.rd), imm(step.op->edge->pc));
    Way way = node.ways[step.way];
    way.node = node.returns[i].second;
    account(way, {});
    a_.js(nodes_[static_cast<std::size_t>(way.node)]);
    // The interpreter finds the block once more, as if slots had run out at any other edge.
    const Signature* const after = way.passing != nullptr ? way.passing->to : nullptr;
    const Op* const target = region_.nodes[static_cast<std::size_t>(way.node)].first;
    if (setting_.timed) {
      a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(after)));
      a_.mov(x86::qword_ptr(x86::rbx, context_at::kSignature), x86::rax);
    }
    a_.mov(x86::rdx, imm(reinterpret_cast<std::uint64_t>(target)));
    a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(&due_handler)));
    a_.jmp(common_exit_);
  }
}

/// Where no pass is asked for the interpreter faults.
void Emitter::emit_loop(const Step& step) {
  const Way& way = region_.way_of(step);
  const Gp times = get(step.instruction.rs1, x86::eax);
  settle(debt());
  if (way.node == kOutside) return leave(step.op, region_.nodes[step.node].signature);
  a_.test(times, times);
  a_.jz(leave_before(step));
  if (hosted(kLoopCounter))
    a_.mov(host(kLoopCounter), times);
  else
    a_.mov(home(kLoopCounter), times);
  account(way, {});
  a_.jmp(nodes_[static_cast<std::size_t>(way.node)]);
}

void Emitter::count_loops(std::uint32_t turns) {
  if (hosted(kLoopCounter))
    a_.sub(host(kLoopCounter), imm(turns));
  else
    a_.sub(home(kLoopCounter), imm(turns));
}

void Emitter::emit_loop_end(const Step& step) {
  const Node& node = region_.nodes[step.node];
  const Way& again = node.ways[step.way];
  const Way& out = node.ways[step.way + 1];
  const Signature* const after = again.passing != nullptr ? again.passing->to : nullptr;
  Debt now = debt(again.node);
  const std::uint32_t kept = now.kept & debt(out.node).kept;
  now.unboxed |= now.kept & ~kept;
  now.kept = kept;
  const auto due = [&](const Op* op, bool inside) {
    settle({.unboxed = now.kept});
    if (setting_.timed) {
      a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(after)));
      a_.mov(x86::qword_ptr(x86::rbx, context_at::kSignature), x86::rax);
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
