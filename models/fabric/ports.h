#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/fabric/floorplan.h"
#include "sim/base/types.h"
#include "sim/machine/machine_config.h"

namespace tessera::fabric {

/// Tiles' ports and the travel times between them. All streams of one exchange have one rate: that
/// of the slower port, or less if `sharing` streams together then fill the faster port. A port has
/// as many lanes as streams of this rate fit into its own; lanes are interchangeable. So equal
/// rates give one lane each, and a tile that receives four times as fast as others send takes four
/// streams at once. Nodes of other classes have a multiple of these lanes (node_ports.h).
struct Ports {
  explicit Ports(const FabricConfig& config, std::uint32_t together = 1)
      : cycles_per_hop(config.cycles_per_hop),
        floorplan{.columns = std::max(config.columns, 1U)},
        sharing(together) {
    const auto [slower, faster] =
        std::minmax({config.send_bytes_per_cycle, config.receive_bytes_per_cycle});
    const bool at_slower = std::uint64_t{slower} * sharing <= faster;
    bytes = at_slower ? slower : faster;
    period = at_slower ? 1 : sharing;
    out = config.send_bytes_per_cycle * period / bytes;
    in = config.receive_bytes_per_cycle * period / bytes;
  }

  /// Cycles that a stream of `stream_bytes` takes.
  [[nodiscard]] std::uint64_t cycles(std::uint64_t stream_bytes) const {
    return ceil_div(stream_bytes * period, std::uint64_t{bytes});
  }
  /// Least cycles for one tile to send `sent` and another to receive `received` bytes, with
  /// `times_out` and `times_in` times these lanes; 0 bytes need no lanes.
  [[nodiscard]] std::uint64_t least_cycles(std::uint64_t sent, std::uint64_t received,
                                           std::uint32_t times_out = 1,
                                           std::uint32_t times_in = 1) const {
    const auto cycles = [this](std::uint64_t all, std::uint64_t lanes) {
      return all == 0 ? 0 : ceil_div(all * period, bytes * lanes);
    };
    return std::max(cycles(sent, std::uint64_t{out} * times_out),
                    cycles(received, std::uint64_t{in} * times_in));
  }
  /// Cycles from a send at `from` to its arrival at `to`.
  [[nodiscard]] std::uint64_t way_cycles(std::uint32_t from, std::uint32_t to) const {
    return cycles_per_hop == 0 ? 0 : std::uint64_t{cycles_per_hop} * floorplan.hops(from, to);
  }
  /// The longest travel time between any two of the first `tiles`.
  [[nodiscard]] std::uint64_t longest_way(std::uint32_t tiles) const {
    const std::uint32_t pairs = std::max(ceil_div(tiles, 2U), 1U);
    const std::uint32_t rows = ceil_div(pairs, floorplan.columns);
    return std::uint64_t{cycles_per_hop} * (std::min(pairs, floorplan.columns) - 1 + rows - 1);
  }

  std::uint32_t cycles_per_hop;
  Floorplan floorplan;
  std::uint32_t sharing;
  std::uint32_t bytes;   ///< of a stream in `period` cycles
  std::uint32_t period;  ///< cycles
  std::uint32_t out;     ///< lanes
  std::uint32_t in;
};

/// The port configurations that an exchange may choose from. With the first, streams move at the
/// slower port's rate; with the others 1, 2, ... streams fit the slower port and together fill the
/// faster one.
inline std::vector<Ports> port_choices(const FabricConfig& config) {
  constexpr std::uint32_t kMostOnSlower = 4;
  const auto [slower, faster] =
      std::minmax({config.send_bytes_per_cycle, config.receive_bytes_per_cycle});
  std::vector<Ports> choices{Ports(config)};
  bool both_filled = faster % slower == 0;
  for (std::uint32_t on_slower = 1; on_slower <= kMostOnSlower && !both_filled; ++on_slower) {
    choices.emplace_back(config, ceil_div(on_slower * faster, slower));
    both_filled = on_slower * faster % slower == 0;
  }
  return choices;
}

/// The fabric with the smaller of its rates in both directions.
inline FabricConfig at_slower_rate(FabricConfig config) {
  config.send_bytes_per_cycle = config.receive_bytes_per_cycle =
      std::min(config.send_bytes_per_cycle, config.receive_bytes_per_cycle);
  return config;
}

}  // namespace tessera::fabric
