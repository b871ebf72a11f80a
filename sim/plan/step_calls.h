#pragma once

#include <map>
#include <span>
#include <vector>

#include "sim/plan/pricing.h"

namespace tessera::plan {

/// Cycles of the calls in a description's compute steps. `closely`: for all tiles, not only the
/// representative ones, and priced as by Pricing::call; calls whose time depends on data in arrays
/// are run.
class Pricing::StepCalls {
 public:
  StepCalls(Pricing& pricing, const Description& description, std::span<const Tile> tiles,
            bool closely)
      : pricing_(pricing), description_(description), tiles_(tiles), closely_(closely) {}

  /// Cycles of the slowest tile, on average over the moments.
  [[nodiscard]] std::uint64_t cycles(const Compute& set);

  /// Estimate for each participating tile; empty if a call has none.
  [[nodiscard]] std::vector<std::uint64_t> estimates_by_tile(const Compute& set) {
    const Estimates& its = estimates(set);
    return its.of_all ? its.by_tile : std::vector<std::uint64_t>();
  }

  /// Cycles of each participating tile; empty if too costly to compute.
  [[nodiscard]] std::vector<std::uint64_t> by_tile(const Compute& set);

 private:
  /// By tile: cycles of the calls that have estimates; ends after the first tile without any.
  struct Estimates {
    std::vector<std::uint64_t> by_tile;
    bool of_all = true;  ///< all calls have estimates
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
