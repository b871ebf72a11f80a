#pragma once

#include <cstdint>
#include <optional>

#include "sim/base/types.h"

namespace tessera {

/// The barrier of one sync zone: releases its tiles a fixed time after the last one arrives.
/// Leaves out: the skew of the release over the chip (published worst case 126 cycles on C600).
/// Timing: released at last arrival + latency; arrivals may be told in any order.
/// Source: 90 cycles on chip, graphcore/poplibs lib/popnn/CTCLossPlan.cpp.
class Barrier {
 public:
  struct Config {
    std::uint32_t members = 1;
    Cycle latency;
  };
  struct Statistics {
    std::uint64_t releases = 0;
    Cycle waited;  ///< summed over tiles, from arrival to release
  };
  struct Release {
    Cycle at;
    TileId last;  ///< the tile that the others waited for; of several the lowest
    Cycle last_arrival;
  };

  explicit Barrier(Config config) : config_(config) {}

  /// Returns the release once every member has arrived, and starts over. A tile arrives once a
  /// round.
  std::optional<Release> arrive(TileId tile, Cycle at);

  [[nodiscard]] std::uint32_t arrived() const { return arrived_; }
  [[nodiscard]] std::uint32_t members() const { return config_.members; }
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  Config config_;
  Statistics statistics_;
  std::uint32_t arrived_ = 0;
  std::uint64_t arrival_sum_ = 0;
  TileId last_{};
  Cycle last_arrival_;
};

}  // namespace tessera
