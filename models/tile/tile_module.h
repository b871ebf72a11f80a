#pragma once

#include <systemc>

#include "models/tile/tile.h"

namespace tessera {

/// A tile's place in the machine's structure. It has no process: the chip runs its tiles.
class TileModule : public sc_core::sc_module {
 public:
  TileModule(const sc_core::sc_module_name& name, const Tile& tile)
      : sc_module(name), tile_(tile) {}
  [[nodiscard]] const Tile& tile() const { return tile_; }
  const char* kind() const override { return "Tile"; }

 private:
  const Tile& tile_;
};

}  // namespace tessera
