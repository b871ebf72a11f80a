#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/code.h"
#include "sim/engine/engine.h"
#include "sim/engine/issue_trace.h"
#include "sim/engine/memory_access.h"
#include "sim/engine/op.h"
#include "sim/isa/float/host_environment.h"

namespace tessera::engine {

/// Runs guest code on one host thread, one context at a time, and keeps state that seldom changes
/// between them: bounds, and the host's floating-point environment (set for guests while the
/// session lives). For callers that enter the engine often. Codes outlive the session.
class Session {
 public:
  /// See engine.h.
  inline Exit run(const Code& code, Context& context, const TileMemory& memory,
                  std::uint64_t slot_limit);
  Exit run_recording(const Code& code, Context& context, const TileMemory& memory,
                     std::uint64_t slot_limit, AccessLog& log);
  /// Adds later activities to `counts`, if the codes count them (predecode); complete only after
  /// settle_activity(). Drops activities not settled before this call. Null: stops counting.
  void count_activity(isa::ActivityCounts* counts) {
    activity_ = counts;
    unsettled_slots_ = 0;
    frame_.done = {};
  }
  /// Adds the activities still held by the frame to the counts; only while activity is counted.
  void settle_activity();
  [[nodiscard]] isa::ActivityCounts* activity() const { return activity_; }
  /// In timed codes, sends later issues to `trace`, which outlives the session, instead of timing
  /// them as for a context alone; Context::slots then exclude all waits, and reading the cycle
  /// counter stops the engine (Stop::read_cycle). Null: stops tracing.
  void trace_issues(IssueTrace* trace) { frame_.trace = trace; }
  /// Executes the instruction that stopped the engine with Stop::read_cycle, at `cycle`.
  static void finish_cycle_read(const Code& code, Context& context, std::uint64_t cycle);

 private:
  /// Arguments and state of one call of run().
  struct Call {
    Context& context;
    std::uint64_t left;  ///< slots until the limit
    const Op* op;        ///< Op to continue with
    Exit& exit;
    Cost used{};  ///< cost added by edges, not yet counted
  };

  inline void prepare(const Code& code, Context& context, const TileMemory& memory);
  inline void choose_path(const Code& code, const Context& context);
  [[nodiscard]] inline const Op* find(std::uint32_t pc) const;
  inline Cost enter(const Op* op, Context& context, std::uint64_t granted);
  bool go_on(Call& call, Cost& used);  ///< the seldom needed rest of run()
  bool look(Call& call);
  void count_used(Call& call, const Cost& more);
  bool csr(Call& call);
  bool fault(Call& call);
  static void take_operands(const Edge& edge, Context& context, Exit& exit);
  static inline void count(Context& context, const Cost& cost);
  inline void resume_pipeline_state(const Code& code, Context& context) const;
  inline void keep_pipeline_state(const Code& code, Context& context) const;
  inline void count_done(const Done& last, std::int64_t slots);

  // Slots between two checks of the counters: few enough that pack_work holds all work between (two
  // instructions and 1024 flops per slot, and twice the slots if a matrix stream overruns).
  static constexpr std::uint64_t kSlice = std::uint64_t{1} << 15;
  // Slots between two samples (Code::met) while sampled code is not translated.
  static constexpr std::uint64_t kMeeting = std::uint64_t{1} << 13;

  /// Slots to grant if `left` remain until the limit.
  [[nodiscard]] std::uint64_t slice(std::uint64_t left) const {
    return std::min({left, kSlice, until_meeting_});
  }
  void spend(std::int64_t slots) {
    until_meeting_ -= std::min(until_meeting_, static_cast<std::uint64_t>(slots));
  }
  void meet(Call& call);
  std::uint64_t about(std::uint64_t slots);

  Frame frame_;
  isa::ActivityCounts* activity_ = nullptr;
  std::uint64_t unsettled_slots_ = 0;       ///< slots whose activities the frame still holds
  std::uint64_t until_meeting_ = kMeeting;  ///< slots
  std::uint32_t dither_ = 1;
  fp::HostEnvironment host_;
};

// Inline down to the handlers: this is most of the cost of an empty superstep.

inline void Session::count(Context& context, const Cost& cost) {
  context.slots += static_cast<std::uint64_t>(cost.slots);
  constexpr std::uint64_t kPairs = (std::uint64_t{1} << (kFlopsAt - kPairsAt)) - 1;
  context.instructions += instructions_of(cost.work);
  if (const std::uint64_t more = cost.work >> kPairsAt; more != 0) {
    context.pairs += more & kPairs;
    context.flops += more >> (kFlopsAt - kPairsAt);
  }
}

/// Adds `last` to the frame's activities, which can hold those of a few slices.
inline void Session::count_done(const Done& last, std::int64_t slots) {
  frame_.done.add(last);
  unsettled_slots_ += static_cast<std::uint64_t>(slots);
  if (unsettled_slots_ >= kSlice) settle_activity();
}

/// Updates the pipeline state for the time since the context last ran.
inline void Session::resume_pipeline_state(const Code& code, Context& context) const {
  if (context.pipeline_state == nullptr || frame_.trace != nullptr) return;
  const std::uint64_t now = code.timing().cycle_of(context);
  const std::uint64_t slots = (now - context.pipeline_state_at) / code.timing().cycles_per_slot();
  context.pipeline_state = code.transitions().after(context.pipeline_state, slots);
}
inline void Session::keep_pipeline_state(const Code& code, Context& context) const {
  if (frame_.trace == nullptr) context.pipeline_state_at = code.timing().cycle_of(context);
}

inline void Session::prepare(const Code& code, Context& context, const TileMemory& memory) {
  if (memory.size != frame_.size || memory.code_end != frame_.code_end) set_bounds(frame_, memory);
  frame_.memory = &memory;
  frame_.next = memory.next != nullptr ? memory.next : memory.bytes;
  frame_.timed = code.timed();
  frame_.profiled = code.profiled() && context.profiled;
  if (frame_.timed) [[unlikely]]
    resume_pipeline_state(code, context);
  frame_.weight_rows.clear();
  choose_path(code, context);
}

inline void Session::choose_path(const Code& code, const Context& context) {
  const bool nearest_even = (context.fcsr >> 5) == 0;
  const Path path = frame_.log == nullptr && nearest_even ? Path::fast : Path::checked;
  if (frame_.code == &code && frame_.path == path) return;
  frame_.code = &code;
  frame_.shapes = &code.timing().shapes();
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

[[gnu::always_inline]] inline Exit Session::run(const Code& code, Context& context,
                                                const TileMemory& memory,
                                                std::uint64_t slot_limit) {
  Exit exit{};
  prepare(code, context, memory);
  const Op* const first = find(context.pc);
  Cost used = enter(first, context, slice(slot_limit));
  spend(used.slots);
  bool stopped = frame_.reason == Reason::stop;
  if (!stopped) [[unlikely]] {
    Call call{context, slot_limit, first, exit};
    stopped = go_on(call, used);
  }
  if (stopped) {
    const Edge& edge = *frame_.op->edge;
    const std::int64_t last = frame_.timed ? pass(edge, context, frame_) : edge.cost.slots;
    count(context, {used.slots + last, used.work + edge.cost.work});
    exit.stop = edge.stop;
    exit.pc = edge.pc - 4;
    exit.operand[0] = edge.zone;
    context.pc = edge.pc;
    if (activity_ != nullptr) count_done(edge.done, used.slots + last);
    if (edge.has_operands) take_operands(edge, context, exit);
  }
  context.fcsr |= host_.take_flags();
  if (frame_.timed) [[unlikely]]
    keep_pipeline_state(code, context);
  return exit;
}

}  // namespace tessera::engine
