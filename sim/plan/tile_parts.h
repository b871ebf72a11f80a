#pragma once

#include <map>
#include <span>

#include "sim/plan/aliases.h"
#include "sim/plan/description.h"

/// One tile's part of a description, for one-tile programs.
namespace tessera::plan {

constexpr TileId kSampleTile{0};

/// Maps places of one tile to its parts in a sample program; adds parts on first use.
class TileParts {
 public:
  /// `moment`: of the expected contents; `aliases`: null if there are none.
  TileParts(const Description& description, Tile tile, program::Program& sample,
            std::uint32_t moment = 0, const Aliases* aliases = nullptr);

  [[nodiscard]] std::uint64_t bytes(BufferId array) const {
    return description_.array(array).bytes(tile_);
  }
  /// From here on arrays[i] maps to others[i].
  void stand_for(std::span<const BufferId> arrays, std::span<const BufferId> others);
  Place operator()(Place place);
  OuterPlace operator()(OuterPlace place);
  program::Vertex operator()(program::Vertex vertex);

 private:
  const Description& description_;
  Tile tile_;
  program::Program& sample_;
  std::uint32_t moment_;
  const Aliases* aliases_;
  std::map<BufferId, BufferId> parts_;
  std::map<BufferId, BufferId> others_;
  std::map<OuterId, OuterId> outers_;
};

/// A tile's pulls from one array in one exchange.
struct ArrayPulls {
  std::uint64_t bytes = 0, pulls = 0;
};

/// The pulls of a tile, without aliased ones.
Pulls pulls_of(const Exchange& exchange, Tile tile, const Aliases& aliases);

/// By array: the largest pulls of any of `tiles`.
std::map<BufferId, ArrayPulls> most_taken(const Exchange& exchange, std::span<const Tile> tiles,
                                          const Aliases& aliases);

}  // namespace tessera::plan
