#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/gemm/vertices.h"
#include "sim/program/fitted_cost.h"
#include "sim/program/step_costs.h"

namespace tessera::gemm {

/// What calls of this folder's tile code cost on one machine: measured on its tile; what one plan
/// has asked serves the next.
class VertexCosts {
 public:
  explicit VertexCosts(MachineCosts& costs);

  [[nodiscard]] const MachineConfig& machine() const { return steps_.machine(); }

  std::uint64_t product(const BlockShape& block, const Vertices::Part& part);
  std::uint64_t adding(Type type, std::uint64_t bytes, std::uint32_t arrays);
  std::uint64_t packing(std::uint64_t bytes);
  std::uint64_t regrouping(const Vertices::Chunks& chunks, bool to_blocks);

 protected:
  /// The cost of this name over sizes with these axes.
  template <class Make>
  FittedCost& fitted(const std::string& name, std::vector<FittedCost::Axis> axes, Make make);

  elf::KernelCode code_;
  StepCosts steps_;
  std::map<std::string, FittedCost> fitted_;
};

}  // namespace tessera::gemm
