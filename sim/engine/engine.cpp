#include <algorithm>

#include "sim/engine/code.h"
#include "sim/engine/csr.h"
#include "sim/engine/engine.h"
#include "sim/engine/memory_access.h"
#include "sim/engine/op.h"
#include "sim/isa/float/host_environment.h"

namespace tessera::engine {
namespace {

using isa::Instruction;
using isa::Mnemonic;

// Slots between two looks at the counters: few enough that 32 bits of instructions and of flops
// (at most 512 a slot) hold what happens meanwhile.
constexpr std::uint64_t kSlice = std::uint64_t{1} << 20;

/// One call of run(): enters the handlers, and does what they leave to it.
class Session {
 public:
  Session(const Code& code, Context& context, const TileMemory& memory, std::uint64_t limit,
          AccessLog* log)
      : code_(code), context_(context), left_(limit) {
    set_bounds(frame_, memory);
    frame_.code = &code;
    frame_.weights = memory.weights;
    frame_.log = log;
    frame_.entry_count = code.words();
  }

  Exit run() {
    choose_path();
    op_ = find(context_.pc);
    Exit exit{};
    while (!advance(exit)) {
    }
    context_.fcsr |= host_.take_flags();
    return exit;
  }

 private:
  /// Enters the handlers once; true when there is an exit to report.
  bool advance(Exit& exit) {
    const Cost used = enter();
    if (frame_.reason != Reason::stop) spend(used);
    switch (frame_.reason) {
      case Reason::due:
        op_ = frame_.op;
        return left_ == 0 && finish(exit, Stop::limit, code_.locate(op_).pc);
      case Reason::due_inside:
        op_ = frame_.op;
        return false;
      case Reason::find:
        op_ = code_.entry(frame_.path, frame_.pc);
        if (left_ != 0) return false;
        return finish(exit, Stop::limit, frame_.pc);
      case Reason::csr:
        return csr(exit);
      case Reason::stop:
        return stop(exit, used);
      case Reason::fault:
        break;
    }
    return fault(exit);
  }

  [[nodiscard]] Cost enter() {
    // Within rpt nobody may stop at the limit: slots beyond it are granted until the loop ends.
    const bool inside = frame_.reason == Reason::due_inside && frame_.loops_left != 0;
    frame_.overdrawn = inside && left_ == 0;
    const std::uint64_t granted = frame_.overdrawn ? kSlice : std::min(left_, kSlice);
    const std::int64_t start = -static_cast<std::int64_t>(granted);
    frame_.reason = Reason::due;
    op_->handler(op_, &context_, frame_.memory.bytes, &frame_, start, 0);
    return {frame_.slots - start, frame_.work};
  }

  void spend(const Cost& cost) {
    const auto slots = static_cast<std::uint64_t>(cost.slots);
    left_ -= std::min(left_, slots);
    context_.slots += slots;
    context_.instructions += cost.work & 0xffff'ffffU;
    context_.flops += cost.work >> 32;
  }

  [[nodiscard]] const Op* find(std::uint32_t pc) const {
    const bool aligned = pc % 4 == 0 && pc / 4 < frame_.entry_count;
    const Op* known = aligned ? frame_.entries[pc / 4].load(std::memory_order_acquire) : nullptr;
    return known != nullptr ? known : code_.entry(frame_.path, pc);
  }

  void choose_path() {
    const bool nearest_even = (context_.fcsr >> 5) == 0;
    frame_.path = frame_.log == nullptr && nearest_even ? Path::fast : Path::checked;
    frame_.entries = code_.entries(frame_.path);
  }

  bool finish(Exit& exit, Stop stop, std::uint32_t pc) {
    exit.stop = stop;
    exit.pc = pc;
    context_.pc = pc;
    return true;
  }

  bool fault(Exit& exit) {
    const Site site = code_.locate(frame_.op);
    spend(site.before);
    exit.fault = frame_.fault;
    exit.address = frame_.address;
    return finish(exit, Stop::fault, site.pc);
  }

  bool csr(Exit& exit) {
    const Edge& edge = *frame_.op->edge;
    const std::uint32_t pc = edge.pc - 4;
    spend(edge.before);
    context_.fcsr |= host_.take_flags();
    const Timing& timing = code_.timing();
    const std::uint64_t cycle = context_.base_cycle + context_.slots * timing.cycles_per_slot();
    if (!execute_csr(edge.instruction, context_, cycle, context_.instructions)) {
      exit.fault = Fault::illegal_instruction;
      return finish(exit, Stop::fault, pc);
    }
    spend(difference(edge.cost, edge.before));
    choose_path();
    op_ = code_.entry(frame_.path, edge.pc);
    return false;
  }

  bool stop(Exit& exit, const Cost& used) {
    const Edge& edge = *frame_.op->edge;
    spend({used.slots + edge.cost.slots, used.work + edge.cost.work});
    describe_stop(edge.instruction, exit);
    exit.pc = edge.pc - 4;
    context_.pc = edge.pc;
    return true;
  }

  void describe_stop(const Instruction& instruction, Exit& exit);

  static Cost difference(const Cost& a, const Cost& b) {
    return {a.slots - b.slots, a.work - b.work};
  }

  const Code& code_;
  Context& context_;
  std::uint64_t left_;  ///< slots until the limit
  Frame frame_;
  const Op* op_ = nullptr;
  fp::HostEnvironment host_;
};

void Session::describe_stop(const Instruction& instruction, Exit& exit) {
  const std::uint32_t rs1 = context_.x[instruction.rs1];
  const auto imm = static_cast<std::uint32_t>(instruction.imm);
  switch (instruction.mnemonic) {
    case Mnemonic::run:
      exit.stop = Stop::run;
      exit.operand[0] = rs1;
      exit.operand[1] = context_.x[instruction.rs2];
      exit.operand[2] = context_.x[instruction.rd];
      break;
    case Mnemonic::exch:
      exit.stop = Stop::exchange_start;
      exit.operand[0] = rs1;
      break;
    case Mnemonic::exch_wait:
      exit.stop = Stop::exchange_wait;
      break;
    case Mnemonic::ldcw: {
      exit.stop = Stop::load_weights;
      const std::uint32_t words = (imm >> 6) + 1;
      exit.operand[0] = rs1;
      exit.operand[1] = imm & 0x3f;
      exit.operand[2] = words;
      if (instruction.rs1 != 0) context_.x[instruction.rs1] += 8 * words;
      break;
    }
    case Mnemonic::xctl:
      exit.stop = imm == 0 ? Stop::end_worker : imm == 1 ? Stop::join : Stop::sync;
      if (exit.stop == Stop::sync) exit.operand[0] = imm - 16;
      break;
    default:
      exit.stop = Stop::environment_call;
  }
}

}  // namespace

Exit run(const Code& code, Context& context, const TileMemory& memory, std::uint64_t slot_limit) {
  return Session(code, context, memory, slot_limit, nullptr).run();
}

Exit run_recording(const Code& code, Context& context, const TileMemory& memory,
                   std::uint64_t slot_limit, AccessLog& log) {
  return Session(code, context, memory, slot_limit, &log).run();
}

std::string describe(Fault fault) {
  switch (fault) {
    case Fault::none:
      return "no fault";
    case Fault::misaligned:
      return "misaligned access";
    case Fault::out_of_range:
      return "access outside of SRAM";
    case Fault::write_to_code:
      return "write to code";
    case Fault::illegal_instruction:
      return "illegal instruction";
    case Fault::bad_loop:
      return "bad rpt loop (no passes, or a branch or control instruction in its body)";
    case Fault::not_allowed_here:
      return "instruction not allowed in this context";
    case Fault::breakpoint:
      return "breakpoint";
    case Fault::race:
      return "data race";
  }
  return "unknown fault";
}

}  // namespace tessera::engine
