#pragma once

#include "kernels/gemm/geometry.h"
#include "kernels/gemm/vertex_costs.h"
#include "sim/program/image.h"

namespace tessera::gemm {

/// What plans cost on one machine.
class PlanCosts : private VertexCosts {
 public:
  using VertexCosts::machine;
  using VertexCosts::VertexCosts;

  /// Supersteps of the fullest tile one after the other, nothing overlapped.
  Prediction predict(const Geometry& geometry);

 private:
  void add_product(const Geometry& geometry, std::uint32_t cut, std::uint64_t times,
                   Prediction& sum);
  void add_panels(const Geometry& geometry, Prediction& sum);
  void add_partials(const Geometry& geometry, Prediction& sum);
};

/// SRAM that the fullest tile, number 0, needs at least: tensors live together, argument blocks,
/// descriptor lists (sized as the scheduled fabric's) and code.
program::CategoryBytes tile_memory(const Geometry& geometry, const MachineConfig& machine);
/// What of it no number of supersteps above one makes less: operands as they wait, and partials.
std::uint64_t lasting_bytes(const Geometry& geometry, const MachineConfig& machine);

}  // namespace tessera::gemm
