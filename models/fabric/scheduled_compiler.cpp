#include "models/fabric/scheduled_compiler.h"

#include <algorithm>

#include "models/fabric/list_writer.h"
#include "models/fabric/traffic.h"

namespace tessera::fabric {
namespace {

/// Pieces of the bound that long streams are cut into when whole ones leave gaps.
constexpr std::uint64_t kPieces[] = {4, 12};
/// More receives than this are scheduled once: many short streams have no long gaps.
constexpr std::size_t kMostSinksToRetry = 100'000;
/// Worth another descriptor: more than a fiftieth above the bound.
constexpr bool has_gaps(std::uint64_t makespan, std::uint64_t bound) {
  return makespan > bound + bound / 50;
}

}  // namespace

ScheduledCompiler::Plan ScheduledCompiler::schedule(
    std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const {
  Plan plan;
  plan.traffic = gather_traffic(exchange, copies, pair_sharing_);
  if (ports_.stream_lanes() > 1) plan.traffic = deal_to_lanes(plan.traffic, ports_);
  plan.bound = traffic_bound(plan.traffic, ports_).count();
  plan.schedule = ListScheduler(plan.traffic, ports_).run();
  const Traffic whole = plan.traffic;
  for (const std::uint64_t pieces : kPieces) {
    if (!has_gaps(plan.schedule.makespan, plan.bound) || whole.sinks.size() > kMostSinksToRetry)
      break;
    const std::uint64_t piece = ceil_div(plan.bound, pieces) * ports_.lane_bytes;
    Traffic cut = cut_streams(whole, static_cast<std::uint32_t>(piece));
    if (cut.streams.size() == whole.streams.size()) continue;
    Schedule better = ListScheduler(cut, ports_).run();
    if (better.makespan >= plan.schedule.makespan) continue;
    plan.traffic = std::move(cut);
    plan.schedule = std::move(better);
  }
  return plan;
}

program::CompiledExchange ScheduledCompiler::compile(
    std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const {
  const Plan plan = schedule(exchange, copies);
  return {write_lists(exchange, plan.traffic, plan.schedule), Cycle(plan.schedule.makespan),
          Cycle(plan.bound)};
}

Cycle ScheduledCompiler::cycles(std::span<const program::PlacedCopy> copies) const {
  return fixed_ + Cycle(schedule(0, copies).schedule.makespan);
}

}  // namespace tessera::fabric
