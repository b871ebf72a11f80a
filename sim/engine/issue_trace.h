#pragma once

#include <cstdint>
#include <deque>

#include "sim/engine/code.h"
#include "sim/engine/op.h"

/// Converts taken edges to time, where instructions may wait for results.
namespace tessera::engine {

/// The stretches that a context of a shared pipeline has executed, in order, for merging with the
/// other contexts' issues, on which their times depend.
class IssueTrace {
 public:
  struct Entry {
    const Edge* edge;
    std::uint64_t times;  ///< in a row
  };
  void add(const Edge& edge, std::uint64_t times) {
    if (!entries_.empty() && entries_.back().edge == &edge)
      entries_.back().times += times;
    else
      entries_.push_back({&edge, times});
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const Entry& front() const { return entries_.front(); }
  /// Number of the front entry, in the order in which entries were added.
  [[nodiscard]] std::uint64_t number() const { return popped_; }
  /// Notes that the front stretch has been issued once.
  void pop() {
    if (--entries_.front().times > 0) return;
    entries_.pop_front();
    ++popped_;
  }
  /// Notes that the front stretch has been issued `times` times and is still to be issued again.
  void skip(std::uint64_t times) { entries_.front().times -= times; }

 private:
  std::deque<Entry> entries_;
  std::uint64_t popped_ = 0;
};

/// The transition of `edge` that begins with `from`; every edge has few.
inline const PipelineTransition& transition(const Edge& edge, const PipelineState* from,
                                            const Frame& frame) {
  for (const PipelineTransition* known = edge.transitions.load(std::memory_order_acquire);
       known != nullptr; known = known->next) {
    if (known->from == from) return *known;
  }
  return frame.code->transitions().find(edge, from);
}

/// Slots of the stretch that `edge` ends, including the context's waits.
inline std::int64_t pass(const Edge& edge, Context& context, const Frame& frame) {
  if (frame.trace != nullptr) {
    frame.trace->add(edge, 1);
    return edge.cost.slots;
  }
  const PipelineTransition& found = transition(edge, context.pipeline_state, frame);
  if (frame.profiled) [[unlikely]]
    found.times.fetch_add(1, std::memory_order_relaxed);
  context.pipeline_state = found.to;
  context.pairs -= found.apart;
  for (std::size_t i = 0; i < kCauses; ++i) context.waits[i] += found.waits[i];
  return found.slots;
}

/// Adds `times` consecutive passes.
std::int64_t pass_times(const Edge& edge, std::uint64_t times, Context& context,
                        const Frame& frame);

}  // namespace tessera::engine
