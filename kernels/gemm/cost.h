#pragma once

#include <map>
#include <tuple>

#include "kernels/gemm/geometry.h"
#include "kernels/gemm/vertices.h"
#include "sim/program/fitted_cost.h"
#include "sim/program/image.h"
#include "sim/program/step_costs.h"

namespace tessera::gemm {

/// What plans cost on one machine. Tile code is measured on the machine's tile; what one plan has
/// asked serves the next.
class PlanCosts {
 public:
  explicit PlanCosts(MachineCosts& costs);

  [[nodiscard]] const MachineConfig& machine() const { return steps_.machine(); }
  /// Supersteps of the fullest tile one after the other, nothing overlapped.
  Prediction predict(const Geometry& geometry);

 private:
  void add_product(const Geometry& geometry, std::uint32_t cut, std::uint64_t times,
                   Prediction& sum);
  void add_panels(const Geometry& geometry, Prediction& sum);
  void add_partials(const Geometry& geometry, Prediction& sum);

  std::uint64_t product(const BlockShape& block, const Vertices::Part& part);
  std::uint64_t adding(Type type, std::uint64_t bytes, std::uint32_t arrays);
  std::uint64_t packing(std::uint64_t bytes);
  std::uint64_t regrouping(const Vertices::Chunks& chunks, bool to_blocks);
  /// The cost of this name over sizes with these axes.
  template <class Make>
  FittedCost& fitted(const std::string& name, std::vector<FittedCost::Axis> axes, Make make);

  elf::KernelCode code_;
  StepCosts steps_;
  std::map<std::string, FittedCost> fitted_;
};

/// SRAM that the fullest tile, number 0, needs at least: tensors live together, argument blocks,
/// descriptor lists (sized as the scheduled fabric's) and code.
program::CategoryBytes tile_memory(const Geometry& geometry, const MachineConfig& machine);

}  // namespace tessera::gemm
