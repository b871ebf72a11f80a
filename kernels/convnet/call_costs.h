#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "kernels/convnet/mapping.h"
#include "sim/plan/fitted_cost.h"
#include "sim/plan/step_costs.h"

/// What the calls of a core take, measured on the machine's tile.
namespace tessera::convnet {

class CallCosts {
 public:
  explicit CallCosts(MachineCosts& costs) : steps_(costs) {}

  /// All calls of the core that has most to do in a layer.
  [[nodiscard]] std::uint64_t layer(const LayerShape& shape, const Mapping& mapping);
  /// Of starting a transfer and waiting for it.
  [[nodiscard]] std::uint64_t transfer() const { return steps_.transfer_cycles(); }

 private:
  enum class Kind : std::uint8_t { convolve, first_part, middle_part, last_part, shared, pool_max };
  /// Kind, output rows and columns.
  using Key = std::array<std::uint32_t, 3>;

  [[nodiscard]] std::uint64_t compute(Kind kind, std::uint32_t rows, std::uint32_t columns,
                                      std::uint32_t blocks, std::uint32_t steps);
  [[nodiscard]] std::uint64_t prepare(std::uint32_t blocks, std::uint32_t planes,
                                      std::uint32_t taps);
  [[nodiscard]] std::uint64_t measured(Kind kind, std::uint32_t rows, std::uint32_t columns,
                                       std::uint32_t blocks, std::uint32_t steps) const;

  StepCosts steps_;
  std::map<Key, FittedCost> computes_;            ///< by blocks and steps
  std::map<std::uint32_t, FittedCost> prepares_;  ///< by taps: by blocks and planes
};

}  // namespace tessera::convnet
