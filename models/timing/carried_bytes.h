#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/timing/tile_walk.h"
#include "sim/machine/machine_config.h"
#include "sim/program/flow.h"
#include "sim/program/image.h"
#include "sim/program/program.h"

namespace tessera {

/// Bytes from the first to one past the last byte of a walk, over all its turns.
std::uint64_t reach_of(const program::Walk& walk, const program::Turns& turns);

/// By tile: the ranges that exchanges write, sorted.
using ReceivedByTile = std::vector<std::vector<WalkedTile::Received>>;

/// The bytes that streams deliver, if nodes without workers forward them from buffers' initial
/// contents.
class CarriedBytes {
 public:
  /// Bytes, by start and stream.
  using Sent = std::vector<std::vector<std::vector<std::byte>>>;
  /// Walks a node that holds `known` contents and deliveries; returns the bytes it sends in
  /// `exchange` (TileWalk::record).
  struct Known {
    std::vector<WalkedTile::Contents> contents = {};
    std::vector<WalkedTile::Brought> brought = {};
  };
  using Follow = std::function<Sent(std::uint32_t node, Known known, std::uint32_t exchange,
                                    TileWalk::EndsAt ends)>;

  /// All but `follow` outlive it.
  CarriedBytes(const program::Program& program, const program::Images& images,
               const MachineConfig& machine, const ReceivedByTile& received, Follow follow);

  /// The bytes that an exchange delivers to a tile; empty if unknown.
  Deliveries to(std::uint32_t tile, std::uint32_t exchange);
  /// True if both exchanges deliver over a common kind of stream.
  [[nodiscard]] bool are_alike(std::uint32_t one, std::uint32_t other) const;

 private:
  using Bytes = std::vector<std::byte>;
  /// By start, and by stream.
  using Shared = std::vector<std::vector<SharedBytes>>;

  [[nodiscard]] std::uint32_t node_of(program::BufferId id) const {
    return index(program_.buffer(id).tile);
  }
  [[nodiscard]] StreamEnd end_of(const program::Walk& walk, const program::OuterTurn& turn) const;
  const Shared& sent(std::uint32_t exchange);
  [[nodiscard]] Sent find_sent(std::uint32_t exchange);
  [[nodiscard]] bool is_constant(program::BufferId id) const;
  std::optional<Sent> constants(const program::Exchange& exchange);
  const Bytes& contents_of(program::BufferId id);
  SharedBytes shared(Bytes bytes);

  const program::Program& program_;
  const program::Images& images_;
  const MachineConfig& machine_;
  const ReceivedByTile& received_;
  Follow follow_;
  program::Flow flow_;
  std::map<program::BufferId, Bytes> contents_;
  std::map<std::uint32_t, Shared> sent_;  ///< by exchange
  std::set<std::uint32_t> asked_;         ///< exchanges whose bytes are being found
  std::unordered_map<std::size_t, std::vector<SharedBytes>> pool_;  ///< by hash
};

}  // namespace tessera
