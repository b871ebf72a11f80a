#include "sim/engine/taint_walk.h"

#include <algorithm>
#include <cstring>

#include "sim/engine/csr.h"
#include "sim/engine/hart.h"
#include "sim/engine/instruction_kind.h"
#include "sim/engine/semantics/integer.h"
#include "sim/engine/semantics/integer_unit.h"
#include "sim/engine/semantics/memory.h"
#include "sim/engine/walk_hart.h"
#include "sim/isa/table.h"

namespace tessera::engine {

using isa::IssueClass;
using isa::Mnemonic;

namespace {

constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 33;

template <Mnemonic M>
concept Executes = requires(WalkHart& hart) {
  semantics::execute(Is<M>{}, hart);
};
template <Mnemonic M>
concept Decides = requires(WalkHart& hart) {
  semantics::taken(Is<M>{}, hart);
};

/// Executes an instruction that changes x registers or memory; false if it was refused.
bool perform(Mnemonic mnemonic, WalkHart& hart) {
  const auto execute = []<Mnemonic M>(Is<M> which, WalkHart& with) {
    constexpr IssueClass kIssue = isa::info(M).issue;
    if constexpr ((kIssue == IssueClass::integer || kIssue == IssueClass::memory) && Executes<M>) {
      if constexpr (std::is_void_v<decltype(semantics::execute(which, with))>)
        return semantics::execute(which, with), true;
      else
        return semantics::execute(which, with);
    } else {
      return false;
    }
  };
  switch (mnemonic) {
#define X(id, ...)   \
  case Mnemonic::id: \
    return execute(Is<Mnemonic::id>{}, hart);
#include "sim/isa/table.def"
  }
  return false;
}

bool takes(Mnemonic mnemonic, WalkHart& hart) {
  const auto taken = []<Mnemonic M>(Is<M> which, WalkHart& with) {
    if constexpr (Decides<M>)
      return semantics::taken(which, with);
    else
      return false;
  };
  switch (mnemonic) {
#define X(id, ...)   \
  case Mnemonic::id: \
    return taken(Is<Mnemonic::id>{}, hart);
#include "sim/isa/table.def"
  }
  return false;
}

}  // namespace

TaintWalk::TaintWalk(const WalkCode& code, Context& context, TaintedMemory& memory, TaintSets& sets)
    : code_(code),
      context_(context),
      memory_(memory),
      sets_(sets),
      who_(code.role() == Role::worker ? TaintedMemory::Who::worker
                                       : TaintedMemory::Who::supervisor),
      loads_anywhere_(code.role() == Role::worker) {}

void TaintWalk::forget_registers() {
  taints_.fill(kUnknown);
  taints_[0] = kKnown;
  tainted_ = ~1U;
}

void TaintWalk::know(std::uint32_t reg, std::uint32_t value) {
  context_.x[reg] = value;
  set_taint(reg, kKnown);
}

void TaintWalk::set_taint(std::uint32_t reg, Taint taint) {
  if (reg == 0 || reg >= kSink) return;
  taints_[reg] = taint;
  tainted_ = taint == kKnown ? tainted_ & ~(1U << reg) : tainted_ | 1U << reg;
}

Taint TaintWalk::taint_of(std::uint32_t registers) {
  std::uint32_t left = registers & tainted_;
  Taint taint = kKnown;
  for (; left != 0; left &= left - 1)
    taint = sets_.join(taint, taints_[static_cast<std::size_t>(std::countr_zero(left))]);
  return taint;
}

bool TaintWalk::refuse(Taint taint, const char* what) {
  const std::span<const std::uint32_t> buffers = sets_.buffers(taint);
  refusal_ = {what, pc_, {buffers.begin(), buffers.end()}};
  return false;
}

bool TaintWalk::require_known(std::uint32_t registers, const char* what) {
  if ((registers & tainted_) == 0) return true;
  return refuse(taint_of(registers), what);
}

bool TaintWalk::arithmetic(const Step& step) {
  const Taint taint = taint_of(step.reads);
  if (recorder_ != nullptr) {
    if (taint == kKnown)
      recorder_->arithmetic(step.instruction.mnemonic, step.op, step.reads);
    else
      recorder_->forget(step.op.rd);
  }
  if (taint == kKnown) {
    WalkHart hart(*this, step);
    perform(step.instruction.mnemonic, hart);
  }
  set_taint(step.op.rd, taint);
  return true;
}

/// A load at an unknown address takes the same time anywhere and loads an unknown value. Leaves out
/// that it may fault. Refused if the address could be looked up.
bool TaintWalk::load_anywhere(const Step& step, Taint address) {
  const isa::InstructionInfo& info = isa::info(step.instruction.mnemonic);
  if (!loads_anywhere_ || info.bytes_loaded == 0 || info.bytes_stored != 0 || step.loads_index ||
      !sets_.buffers(address).empty())
    return refuse(address, "an address that is a value");
  const auto becomes_value = [&](std::uint8_t reg) {
    set_taint(reg, address);
    if (recorder_ != nullptr) recorder_->forget(reg);
  };
  std::ranges::for_each(step.bases, becomes_value);
  if (step.loads_x) becomes_value(step.op.rd);
  return true;
}

bool TaintWalk::access(const Step& step) {
  if ((step.reads & tainted_) != 0) return load_anywhere(step, taint_of(step.reads));
  if (recorder_ != nullptr)
    recorder_->begin_access(std::span(step.bases).first(step.loads_index ? 1 : step.bases.size()),
                            step.others, step.moves);
  WalkHart hart(*this, step, step.stores_x && taints_[step.stored] == kKnown);
  if (!perform(step.instruction.mnemonic, hart)) return false;
  if (!step.loads_x) return true;
  set_taint(step.op.rd, hart.loaded());
  if (recorder_ != nullptr) {
    if (hart.loaded() == kKnown)
      recorder_->loaded(step.op.rd);
    else
      recorder_->forget(step.op.rd);
  }
  return true;
}

/// Sets a jump's link register to the return address.
void TaintWalk::link(const Step& step) {
  context_.x[step.op.rd] = pc_ + kBytesOfInstruction;
  set_taint(step.op.rd, kKnown);
  if (recorder_ != nullptr) recorder_->forget(step.op.rd);
}

/// Branches and jumps: sets pc_.
bool TaintWalk::control(const Step& step) {
  const auto distance = static_cast<std::uint32_t>(step.instruction.imm);
  switch (step.kind) {
    case WalkCode::Kind::branch: {
      if (!require_known(step.reads, "a branch on a value")) return false;
      if (recorder_ != nullptr)
        recorder_->compare(step.instruction.mnemonic, step.op.rs1, step.op.rs2);
      WalkHart hart(*this, step);
      pc_ = takes(step.instruction.mnemonic, hart) ? pc_ + distance : step.next;
      return true;
    }
    case WalkCode::Kind::jump:
      link(step);
      pc_ += distance;
      return true;
    case WalkCode::Kind::jump_register: {
      if (!require_known(step.reads, "a jump to a value")) return false;
      if (recorder_ != nullptr) recorder_->decide(step.reads);
      const std::uint32_t target = (context_.x[step.op.rs1] + distance) & ~1U;
      link(step);
      pc_ = target;
      return true;
    }
    default:
      if (!require_known(step.reads, "a count that is a value")) return false;
      if (recorder_ != nullptr) recorder_->decide(step.reads);
      loops_left_ = context_.x[step.op.rs1];
      loop_begin_ = pc_ + kBytesOfInstruction;
      loop_end_ = pc_ + distance;
      if (loops_left_ == 0 || loop_end_ <= loop_begin_)
        return refuse(kUnknown, "a loop that faults");
      pc_ = loop_begin_;
      return true;
  }
}

bool TaintWalk::csr(const Step& step) {
  constexpr std::uint32_t kFlags = 1, kRounding = 2, kBoth = 3, kStatus = 0x300;
  constexpr std::uint32_t kWorker = 0xcc0, kWorkers = 0xcc2;
  constexpr std::uint32_t kModes = 5;  // of rounding
  const auto number = static_cast<std::uint32_t>(step.instruction.imm);
  const bool floating = number == kFlags || number == kRounding || number == kBoth;
  if (!require_known(step.reads, "a mode that is a value")) return false;
  if (!execute_csr(step.instruction, context_, 0, 0))
    return refuse(kUnknown, "a register that faults");
  if ((context_.fcsr >> kModes) > 4) return refuse(kUnknown, "a rounding mode that does not exist");
  const bool known = !floating && (number == kWorker || number == kWorkers || number == kStatus);
  set_taint(step.instruction.rd, known ? kKnown : kUnknown);
  if (recorder_ != nullptr) {
    recorder_->decide(step.reads);
    recorder_->forget(step.instruction.rd);
  }
  return true;
}

/// A worker's transfer with external memory.
bool TaintWalk::transfer(const Step& step) {
  const isa::Instruction& its = step.instruction;
  if (!require_known(step.reads, "a transfer of an address or size that is a value")) return false;
  if (recorder_ != nullptr) recorder_->leave_out();
  const std::uint32_t address = context_.x[its.rs1];
  const std::uint32_t bytes = context_.x[its.rd];
  if (std::uint64_t{address} + bytes > memory_.size())
    return refuse(kUnknown, "a transfer that faults");
  if (its.mnemonic == Mnemonic::ldma && !memory_.write(address, bytes, who_, nullptr))
    return refuse(kUnknown, "a transfer over what has decided");
  return true;
}

bool TaintWalk::stop(const Step& step, Exit& exit, bool& stopped) {
  const isa::Instruction& its = step.instruction;
  const auto imm = static_cast<std::uint32_t>(its.imm);
  exit = {stop_of(its), Fault::none, pc_, 0, {}};
  stopped = exit.stop != Stop::dma;
  switch (exit.stop) {
    case Stop::dma:
      return transfer(step);
    case Stop::run:
      if (!require_known(step.reads, "a worker whose code or arguments are a value")) return false;
      exit.operand[0] = context_.x[its.rs1];
      exit.operand[1] = context_.x[its.rs2];
      exit.operand[2] = context_.x[its.rd];
      exit.operand[3] = imm;
      return true;
    case Stop::load_weights: {
      if (!require_known(step.reads, "an address that is a value")) return false;
      const std::uint32_t words = ((imm >> 6 & 0x3fU) + 1) << (imm >> 12);
      if (its.rs1 != 0) context_.x[its.rs1] += 8 * words;
      return true;
    }
    case Stop::exchange_start:
    case Stop::exchange_wait:
      exit.operand[0] = context_.x[its.rs1];
      return true;
    case Stop::environment_call:
      return refuse(kUnknown, "a call of the environment");
    default:
      return true;
  }
}

bool TaintWalk::run(Exit& exit) {
  using Kind = WalkCode::Kind;
  pc_ = context_.pc;
  for (;;) {
    const Step* const step = code_.at(pc_);
    if (step == nullptr) return refuse(kUnknown, "a jump out of the code");
    if (++steps_ > kMostSteps) return refuse(kUnknown, "code that goes on for long");
    std::uint32_t next = step->next;
    bool done = true;
    bool stopped = false;
    if (recorder_ != nullptr) recorder_->begin(step->uses, step->sets);
    switch (step->kind) {
      case Kind::nothing:
        if (loops_left_ != 0 && pc_ == loop_begin_ && next >= loop_end_) loops_left_ = 1;
        break;
      case Kind::unknown_rd:
        set_taint(step->op.rd, kUnknown);
        if (recorder_ != nullptr) recorder_->forget(step->op.rd);
        break;
      case Kind::arithmetic:
        done = arithmetic(*step);
        break;
      case Kind::access:
        done = access(*step);
        break;
      case Kind::branch:
      case Kind::jump:
      case Kind::jump_register:
      case Kind::loop:
        if (!control(*step)) return false;
        continue;
      case Kind::csr:
        done = csr(*step);
        break;
      case Kind::stop:
        done = stop(*step, exit, stopped);
        break;
      case Kind::illegal:
        return refuse(kUnknown, "an instruction that faults");
    }
    if (!done) return false;
    if (loops_left_ != 0 && next >= loop_end_) next = --loops_left_ != 0 ? loop_begin_ : loop_end_;
    pc_ = next;
    if (stopped) {
      context_.pc = exit.pc + kBytesOfInstruction;
      return true;
    }
  }
}

}  // namespace tessera::engine
