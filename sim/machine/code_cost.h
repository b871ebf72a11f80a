#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/base/types.h"
#include "sim/machine/machine_config.h"

/// Cycles of tile code on one machine, for planners that know how many instructions and slots their
/// code takes.
namespace tessera {

class CodeCost {
 public:
  explicit CodeCost(const TileConfig& tile) : tile_(tile), costs_(tile.supervisor) {}

  /// From `run` to the end of `join`, `slots(worker)` slots each.
  template <class Slots>
  [[nodiscard]] std::uint64_t run(Slots slots) const {
    std::uint64_t end = 0;
    const std::uint64_t cycles_per_slot = tile_.issue == "barrel" ? tile_.contexts : 1;
    for (std::uint32_t w = 0; w < tile_.contexts; ++w) {
      const std::uint64_t start = std::uint64_t{costs_.launch_stagger_cycles} * w;
      end = std::max(end, start + slots(w) * cycles_per_slot);
    }
    return costs_.launch_cycles + end + costs_.join_cycles;
  }
  [[nodiscard]] std::uint64_t run_even(std::uint64_t slots) const {
    return run([slots](std::uint32_t) { return slots; });
  }
  [[nodiscard]] std::uint64_t plain(std::uint64_t instructions) const {
    return instructions * costs_.plain_cycles;
  }
  [[nodiscard]] std::uint64_t branch() const { return costs_.branch_taken_cycles; }
  /// One `ldcw`.
  [[nodiscard]] std::uint64_t load_weights(std::uint64_t bytes) const {
    return costs_.weight_load_cycles +
           ceil_div(bytes, std::uint64_t{tile_.matrix_unit.weight_load_bytes_per_cycle});
  }

 private:
  const TileConfig& tile_;
  const SupervisorCosts& costs_;
};

}  // namespace tessera
