#pragma once

#include <map>
#include <span>
#include <vector>

#include "sim/plan/pricing.h"

namespace tessera::plan {

/// Cycles of the calls in a description's compute steps. `closely`: for all tiles, not only those
/// that stand for them, and as Pricing::call prices them; calls whose time depends on data held by
/// arrays are run.
class Pricing::StepCalls {
 public:
  StepCalls(Pricing& pricing, const Description& description, std::span<const Tile> tiles,
            bool closely)
      : pricing_(pricing), description_(description), tiles_(tiles), closely_(closely) {}

  /// Cycles of the slowest tile, on average over the moments.
  [[nodiscard]] std::uint64_t cycles(const Compute& set);

  /// Estimates of each tile that has a part; none where some have no estimate.
  [[nodiscard]] std::vector<std::uint64_t> estimates_by_tile(const Compute& set) {
    const Estimates& its = estimates(set);
    return its.of_all ? its.by_tile : std::vector<std::uint64_t>();
  }

  /// Cycles of each tile that has a part; none where they cost too much to find.
  [[nodiscard]] std::vector<std::uint64_t> by_tile(const Compute& set);

 private:
  /// Cycles, by tile, of the calls that have estimates; only of some tiles where one tile has none.
  struct Estimates {
    std::vector<std::uint64_t> by_tile;
    bool of_all = true;  ///< no call is without
  };
  [[nodiscard]] const Estimates& estimates(const Compute& set);
  [[nodiscard]] std::uint64_t estimate(const Call& call);
  [[nodiscard]] std::uint64_t cycles(const std::vector<Call>& calls, Tile tile,
                                     std::uint32_t moment);
  [[nodiscard]] std::vector<Tile> standing_for(const Compute& set);
  [[nodiscard]] bool runs(const Call& call);
  [[nodiscard]] bool saves(const std::vector<Call>& calls);

  Pricing& pricing_;
  const Description& description_;
  std::span<const Tile> tiles_;
  bool closely_;
  std::map<const Compute*, Estimates> estimates_;
};

}  // namespace tessera::plan
