#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"
#include "sim/engine/native/translation.h"

/// Branches and jumps, and the costs of the edges that they take.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using enum isa::Mnemonic;

void Emitter::add_work(std::uint64_t work) {
  const auto value = static_cast<std::int64_t>(work);
  if (value == static_cast<std::int32_t>(value)) {
    a_.emit(x86::Inst::kIdAdd, this->work(), imm(value));
  } else {
    a_.mov(x86::rax, imm(value));
    a_.emit(x86::Inst::kIdAdd, this->work(), x86::rax);
  }
}

/// Adds a cost; leaves the sign of the slots in the host's flags.
void Emitter::account(const PathCost& spent) {
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

/// Adds the cost since the node began, including the exit.
void Emitter::account(const Exit& exit, const Turns& turns) {
  call_tallies(turns);
  PathCost spent = owed_[turns.owed];
  spent.add(exit);
  account(spent);
}

void Emitter::account(const Turns& turns) {
  call_tallies(turns);
  if (turns.owed != 0) account(owed_[turns.owed]);
}

/// Adds counted costs where a turn is left in the middle.
void Emitter::call_tallies(const Turns& turns) {
  if (turns.tallies != 0) a_.call(tally_routines_[turns.tallies]);
}

void Emitter::owe(const PathCost& spent) {
  owed_.push_back(owed_[turns_.owed]);
  owed_.back().add(spent);
  turns_.owed = owed_.size() - 1;
}

void Emitter::owe(const Exit& exit) {
  PathCost spent;
  spent.add(exit);
  owe(spent);
}

/// The label to which the exit leads; invalid if outside the region.
Emitter::Label Emitter::target(const Exit& exit) const {
  if (exit.node == kOutside) return {};
  const auto number = static_cast<std::size_t>(exit.node);
  return number == number_ ? again_ : nodes_[number];
}

/// Leaves the current node over the exit's edge.
void Emitter::take(const Exit& exit, const Turns& turns, const Label& to, const Debt& debt) {
  settle(debt);
  account(exit, turns);
  go(exit, to, debt.kept);
}

/// Goes on after account(), with the sign of the slots in the host's flags. `unboxed`: f registers
/// whose boxes only the interpreter needs.
void Emitter::go(const Exit& exit, const Label& to, std::uint32_t unboxed) {
  const Label due = a_.newLabel();
  const PipelineState* const after = exit.transition != nullptr ? exit.transition->to : nullptr;
  const auto to_target = [this, &edge = *exit.edge, after] {
    if (setting_.timed) {
      a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(after)));
      a_.mov(x86::qword_ptr(x86::rbx, context_at::kPipelineState), x86::rax);
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

/// Compares two registers for equality, including their pending constants.
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

/// Emits the comparison; returns the condition that holds if the branch is taken.
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

void Emitter::emit_branch(const Step& step) {
  const Exit exit = region_.exit_of(step);
  if (step.always_taken()) return take(exit);
  const x86::CondCode taken = condition(step);
  const bool back = exit.node != kOutside && static_cast<std::size_t>(exit.node) <= number_;
  if (back) {
    const Label on = a_.newLabel();
    a_.j(x86::negateCond(taken), on);
    take(exit);
    a_.bind(on);
    return;
  }
  const Label label = a_.newLabel();
  a_.j(taken, label);
  cold(label, [this, exit, now = debt(exit.node), turns = turns_, to = target(exit)] {
    take(exit, turns, to, now);
  });
}

void Emitter::emit_jump(const Step& step) {
  const isa::Instruction& is = step.instruction;
  if (is.rd != 0) a_.mov(into(is.rd), imm(step.op->imm));
  take(region_.exit_of(step));
}

/// Leaves to the interpreter for an unknown target, which it records.
void Emitter::leave_elsewhere(const Step& step) {
  const Node& node = region_.nodes[step.node];
  if (node.targets.size() < kMostTargets && !node.calls && !step.returns()) {
    a_.mov(x86::rdx, imm(reinterpret_cast<std::uint64_t>(&step.op->edge->target)));
    a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(&step.op->edge->stub)));
    a_.mov(x86::qword_ptr(x86::rdx), x86::rax);
  }
  leave(step.op, node.pipeline_state);
}

void Emitter::emit_jump_register(const Step& step) {
  const Node& node = region_.nodes[step.node];
  const isa::Instruction& is = step.instruction;
  if (node.targets.empty()) {
    settle(debt());
    return leave_elsewhere(step);
  }
  std::vector<Label> found(node.targets.size());
  for (Label& each : found) each = a_.newLabel();
  if (node.calls) {
    settle(debt());
  } else {
    const Gp base = get(is.rs1, x86::edx);
    settle(debt());
    a_.lea(x86::edx, x86::ptr(base.r64(), is.imm));
    a_.and_(x86::edx, imm(-2));
    for (std::size_t i = 0; i < found.size(); ++i) {
      a_.cmp(x86::edx, imm(node.targets[i].first));
      a_.je(found[i]);
    }
    leave_elsewhere(step);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    a_.bind(found[i]);
    if (is.rd != 0 && hosted(is.rd)) a_.mov(host(is.rd), imm(step.op->edge->pc));
    if (is.rd != 0 && !hosted(is.rd)) a_.mov(home(is.rd), imm(step.op->edge->pc));
    Exit exit = node.exits[step.exit];
    exit.node = node.targets[i].second;
    account(exit, {});
    a_.js(nodes_[static_cast<std::size_t>(exit.node)]);
    // Slots have run out: the interpreter finds the block again, as at any other edge.
    const PipelineState* const after = exit.transition != nullptr ? exit.transition->to : nullptr;
    const Op* const target = region_.nodes[static_cast<std::size_t>(exit.node)].first;
    if (setting_.timed) {
      a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(after)));
      a_.mov(x86::qword_ptr(x86::rbx, context_at::kPipelineState), x86::rax);
    }
    a_.mov(x86::rdx, imm(reinterpret_cast<std::uint64_t>(target)));
    a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(&due_handler)));
    a_.jmp(common_exit_);
  }
}

}  // namespace tessera::engine::native
