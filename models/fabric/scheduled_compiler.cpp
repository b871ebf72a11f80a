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

program::ExchangeNeeds ScheduledCompiler::needs(std::uint32_t exchange,
                                                std::span<const program::PlacedCopy> copies) const {
  const Plan plan = schedule(exchange, copies);
  return {list_sizes(plan.traffic, plan.schedule), Cycle(plan.schedule.makespan),
          Cycle(plan.bound)};
}

Cycle ScheduledCompiler::cycles(std::span<const program::PlacedCopy> copies) const {
  return fixed_ + Cycle(schedule(0, copies).schedule.makespan);
}

std::vector<program::ExchangeNeeds::List> longest_lists(
    const FabricConfig& config, std::span<const program::PlacedCopy> copies) {
  struct Ends {
    std::uint64_t received = 0, sends = 0, receives = 0;  ///< bytes; entries of the list
  };
  const Ports ports(config);
  std::vector<Ends> tiles;
  const auto at = [&](TileId tile) -> Ends& {
    if (index(tile) >= tiles.size()) tiles.resize(index(tile) + std::size_t{1});
    return tiles[index(tile)];
  };
  std::uint64_t most = 0;
  for (const program::PlacedCopy& copy : copies)
    for (const program::Port& port : copy.destinations)
      most = std::max(most, at(port.tile).received += copy.bytes);
  // A pair may take the same bytes together: the bound is half of that at least.
  const std::uint64_t bound = ports.least_cycles(0, most / 2);
  const std::uint64_t piece =
      std::max(ceil_div(bound, std::ranges::max(kPieces)) * ports.lane_bytes, std::uint64_t{4});
  for (const program::PlacedCopy& copy : copies) {
    const std::uint64_t pieces = ports.stream_lanes() * ceil_div<std::uint64_t>(copy.bytes, piece);
    at(copy.source.tile).sends += pieces * copy.destinations.size();
    for (const program::Port& port : copy.destinations) at(port.tile).receives += pieces;
  }
  std::vector<program::ExchangeNeeds::List> lists;
  for (std::uint32_t tile = 0; tile < tiles.size(); ++tile) {
    const Ends& ends = tiles[tile];
    if (ends.sends + ends.receives == 0) continue;
    lists.push_back({TileId(tile), program::kListHeaderBytes + program::kSendBytes * ends.sends +
                                       program::kReceiveBytes * ends.receives});
  }
  return lists;
}

}  // namespace tessera::fabric
