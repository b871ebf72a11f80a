#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "models/fabric/floorplan.h"
#include "sim/base/types.h"
#include "sim/machine/machine_config.h"

namespace tessera::fabric {

/// The ports of tiles and the ways between them. Bytes move in lanes, as wide as what divides both
/// rates: a tile sends on `out` lanes and receives on `in`, of which any is as good as another. A
/// stream takes one lane at both ends; to move faster it is dealt to `stream_lanes()` of them. So
/// equal rates are one lane, and a tile that receives four times as fast as others send takes
/// four streams at once.
struct Ports {
  explicit Ports(const FabricConfig& config)
      : lane_bytes(std::gcd(config.send_bytes_per_cycle, config.receive_bytes_per_cycle)),
        out(config.send_bytes_per_cycle / lane_bytes),
        in(config.receive_bytes_per_cycle / lane_bytes),
        cycles_per_hop(config.cycles_per_hop),
        floorplan{.columns = std::max(config.columns, 1U)} {}

  [[nodiscard]] std::uint32_t stream_lanes() const { return std::min(out, in); }
  /// Of a stream on its lane.
  [[nodiscard]] std::uint64_t cycles(std::uint64_t bytes) const {
    return ceil_div(bytes, std::uint64_t{lane_bytes});
  }
  /// That one tile needs at least to send and another to receive so many bytes.
  [[nodiscard]] std::uint64_t least_cycles(std::uint64_t sent, std::uint64_t received) const {
    return std::max(ceil_div(sent, std::uint64_t{lane_bytes} * out),
                    ceil_div(received, std::uint64_t{lane_bytes} * in));
  }
  /// By which a tile receives later than another sends.
  [[nodiscard]] std::uint64_t way_cycles(std::uint32_t from, std::uint32_t to) const {
    return cycles_per_hop == 0 ? 0 : std::uint64_t{cycles_per_hop} * floorplan.hops(from, to);
  }
  /// Between any two of the first `tiles`.
  [[nodiscard]] std::uint64_t longest_way(std::uint32_t tiles) const {
    const std::uint32_t pairs = std::max(ceil_div(tiles, 2U), 1U);
    const std::uint32_t rows = ceil_div(pairs, floorplan.columns);
    return std::uint64_t{cycles_per_hop} * (std::min(pairs, floorplan.columns) - 1 + rows - 1);
  }

  std::uint32_t lane_bytes;  ///< a cycle
  std::uint32_t out;
  std::uint32_t in;
  std::uint32_t cycles_per_hop;
  Floorplan floorplan;
};

}  // namespace tessera::fabric
