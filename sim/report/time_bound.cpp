#include "sim/report/time_bound.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace tessera::report {

const program::StepInfo& exchange_of(const SuperstepRecord& step, const program::Images& images,
                                     const program::StepInfo& none) {
  std::size_t at = step.program_step;
  if (at >= images.steps.size()) return none;
  const bool follows = at > 0 && step.exchanged != Bytes(0) && images.steps[at].kind == "compute";
  if (follows) --at;
  return images.steps[at].kind == "exchange" ? images.steps[at] : none;
}

nlohmann::ordered_json bound_section(const program::Images& images, const RunResult& result) {
  std::uint64_t slots = 0;
  std::uint64_t busiest = 0;
  std::uint64_t tiles = 0;
  std::uint64_t computing = 0;  // tiles' cycles
  for (std::size_t tile = 0; tile < result.activity.size(); ++tile) {
    const std::uint64_t own =
        result.activity[tile].counts[isa::index(isa::Activity::floating_slots)];
    if (own == 0) continue;
    slots += own;
    busiest = std::max(busiest, own);
    computing += result.tiles[tile].compute.count();
    ++tiles;
  }
  const program::StepInfo none;
  std::uint64_t exchanges = 0;
  for (const SuperstepRecord& step : result.steps)
    exchanges += exchange_of(step, images, none).exchange_bound.count();
  const std::uint64_t floating = tiles == 0 ? 0 : (slots + tiles - 1) / tiles;
  const std::uint64_t bound = floating + exchanges;
  if (bound == 0) return nullptr;
  const auto share = [](std::uint64_t part, std::uint64_t of) {
    return of == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(of);
  };
  return {{"cycles", bound},
          {"floating_cycles", floating},
          {"busiest_floating_cycles", busiest},
          {"tiles", tiles},
          {"exchange_cycles", exchanges},
          {"floating_share", share(slots, computing)},
          {"times_bound", share((result.time.total() - result.time.host).count(), bound)}};
}

}  // namespace tessera::report
