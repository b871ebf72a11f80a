#pragma once

#include <cstdint>
#include <optional>

#include "sim/base/types.h"

namespace tessera {

/// The barrier of one sync zone: releases its tiles a fixed time after the last one arrives.
/// Leaves out: the skew of the release over the chip (published worst case 126 cycles on C600).
/// Timing: released at last arrival + latency; arrivals may be recorded in any order.
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
  /// Tiles that have arrived. Of several last ones, the lowest counts, in any order of recording.
  struct Arrivals {
    std::uint32_t tiles = 0;
    TileId last{};
    Cycle last_at;
    std::uint64_t sum_at = 0;

    /// True if `tile` is now the last.
    bool add(TileId tile, Cycle at) { return add({1, tile, at, at.count()}); }
    /// True if the last tile is now one of `others`, which must not be empty.
    bool add(const Arrivals& others) {
      const bool later = tiles == 0 || others.last_at > last_at ||
                         (others.last_at == last_at && index(others.last) < index(last));
      if (later) {
        last = others.last;
        last_at = others.last_at;
      }
      tiles += others.tiles;
      sum_at += others.sum_at;
      return later;
    }
  };
  struct Release {
    Cycle at;
    TileId last;  ///< the last tile to arrive; of several the lowest
    Cycle last_arrival;
  };

  explicit Barrier(Config config) : config_(config) {}

  /// Returns the release once every member has arrived, then starts the next round. A tile arrives
  /// once per round.
  std::optional<Release> arrive(TileId tile, Cycle at) {
    return arrive(Arrivals{1, tile, at, at.count()});
  }
  /// Records the arrivals of several tiles at once.
  std::optional<Release> arrive(const Arrivals& arrivals);

  [[nodiscard]] std::uint32_t arrived() const { return arrived_.tiles; }
  [[nodiscard]] std::uint32_t members() const { return config_.members; }
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  Config config_;
  Statistics statistics_;
  Arrivals arrived_;
};

}  // namespace tessera
