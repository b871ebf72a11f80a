#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/spmm_static/partition.h"
#include "sim/machine/machine_config.h"

/// The published way to choose intervals and bands (PopSparse, arXiv 2303.16999): the cuts with the
/// least cost that is expected if the blocks of W lie anywhere with equal probability. Its terms
/// are the published ones (machines.md 2.3), those of the vendor's tile code among them; our own
/// choice begins with the same expectations, but with what our tile code takes.
namespace tessera::spmm_static {

/// Pattern and sizes, as the planner sees them.
struct Problem {
  Shape shape;
  std::uint32_t block_rows;
  std::uint32_t block_columns;
  std::uint32_t columns;  ///< of X with padding
  std::uint64_t blocks;
  std::vector<std::uint32_t> by_column;  ///< blocks of W in each block column
};
Problem make_problem(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n);

/// The cost of cuts; nothing if they do not go onto the tiles or into their SRAM.
struct Expected {
  std::uint64_t cycles;
  std::uint64_t bytes;  ///< of a tile
};
/// Who expects.
enum class Planner : std::uint8_t {
  published,  ///< dense rows come at the rate of pairs that take the same, weighted by their spread
  ours,       ///< each tile takes its own
};
std::optional<Expected> expect(const Problem& problem, const MachineConfig& machine,
                               const Cuts& cuts, Planner planner);

/// The largest cuts that a search considers, without pinned ones.
Cuts most_cuts(const Problem& problem, Planner planner);

/// The part of the tiles' SRAM that a product may plan with.
constexpr double kMemoryShare = 0.6;

/// What a search came to.
struct Found {
  std::optional<Cuts> cuts;
  std::optional<Cuts> closest;  ///< those that are expected to need least memory
};

/// Bytes of a tile's SRAM that the published planner plans with.
std::uint64_t planned_bytes(const MachineConfig& machine);

/// The cuts of least expected cycles; a pinned number (not 0) is taken as it is.
Found published_cuts(const Problem& problem, const MachineConfig& machine, const Cuts& pinned);

}  // namespace tessera::spmm_static
