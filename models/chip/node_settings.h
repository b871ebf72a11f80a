#pragma once

#include <cstdint>
#include <vector>

#include "models/tile/tile.h"
#include "sim/machine/nodes.h"

namespace tessera {

/// The settings of all tiles of a run, by class of nodes.
class NodeSettings {
 public:
  /// `common`: settings of the compute tiles; other classes differ only in core and name.
  NodeSettings(const MachineConfig& machine, const TileSettings& common)
      : settings_(machine.nodes.size() + 1, common), ends_(1, machine.tiles) {
    for (std::size_t i = 0; i < machine.nodes.size(); ++i) {
      settings_[i + 1].tile = machine.nodes[i].tile;
      settings_[i + 1].kind = machine.nodes[i].name;
      ends_.push_back(ends_.back() + machine.nodes[i].count);
    }
  }

  [[nodiscard]] const TileSettings& of(TileId tile) const {
    std::size_t kind = 0;
    while (index(tile) >= ends_[kind]) ++kind;
    return settings_[kind];
  }
  /// The settings of compute tiles; every tile shares all of them except core and kind.
  [[nodiscard]] const TileSettings& common() const { return settings_.front(); }

 private:
  std::vector<TileSettings> settings_;
  std::vector<std::uint32_t> ends_;  ///< by class: one past its last tile
};

}  // namespace tessera
