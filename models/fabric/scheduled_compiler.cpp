#include "models/fabric/scheduled_compiler.h"

#include <algorithm>

#include "models/fabric/list_writer.h"
#include "models/fabric/traffic.h"

namespace tessera::fabric {
namespace {

/// Pieces of the bound that long streams are cut into when whole ones leave gaps.
constexpr std::uint64_t kPieces[] = {4, 12};
/// More receives than this are scheduled once: many short streams have no long gaps.
constexpr std::size_t kMostEarsToRetry = 100'000;
/// Worth another descriptor: more than a fiftieth above the bound.
constexpr bool has_gaps(std::uint64_t makespan, std::uint64_t bound) {
  return makespan > bound + bound / 50;
}

}  // namespace

program::CompiledExchange ScheduledCompiler::compile(
    std::uint32_t exchange, std::span<const program::PlacedCopy> copies) const {
  const std::uint32_t rate = stream_rate(config_);
  Traffic traffic = gather_traffic(exchange, copies, config_.pair_sharing);
  const Cycle bound = traffic_bound(traffic, rate);
  Schedule schedule = ListScheduler(traffic, rate).run();
  const Traffic whole = traffic;
  for (const std::uint64_t pieces : kPieces) {
    if (!has_gaps(schedule.makespan, bound.count()) || whole.ears.size() > kMostEarsToRetry) break;
    const std::uint64_t piece = ceil_div(bound.count(), pieces) * rate;
    Traffic cut = cut_streams(whole, static_cast<std::uint32_t>(piece));
    if (cut.streams.size() == whole.streams.size()) continue;
    Schedule better = ListScheduler(cut, rate).run();
    if (better.makespan >= schedule.makespan) continue;
    traffic = std::move(cut);
    schedule = std::move(better);
  }
  return {write_lists(exchange, traffic, schedule), Cycle(schedule.makespan), bound};
}

}  // namespace tessera::fabric
