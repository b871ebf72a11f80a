#pragma once

#include <map>
#include <string>

#include "kernels/fft/program.h"
#include "kernels/fft/vertices.h"
#include "sim/plan/fitted_cost.h"
#include "sim/plan/step_costs.h"

namespace tessera::fft {

/// What vertices cost on the machine's tile, measured at few sizes, and how they are best divided
/// among workers.
class Costs {
 public:
  explicit Costs(MachineCosts& costs) : machine_costs_(costs), code_("fft"), steps_(costs) {}

  struct Division {
    std::uint32_t unit_parts;  ///< see Vertices
    std::uint64_t cycles;
  };
  /// Of those that leave no worker more than another, but for one group or unit.
  [[nodiscard]] Division best(const VertexSize& vertex);
  /// Of every vertex of tile 0 in turn.
  [[nodiscard]] std::vector<std::uint32_t> unit_parts(const Digits& digits);

  /// Of the passes of a phase.
  [[nodiscard]] std::uint64_t passes(std::uint32_t length, std::uint64_t columns,
                                     const std::vector<std::uint32_t>& radices);

  /// Predicted by the sum of vertices and exchanges: for comparing many plans.
  [[nodiscard]] std::uint64_t estimate(const Digits& digits);

 private:
  std::uint64_t cycles(const std::string& codelet, const Share& share);
  program::Vertex sample(program::Program& program, const std::string& codelet,
                         const Share& share) const;

  MachineCosts& machine_costs_;
  elf::KernelCode code_;
  StepCosts steps_;
  std::map<std::string, FittedCost> fitted_;
};

}  // namespace tessera::fft
