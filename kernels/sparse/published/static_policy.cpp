#include "kernels/sparse/published/policy.h"

namespace tessera::sparse::published {

using spmm_static::Cuts;
using spmm_static::Expected;
using spmm_static::Problem;
using spmm_static::TileWork;

namespace {

std::uint64_t rate(const MachineConfig& machine) { return machine.fabric.receive_bytes_per_cycle; }

/// Cycles to receive rows of X, optimistically at the rate of pairs that share data, times span /
/// columns: the band's rows over those that the tile uses.
std::uint64_t rows_of_x(const MachineConfig& machine, const TileWork& work) {
  const std::uint64_t paired = machine.fabric.pair_sharing ? 2 * rate(machine) : rate(machine);
  const double bias = static_cast<double>(work.span) / static_cast<double>(work.columns);
  return static_cast<std::uint64_t>(static_cast<double>(ceil_div(work.x_bytes(), paired)) * bias);
}

std::uint64_t multiply(const TileWork& work, std::uint32_t workers) {
  const std::uint64_t rows =
      work.shape.block > 1 ? work.rows : ceil_div<std::uint64_t>(work.rows, workers);
  return product_cycles(work.shape, rows, ceil_div(work.blocks, work.rows), work.width, workers) +
         zeroing_cycles(work.shape, work.q_bytes(), workers);
}

std::uint64_t add(const MachineConfig& machine, const TileWork& work) {
  const std::uint64_t sums =
      ceil_div(work.q_bytes() / work.shape.partial_bytes(), work.partial_rows);
  return ceil_div(work.partial_bytes(), rate(machine)) +
         adding_cycles(work.shape, sums, work.partial_rows, machine.tile.contexts);
}

/// The terms are those of machines.md 2.3.
Expected price(const MachineConfig& machine, const TileWork& work, bool shares_values) {
  const std::uint64_t values = shares_values ? ceil_div(work.value_bytes(), rate(machine)) : 0;
  const std::uint64_t held = work.x_bytes() + work.value_bytes() + work.q_bytes();
  return {rows_of_x(machine, work) + values + multiply(work, machine.tile.contexts) +
              add(machine, work) + work.results,
          std::max(held, work.partial_bytes() + work.q_bytes())};
}

/// True if 16-bit entries of its work lists can address the dense rows of the widest band: in bytes
/// for single elements, else in words of a block's column.
bool names(const Problem& problem, const spmm_static::Bands& bands, std::uint32_t width) {
  std::uint64_t widest = 0;  // most columns with blocks in a band
  for (std::uint32_t band = 0; band < bands.count(); ++band) {
    const auto at = [&](std::size_t i) {
      return problem.by_column.begin() + static_cast<std::ptrdiff_t>(bands.column[i]);
    };
    const auto empty = static_cast<std::uint64_t>(std::count(at(band), at(band + 1), 0U));
    widest = std::max(widest, bands.column[band + 1] - bands.column[band] - empty);
  }
  const std::uint64_t block = problem.shape.block;
  const std::uint64_t unit = block == 1 ? 1 : 8 * block;
  return widest * width * block * problem.shape.bytes() <= 0xffff * unit;
}

spmm_static::Planner planner(const MachineConfig& machine) {
  constexpr std::uint32_t kMostParts = 32;
  return {kMostParts, true,
          [&machine](const TileWork& work, bool shares_values) {
            return price(machine, work, shares_values);
          },
          names};
}

}  // namespace

std::optional<Expected> Policy::expect(const Problem& problem, const Cuts& cuts) const {
  return spmm_static::expect(problem, machine_.tiles, cuts, planner(machine_));
}

Policy::Found Policy::static_cuts(const Problem& problem, const Cuts& pinned) const {
  Found found;
  std::uint64_t least = 0;
  std::uint64_t least_bytes = ~std::uint64_t{0};
  spmm_static::for_all_cuts(problem, machine_.tiles, pinned, planner(machine_),
                            [&](const Cuts& cuts, const Expected& expected) {
                              if (expected.bytes < least_bytes) found.closest = cuts;
                              least_bytes = std::min(least_bytes, expected.bytes);
                              if (expected.bytes > planned_bytes()) return;
                              if (found.cuts && expected.cycles >= least) return;
                              found.cuts = cuts;
                              least = expected.cycles;
                            });
  return found;
}

}  // namespace tessera::sparse::published
