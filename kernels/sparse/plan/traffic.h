#pragma once

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
  /// The load of the first tile that takes longest. More bytes take no less time, so that most
  /// tiles' loads need no pricing.
  [[nodiscard]] ExchangeLoad most(const MachineCosts& costs) const {
    ExchangeLoad most = loads_.front();
    std::uint64_t cycles = costs.exchange(most);
    for (const ExchangeLoad& load : loads_) {
      if (load.sent <= most.sent && load.received <= most.received && load.shared <= most.shared)
        continue;
      const std::uint64_t its = costs.exchange(load);
      if (its <= cycles) continue;
      cycles = its;
      most = load;
    }
    return most;
  }

 private:
  std::vector<ExchangeLoad> loads_;
};

}  // namespace tessera::sparse
