#include "sim/engine/session.h"

#include "sim/base/errors.h"
#include "sim/engine/csr.h"
#include "sim/engine/native/translator.h"

namespace tessera::engine {
namespace {

using isa::Instruction;

constexpr std::uint32_t kInstructionBytes = 4;

Cost sum(const Cost& a, const Cost& b) { return {a.slots + b.slots, a.work + b.work}; }
Cost difference(const Cost& a, const Cost& b) { return {a.slots - b.slots, a.work - b.work}; }
bool finish(Exit& exit, Context& context, Stop stop, std::uint32_t pc) {
  exit.stop = stop;
  exit.pc = pc;
  context.pc = pc;
  return true;
}

}  // namespace

void Session::take_operands(const Edge& edge, Context& context, Exit& exit) {
  const Instruction& instruction = edge.instruction;
  const auto imm = static_cast<std::uint32_t>(instruction.imm);
  switch (edge.stop) {
    case Stop::run:
      exit.operand[0] = context.x[instruction.rs1];
      exit.operand[1] = context.x[instruction.rs2];
      exit.operand[2] = context.x[instruction.rd];
      exit.operand[3] = imm;
      break;
    case Stop::exchange_start:
    case Stop::exchange_wait:
      exit.operand[0] = context.x[instruction.rs1];
      break;
    case Stop::dma:
      exit.operand[0] = context.x[instruction.rs1];
      exit.operand[1] = context.x[instruction.rs2];
      exit.operand[2] = context.x[instruction.rd];
      exit.operand[3] = instruction.mnemonic == isa::Mnemonic::sdma ? 1 : 0;
      break;
    case Stop::load_weights: {
      const std::uint32_t scale = imm >> 12;
      const std::uint32_t words = ((imm >> 6 & 0x3fU) + 1) << scale;
      exit.operand[0] = context.x[instruction.rs1];
      exit.operand[1] = (imm & 0x3fU) << scale;
      exit.operand[2] = words;
      if (instruction.rs1 != 0) context.x[instruction.rs1] += 8 * words;
      break;
    }
    default:
      break;
  }
}

Exit Session::run_recording(const Code& code, Context& context, const TileMemory& memory,
                            std::uint64_t slot_limit, AccessLog& log) {
  frame_.log = &log;
  const Exit exit = run(code, context, memory, slot_limit);
  frame_.log = nullptr;
  return exit;
}

void Session::settle_activity() {
  // As signed numbers: after choices (native) they may be negative temporarily.
  for (std::size_t i = 0; i < isa::kActivities; ++i)
    (*activity_)[i] += static_cast<std::uint64_t>(static_cast<std::int32_t>(frame_.done[i]));
  unsettled_slots_ = 0;
  frame_.done = {};
}

/// Re-enters until there is an exit to report: true for a control instruction, whose cost and the
/// cost `used` before it the caller must still count.
bool Session::go_on(Call& call, Cost& used) {
  do {
    call.used = used;
    if (look(call)) return false;
    // No stop at the limit within rpt: grants slots beyond it until the loop ends.
    const bool inside = frame_.reason == Reason::due_inside && frame_.loops_left != 0;
    frame_.overdrawn = inside && call.left == 0;
    if (until_meeting_ == 0) meet(call);
    const std::uint64_t granted = frame_.overdrawn ? kSlice : slice(call.left);
    used = enter(call.op, call.context, granted);
    spend(used.slots);
  } while (frame_.reason != Reason::stop);
  frame_.overdrawn = false;
  return true;
}

/// A varying number of slots from `slots` / 2 to `slots`: with a constant number, a periodic
/// program would always be sampled at the same places.
std::uint64_t Session::about(std::uint64_t slots) {
  dither_ = 1664525U * dither_ + 1013904223U;
  return slots - (slots * (dither_ >> 16) >> 17);
}

/// Samples the current Op; the sampling interval in slots sets the odds.
void Session::meet(Call& call) {
  until_meeting_ = about(kSlice);
  const bool quick = frame_.path == Path::fast && frame_.trace == nullptr;
  if (!frame_.code->translates() || !quick) return;
  call.context.fcsr |= host_.take_flags();
  const native::Continuation met = frame_.code->met(call.op, call.context.pipeline_state, frame_);
  static_cast<void>(host_.take_flags());  // of our own arithmetic
  call.op = met.op;
  if (!met.translated) until_meeting_ = about(kMeeting);
}

/// Counts the cost added by edges, and `more`: after choices (native) it may be negative until the
/// work since is counted too.
void Session::count_used(Call& call, const Cost& more) {
  const Cost all = sum(call.used, more);
  count(call.context, all);
  if (activity_ != nullptr) count_done({}, all.slots);
  call.left -= std::min(call.left, static_cast<std::uint64_t>(all.slots));
}

/// Handles the reason for which the handlers returned; true if there is an exit to report.
bool Session::look(Call& call) {
  if (frame_.reason == Reason::csr) return csr(call);
  if (frame_.reason == Reason::fault) return fault(call);
  count_used(call, {});
  switch (frame_.reason) {
    case Reason::due:
      call.op = frame_.op;
      return call.left == 0 &&
             finish(call.exit, call.context, Stop::limit, frame_.code->locate(call.op).pc);
    case Reason::due_inside:
      call.op = frame_.op;
      return false;
    default:
      call.op = frame_.code->entry(frame_.path, frame_.pc);
      return call.left == 0 && finish(call.exit, call.context, Stop::limit, frame_.pc);
  }
}

bool Session::csr(Call& call) {
  const Edge& edge = *frame_.op->edge;
  Context& context = call.context;
  Cost before = edge.before;
  Cost cost = edge.cost;
  if (frame_.timed) {
    if (frame_.trace == nullptr)
      before.slots = transition(edge, context.pipeline_state, frame_).last_issue;
    cost.slots = pass(edge, context, frame_);
  }
  count_used(call, before);
  const Cost rest = difference(cost, before);
  context.fcsr |= host_.take_flags();
  if (frame_.trace != nullptr && reads_cycle(edge.instruction)) {
    count(context, rest);
    if (activity_ != nullptr) count_done(edge.done, rest.slots);
    return finish(call.exit, context, Stop::read_cycle, edge.pc - 4);
  }
  const std::uint64_t cycle = frame_.code->timing().cycle_of(context);
  if (!execute_csr(edge.instruction, context, cycle, context.instructions)) {
    call.exit.fault = Fault::illegal_instruction;
    return finish(call.exit, context, Stop::fault, edge.pc - 4);
  }
  count(context, rest);
  if (activity_ != nullptr) count_done(edge.done, rest.slots);
  call.left -= std::min(call.left, static_cast<std::uint64_t>(rest.slots));
  choose_path(*frame_.code, context);
  call.op = frame_.code->entry(frame_.path, edge.pc);
  return false;
}

void Session::finish_cycle_read(const Code& code, Context& context, std::uint64_t cycle) {
  const isa::Instruction instruction = code.instruction(context.pc);
  check(execute_csr(instruction, context, cycle, context.instructions), "engine: no cycle read");
  context.pc += kInstructionBytes;
}

bool Session::fault(Call& call) {
  const Site site = frame_.code->locate(frame_.op);
  count_used(call, site.before);
  if (activity_ != nullptr) count_done(frame_.code->done_before(frame_.op), 0);
  call.exit.fault = frame_.fault;
  call.exit.address = frame_.address;
  return finish(call.exit, call.context, Stop::fault, site.pc);
}

}  // namespace tessera::engine
