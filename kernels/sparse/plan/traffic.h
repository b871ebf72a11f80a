#pragma once

#include <algorithm>
#include <vector>

#include "sim/program/machine_costs.h"

namespace tessera::sparse {

/// Bytes that one exchange moves, by tile.
class Traffic {
 public:
  explicit Traffic(std::uint32_t tiles) : loads_(tiles) {
    for (ExchangeLoad& load : loads_) load.tiles = tiles;
  }

  void send(std::uint64_t tile, std::uint64_t bytes) { loads_[tile].sent += bytes; }
  void receive(std::uint64_t tile, std::uint64_t bytes) { loads_[tile].received += bytes; }
  /// Of what this tile and the other one of its pair receive, they take so much together.
  void share(std::uint64_t tile, std::uint64_t bytes) {
    for (const std::uint64_t each : {tile, tile ^ 1}) {
      loads_[each].received -= bytes;
      loads_[each].shared += bytes;
    }
  }
  /// Of the tile that takes longest.
  [[nodiscard]] ExchangeLoad most(const MachineCosts& costs) const {
    return *std::max_element(loads_.begin(), loads_.end(), [&](const auto& a, const auto& b) {
      return costs.exchange(a) < costs.exchange(b);
    });
  }

 private:
  std::vector<ExchangeLoad> loads_;
};

}  // namespace tessera::sparse
