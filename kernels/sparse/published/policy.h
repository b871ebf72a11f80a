#pragma once

#include <cstdint>

#include "kernels/sparse/published/reduction_placement.h"
#include "kernels/spmm_dynamic/plan.h"
#include "kernels/spmm_static/expectation.h"

/// Choices of the vendor's planner (poplibs lib/popsparse, 2023; PopSparse, arXiv 2303.16999): by
/// its own estimates for its own tile code (tile_code.cpp), with their optimism, within its share
/// of SRAM. It does not consider the time of the chosen plan on our machine.
namespace tessera::sparse::published {

// Cycles of one tile with `workers` workers that the published planner expects for its own tile
// code (poplibs lib/popsparse/StaticMatMulPartitioner.cpp; machines.md 2.1, 2.2, 2.6, 2.8). They
// only serve its choice of cuts; the cycles of our code come from the machine.

/// Product of `rows` block rows of `blocks` blocks each times `width` columns: on one worker for
/// single elements (workers divide rows), else on the tile (workers divide columns).
std::uint64_t product_cycles(const Shape& shape, std::uint64_t rows, std::uint64_t blocks,
                             std::uint64_t width, std::uint32_t workers);

/// Clearing of partial rows; 0 if the product does it.
std::uint64_t zeroing_cycles(const Shape& shape, std::uint64_t bytes, std::uint32_t workers);

std::uint64_t adding_cycles(const Shape& shape, std::uint64_t results, std::uint64_t partials,
                            std::uint32_t workers);

class Policy {
 public:
  explicit Policy(const MachineConfig& machine) : machine_(machine) {}

  /// The result of a search over the cuts of a W known at build.
  struct Found {
    std::optional<spmm_static::Cuts> cuts;
    std::optional<spmm_static::Cuts> closest;  ///< the cuts with the lowest expected memory
  };
  /// The cuts with the fewest expected cycles; pinned numbers (not 0) are kept.
  [[nodiscard]] Found static_cuts(const spmm_static::Problem& problem,
                                  const spmm_static::Cuts& pinned) const;
  [[nodiscard]] std::optional<spmm_static::Expected> expect(const spmm_static::Problem& problem,
                                                            const spmm_static::Cuts& cuts) const;

  /// The grid chosen for patterns given at run time, and the capacity of its lists.
  [[nodiscard]] std::optional<spmm_dynamic::Plan> dynamic_plan(const spmm_dynamic::Problem& problem,
                                                               const spmm_dynamic::Pinned& pinned,
                                                               spmm_dynamic::Pricer& pricer) const;
  [[nodiscard]] static spmm_dynamic::ListRoom list_room();

  [[nodiscard]] std::uint64_t planned_bytes() const {
    return static_cast<std::uint64_t>(kMemoryShare * machine_.tile.sram_kib * 1024);
  }
  /// Placement of the sums of partial rows.
  [[nodiscard]] ReductionPlacement placement() const {
    return {machine_.tiles, machine_.fabric.receive_bytes_per_cycle, machine_.sync.chip_cycles};
  }

 private:
  static constexpr double kMemoryShare = 0.6;
  const MachineConfig& machine_;
};

}  // namespace tessera::sparse::published
