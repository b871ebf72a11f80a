#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/demand_zero.h"
#include "sim/base/types.h"
#include "sim/machine/machine_config.h"

namespace tessera {

/// The SRAMs of all tiles in one demand-zero mapping: a machine costs only host memory it touches.
class Sram {
 public:
  /// Maps the SRAM of every node; `used`: approximate bytes the program touches, summed over nodes.
  /// Throws HostLimit if the host cannot map them.
  explicit Sram(const MachineConfig& machine, std::uint64_t used = 0);
  Sram(std::uint32_t tiles, std::uint32_t bytes_per_tile);

  [[nodiscard]] std::span<std::byte> tile(TileId tile) const {
    const Class& its = class_of(index(tile));
    return {memory_.data() + its.offset + its.stride * (index(tile) - its.first), its.bytes};
  }
  [[nodiscard]] std::uint32_t tiles() const { return tiles_; }

  /// A location in the address map, where the SRAMs follow one another by tile without gaps
  /// (nodes.h).
  struct Spot {
    TileId tile;
    std::uint64_t begin;  ///< where the tile's SRAM begins
  };
  /// The location of an address; nothing beyond the last SRAM.
  [[nodiscard]] std::optional<Spot> find(std::uint64_t address) const;

 private:
  /// Tiles of one size from `first` on.
  struct Class {
    std::uint32_t first;
    std::uint32_t tiles;
    std::uint32_t bytes;
    std::uint64_t address;  ///< the first tile's
    std::size_t offset;     ///< the first tile's, in the host's mapping
    std::size_t stride;     ///< whole pages a tile
  };
  [[nodiscard]] const Class& class_of(std::uint32_t tile) const {
    std::size_t i = 0;
    while (tile - classes_[i].first >= classes_[i].tiles) ++i;
    return classes_[i];
  }
  void add(std::uint32_t tiles, std::uint32_t bytes);
  void map(std::uint64_t used);

  DemandZero memory_;
  std::uint32_t tiles_ = 0;
  std::size_t mapped_ = 0;
  std::vector<Class> classes_;
};

}  // namespace tessera
