#pragma once

#include <cstdint>

#include "kernels/sparse/published/reduction_placement.h"
#include "kernels/spmm_dynamic/plan.h"
#include "kernels/spmm_static/expectation.h"

/// How the vendor's planner chooses (poplibs lib/popsparse, 2023; PopSparse, arXiv 2303.16999): by
/// its own estimates of its own tile code (tile_code.cpp), with its optimism, within its share of
/// SRAM. What the chosen plan takes on our machine is not its business.
namespace tessera::sparse::published {

// Cycles of one tile with `workers` workers as the published planner expects them of its own tile
// code (poplibs lib/popsparse/StaticMatMulPartitioner.cpp; machines.md 2.1, 2.2, 2.6, 2.8). Part of
// that planner's choice of cuts; our code's cycles come from the machine.

/// `rows` block rows of `blocks` blocks each times `width` columns: of one worker where blocks are
/// single elements (workers divide rows), else of the tile (workers divide columns).
std::uint64_t product_cycles(const Shape& shape, std::uint64_t rows, std::uint64_t blocks,
                             std::uint64_t width, std::uint32_t workers);

/// Clearing so many bytes of partial rows; nothing where the product does it.
std::uint64_t zeroing_cycles(const Shape& shape, std::uint64_t bytes, std::uint32_t workers);

std::uint64_t adding_cycles(const Shape& shape, std::uint64_t results, std::uint64_t partials,
                            std::uint32_t workers);

class Policy {
 public:
  explicit Policy(const MachineConfig& machine) : machine_(machine) {}

  /// The result of a search over the cuts of a W known at build.
  struct Found {
    std::optional<spmm_static::Cuts> cuts;
    std::optional<spmm_static::Cuts> closest;  ///< those that are expected to need least memory
  };
  /// The cuts of least expected cycles; a pinned number (not 0) is taken as it is.
  [[nodiscard]] Found static_cuts(const spmm_static::Problem& problem,
                                  const spmm_static::Cuts& pinned) const;
  [[nodiscard]] std::optional<spmm_static::Expected> expect(const spmm_static::Problem& problem,
                                                            const spmm_static::Cuts& cuts) const;

  /// The grid that it chooses for patterns given at run time, and the room of their lists.
  [[nodiscard]] std::optional<spmm_dynamic::Plan> dynamic_plan(const spmm_dynamic::Problem& problem,
                                                               const spmm_dynamic::Pinned& pinned,
                                                               spmm_dynamic::Pricer& pricer) const;
  [[nodiscard]] static spmm_dynamic::ListRoom list_room();

  [[nodiscard]] std::uint64_t planned_bytes() const {
    return static_cast<std::uint64_t>(kMemoryShare * machine_.tile.sram_kib * 1024);
  }
  /// Where partial rows are added up.
  [[nodiscard]] ReductionPlacement placement() const {
    return {machine_.tiles, machine_.fabric.receive_bytes_per_cycle, machine_.sync.chip_cycles};
  }

 private:
  static constexpr double kMemoryShare = 0.6;
  const MachineConfig& machine_;
};

}  // namespace tessera::sparse::published
