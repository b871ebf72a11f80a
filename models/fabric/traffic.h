#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/fabric/node_ports.h"
#include "models/fabric/ports.h"
#include "sim/base/types.h"
#include "sim/program/exchange_compiler.h"

/// The copies of one exchange as a fabric sees them: streams of bytes, each from one tile to a set
/// of receivers. Independent of the order in which the copies were given.
namespace tessera::fabric {

struct Receiver {
  std::uint32_t tile;
  std::uint32_t address;
};

/// One receiving unit: a tile, or both tiles of a pair that shares a bus (two receivers in a row).
struct Sink {
  std::uint32_t receiver;    ///< index in Traffic::receivers
  std::uint32_t tile : 31;   ///< of the first receiver
  std::uint32_t shared : 1;  ///< by both tiles of its pair
};

struct Stream {
  std::uint32_t source;
  std::uint32_t address;
  std::uint32_t bytes;
  std::uint32_t offset;  ///< offset of these bytes in the receivers' range
  std::uint32_t first_sink;
  std::uint32_t sinks;
};

struct Traffic {
  std::uint32_t tiles = 0;  ///< one more than the highest tile named, rounded up to a pair
  std::vector<Stream> streams;
  std::vector<Sink> sinks;
  std::vector<Receiver> receivers;
  NodePorts ports = {};

  /// Lanes of a node, given the lanes `each` of a port with the fabric's own rate.
  [[nodiscard]] std::uint32_t lanes_out(const Ports& each, std::uint32_t tile) const {
    return each.out * ports.of(tile).out;
  }
  [[nodiscard]] std::uint32_t lanes_in(const Ports& each, std::uint32_t tile) const {
    return each.in * ports.of(tile).in;
  }
};

/// Merges copies of identical source bytes; drops empty ones. Throws UserError naming the tile and
/// both copies if two destinations overlap, and for a node without a port that a copy needs.
Traffic gather_traffic(std::uint32_t exchange, std::span<const program::PlacedCopy> copies,
                       bool pair_sharing, const NodePorts& ports = {});

/// `traffic` with every stream cut into pieces of at most `bytes`, rounded up to a multiple of 4.
Traffic cut_streams(const Traffic& traffic, std::uint32_t bytes);

/// Lower bound on the cycles of any schedule: the maximum of the busiest sender (each byte sent
/// once), the busiest port and the last delivery.
Cycle traffic_bound(const Traffic& traffic, const FabricConfig& config);

/// The bound for streams that move at the rate of `ports`, on their lanes.
Cycle traffic_bound(const Traffic& traffic, const Ports& ports);

/// Bytes of all streams through ports: out once, in once per sink.
program::PortBytes port_bytes(const Traffic& traffic);

}  // namespace tessera::fabric
