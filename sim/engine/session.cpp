#include "sim/engine/session.h"

#include <algorithm>

#include "sim/engine/csr.h"
#include "sim/engine/memory_access.h"

namespace tessera::engine {
namespace {

using isa::Instruction;

// Slots between two looks at the counters: few enough that 32 bits of instructions and of flops
// (at most 512 a slot) hold what happens meanwhile.
constexpr std::uint64_t kSlice = std::uint64_t{1} << 20;

void count(Context& context, const Cost& cost) {
  context.slots += static_cast<std::uint64_t>(cost.slots);
  context.instructions += cost.work & 0xffff'ffffU;
  if (const std::uint64_t flops = cost.work >> 32; flops != 0) context.flops += flops;
}

Cost difference(const Cost& a, const Cost& b) { return {a.slots - b.slots, a.work - b.work}; }
Cost sum(const Cost& a, const Cost& b) { return {a.slots + b.slots, a.work + b.work}; }

bool finish(Exit& exit, Context& context, Stop stop, std::uint32_t pc) {
  exit.stop = stop;
  exit.pc = pc;
  context.pc = pc;
  return true;
}

/// What a control instruction hands to the caller from registers.
[[gnu::noinline]] void take_operands(const Edge& edge, Context& context, Exit& exit) {
  const Instruction& instruction = edge.instruction;
  const auto imm = static_cast<std::uint32_t>(instruction.imm);
  switch (edge.stop) {
    case Stop::run:
      exit.operand[0] = context.x[instruction.rs1];
      exit.operand[1] = context.x[instruction.rs2];
      exit.operand[2] = context.x[instruction.rd];
      break;
    case Stop::exchange_start:
      exit.operand[0] = context.x[instruction.rs1];
      break;
    case Stop::load_weights: {
      const std::uint32_t words = (imm >> 6) + 1;
      exit.operand[0] = context.x[instruction.rs1];
      exit.operand[1] = imm & 0x3f;
      exit.operand[2] = words;
      if (instruction.rs1 != 0) context.x[instruction.rs1] += 8 * words;
      break;
    }
    default:
      break;
  }
}

}  // namespace

Exit Session::run(const Code& code, Context& context, const TileMemory& memory,
                  std::uint64_t slot_limit) {
  Exit exit{};
  prepare(code, context, memory);
  const Op* const first = find(context.pc);
  Cost used = enter(first, context, std::min(slot_limit, kSlice));
  bool stopped = frame_.reason == Reason::stop;
  if (!stopped) [[unlikely]] {
    Call call{context, slot_limit, first, exit};
    stopped = go_on(call, used);
  }
  if (stopped) {
    const Edge& edge = *frame_.op->edge;
    count(context, sum(used, edge.cost));
    exit.stop = edge.stop;
    exit.pc = edge.pc - 4;
    exit.operand[0] = edge.zone;
    context.pc = edge.pc;
    if (edge.has_operands) take_operands(edge, context, exit);
  }
  context.fcsr |= host_.take_flags();
  return exit;
}

Exit Session::run_recording(const Code& code, Context& context, const TileMemory& memory,
                            std::uint64_t slot_limit, AccessLog& log) {
  frame_.log = &log;
  const Exit exit = run(code, context, memory, slot_limit);
  frame_.log = nullptr;
  return exit;
}

inline void Session::prepare(const Code& code, const Context& context, const TileMemory& memory) {
  if (memory.size != frame_.size || memory.code_end != frame_.code_end) set_bounds(frame_, memory);
  frame_.memory = &memory;
  frame_.weight_rows.clear();
  choose_path(code, context);
}

inline void Session::choose_path(const Code& code, const Context& context) {
  const bool nearest_even = (context.fcsr >> 5) == 0;
  const Path path = frame_.log == nullptr && nearest_even ? Path::fast : Path::checked;
  if (frame_.code == &code && frame_.path == path) return;
  frame_.code = &code;
  frame_.path = path;
  frame_.entries = code.entries(path);
  frame_.entry_count = code.words();
}

inline const Op* Session::find(std::uint32_t pc) const {
  const bool aligned = pc % 4 == 0 && pc / 4 < frame_.entry_count;
  const Op* known = aligned ? frame_.entries[pc / 4].load(std::memory_order_acquire) : nullptr;
  return known != nullptr ? known : frame_.code->entry(frame_.path, pc);
}

inline Cost Session::enter(const Op* op, Context& context, std::uint64_t granted) {
  const std::int64_t start = -static_cast<std::int64_t>(granted);
  op->handler(op, &context, frame_.memory->bytes, &frame_, start, 0);
  return {frame_.slots - start, frame_.work};
}

/// Enters again until there is an exit to report: true for a control instruction, whose cost and
/// what was `used` before it are still to be counted.
bool Session::go_on(Call& call, Cost& used) {
  do {
    count(call.context, used);
    call.left -= std::min(call.left, static_cast<std::uint64_t>(used.slots));
    if (look(call)) return false;
    // Within rpt nobody may stop at the limit: slots beyond it are granted until the loop ends.
    const bool inside = frame_.reason == Reason::due_inside && frame_.loops_left != 0;
    frame_.overdrawn = inside && call.left == 0;
    const std::uint64_t granted = frame_.overdrawn ? kSlice : std::min(call.left, kSlice);
    used = enter(call.op, call.context, granted);
  } while (frame_.reason != Reason::stop);
  frame_.overdrawn = false;
  return true;
}

/// Does what the handlers left to it; true when there is an exit to report.
bool Session::look(Call& call) {
  switch (frame_.reason) {
    case Reason::due:
      call.op = frame_.op;
      return call.left == 0 &&
             finish(call.exit, call.context, Stop::limit, frame_.code->locate(call.op).pc);
    case Reason::due_inside:
      call.op = frame_.op;
      return false;
    case Reason::find:
      call.op = frame_.code->entry(frame_.path, frame_.pc);
      return call.left == 0 && finish(call.exit, call.context, Stop::limit, frame_.pc);
    case Reason::csr:
      return csr(call);
    default:
      return fault(call);
  }
}

bool Session::csr(Call& call) {
  const Edge& edge = *frame_.op->edge;
  Context& context = call.context;
  count(context, edge.before);
  context.fcsr |= host_.take_flags();
  const Timing& timing = frame_.code->timing();
  const std::uint64_t cycle = context.base_cycle + context.slots * timing.cycles_per_slot();
  if (!execute_csr(edge.instruction, context, cycle, context.instructions)) {
    call.exit.fault = Fault::illegal_instruction;
    return finish(call.exit, context, Stop::fault, edge.pc - 4);
  }
  count(context, difference(edge.cost, edge.before));
  call.left -= std::min(call.left, static_cast<std::uint64_t>(edge.cost.slots));
  choose_path(*frame_.code, context);
  call.op = frame_.code->entry(frame_.path, edge.pc);
  return false;
}

bool Session::fault(Call& call) const {
  const Site site = frame_.code->locate(frame_.op);
  count(call.context, site.before);
  call.exit.fault = frame_.fault;
  call.exit.address = frame_.address;
  return finish(call.exit, call.context, Stop::fault, site.pc);
}

}  // namespace tessera::engine
