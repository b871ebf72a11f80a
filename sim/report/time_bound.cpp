#include "sim/report/time_bound.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "sim/machine/nodes.h"

namespace tessera::report {

Exchanges exchanges_of(const SuperstepRecord& step, const program::Images& images) {
  Exchanges sum;
  for (const std::uint32_t number : step.exchanges) {
    const program::StepInfo& exchange = images.steps[images.exchange_step.at(number)];
    sum.makespan += exchange.exchange_makespan;
    sum.bound = std::max(sum.bound, exchange.exchange_bound);
    sum.ports.sent += exchange.exchange_ports.sent;
    sum.ports.received += exchange.exchange_ports.received;
  }
  return sum;
}

PortUse port_use(const program::Images& images, const RunResult& result) {
  PortUse use;
  for (const SuperstepRecord& step : result.steps) {
    const Exchanges exchanges = exchanges_of(step, images);
    use.bytes.sent += exchanges.ports.sent;
    use.bytes.received += exchanges.ports.received;
    use.makespan += exchanges.makespan;
  }
  return use;
}

namespace {

/// Sums over tiles, and maxima.
struct Slots {
  std::uint64_t floating = 0, other = 0, issue = 0;
  std::uint64_t busiest_floating = 0, busiest_issue = 0;
  std::uint64_t floating_tiles = 0;    ///< tiles with floating-point slots
  std::uint64_t active_tiles = 0;      ///< that issue anything or move bytes
  std::uint64_t active_ports = 0;      ///< their ports, in multiples of the fabric's rate
  std::uint64_t floating_compute = 0;  ///< compute cycles of floating_tiles

  /// `ports`: the tile's port bandwidth in multiples of the fabric's rate.
  void add(const TileRecord& tile, const isa::ActivityCounts& counts, bool dual_issue,
           std::uint32_t ports) {
    const std::uint64_t own = counts[isa::index(isa::Activity::floating_slots)];
    const std::uint64_t others = counts[isa::index(isa::Activity::other_slots)];
    const std::uint64_t issued = dual_issue ? std::max(own, others) : own + others;
    floating += own;
    other += others;
    issue += issued;
    busiest_floating = std::max(busiest_floating, own);
    busiest_issue = std::max(busiest_issue, issued);
    if (issued > 0 || tile.sent != Bytes(0) || tile.received != Bytes(0)) {
      ++active_tiles;
      active_ports += ports;
    }
    if (own == 0) return;
    ++floating_tiles;
    floating_compute += tile.compute.count();
  }
};

Slots slots_of(const RunResult& result, const MachineConfig& machine) {
  using Direction = PortConfig::Direction;
  Slots slots;
  for (std::uint32_t tile = 0; tile < result.activity.size(); ++tile) {
    const NodeConfig* const its = class_of(machine, tile);
    const std::uint32_t ports = its == nullptr
                                    ? 1
                                    : std::max({1U, port_factor(machine, *its, Direction::send),
                                                port_factor(machine, *its, Direction::receive)});
    slots.add(result.tiles[tile], result.activity[tile].counts, tile_of(machine, tile).dual_issue,
              ports);
  }
  return slots;
}

/// Port cycles of all tiles together.
std::uint64_t port_cycles(const FabricConfig& fabric, const program::PortBytes& bytes) {
  if (bytes.received == Bytes(0)) return 0;
  return std::max(bytes.sent.count() / fabric.send_bytes_per_cycle,
                  bytes.received.count() / fabric.receive_bytes_per_cycle);
}

std::uint64_t exchange_bounds(const program::Images& images, const RunResult& result) {
  std::map<std::uint32_t, std::uint64_t> of_zone;
  std::uint64_t longest = 0;
  std::uint64_t most = 0;
  for (const SuperstepRecord& step : result.steps) {
    const std::uint64_t bound = exchanges_of(step, images).bound.count();
    longest = std::max(longest, bound);
    most = std::max(most, of_zone[step.zone] += bound);
  }
  return overlaps(images) ? longest : most;
}

double share(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(of);
}

}  // namespace

bool overlaps(const program::Images& images) {
  return std::ranges::any_of(images.steps,
                             [](const program::StepInfo& step) { return step.kind == "start"; });
}

nlohmann::ordered_json bound_section(const MachineConfig& machine, const program::Images& images,
                                     const RunResult& result, Cycle streams) {
  const Slots slots = slots_of(result, machine);
  const std::uint64_t ports = port_cycles(machine.fabric, port_use(images, result).bytes);
  const std::uint64_t exchanges = std::max(exchange_bounds(images, result), streams.count());
  const auto mean = [](std::uint64_t sum, std::uint64_t tiles) {
    return tiles == 0 ? 0 : ceil_div(sum, tiles);
  };
  const std::uint64_t spread =
      overlaps(images) ? std::max(slots.issue, ports) : slots.issue + ports;
  const std::uint64_t moved = (result.external_read + result.external_written).count();
  const std::uint64_t external =
      moved == 0 ? 0 : machine.external.least_cycles(moved, machine.tiles, machine.clock_ghz);
  const std::uint64_t bound =
      std::max({mean(spread, slots.active_ports), slots.busiest_issue, exchanges, external});
  if (bound == 0) return nullptr;
  return {{"cycles", bound},
          {"floating_cycles", mean(slots.floating, slots.floating_tiles)},
          {"busiest_floating_cycles", slots.busiest_floating},
          {"tiles", slots.floating_tiles},
          {"exchange_cycles", exchanges},
          {"floating_share", share(slots.floating, slots.floating_compute)},
          {"times_bound", share((result.time.total() - result.time.host).count(), bound)},
          {"issue_cycles", mean(slots.issue, slots.active_tiles)},
          {"busiest_issue_cycles", slots.busiest_issue},
          {"other_cycles", mean(slots.other, slots.active_tiles)},
          {"port_cycles", mean(ports, slots.active_tiles)},
          {"active_tiles", slots.active_tiles},
          {"external_cycles", external}};
}

}  // namespace tessera::report
