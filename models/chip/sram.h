#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/base/types.h"

namespace tessera {

/// The SRAMs of all tiles: one demand-zero mapping, so that a machine costs what it touches.
class Sram {
 public:
  /// Throws UserError if the host cannot map tiles x bytes_per_tile.
  Sram(std::uint32_t tiles, std::uint32_t bytes_per_tile);
  ~Sram();
  Sram(const Sram&) = delete;
  Sram& operator=(const Sram&) = delete;

  [[nodiscard]] std::span<std::byte> tile(TileId tile) const {
    return {base_ + stride_ * index(tile), bytes_per_tile_};
  }
  [[nodiscard]] std::uint32_t tiles() const { return tiles_; }

 private:
  std::byte* base_ = nullptr;
  std::uint32_t tiles_;
  std::uint32_t bytes_per_tile_;
  std::size_t stride_;  ///< whole pages a tile
};

}  // namespace tessera
