#include "sim/engine/issue_trace.h"

#include <vector>

namespace tessera::engine {

/// Once a pipeline state recurs, the sequence of pipeline states is periodic: then whole periods
/// are multiplied.
std::int64_t pass_times(const Edge& edge, std::uint64_t times, Context& context,
                        const Frame& frame) {
  if (frame.trace != nullptr) {
    frame.trace->add(edge, times);
    return edge.cost.slots * static_cast<std::int64_t>(times);
  }
  std::vector<const PipelineTransition*> met;
  std::int64_t slots = 0;
  const auto take = [&](const PipelineTransition& found, std::uint64_t count) {
    slots += found.slots * static_cast<std::int64_t>(count);
    context.pairs -= found.apart * count;
    if (frame.profiled) found.times.fetch_add(count, std::memory_order_relaxed);
    for (std::size_t i = 0; i < kCauses; ++i) context.waits[i] += found.waits[i] * count;
  };
  while (times > 0) {
    const PipelineTransition& found = transition(edge, context.pipeline_state, frame);
    const auto again = std::find(met.begin(), met.end(), &found);
    if (again != met.end()) {
      const std::vector<const PipelineTransition*> round(again, met.end());
      for (const PipelineTransition* each : round) take(*each, times / round.size());
      times %= round.size();
      met.clear();
      if (times == 0) break;
    }
    take(found, 1);
    met.push_back(&found);
    context.pipeline_state = found.to;
    --times;
  }
  return slots;
}

}  // namespace tessera::engine
