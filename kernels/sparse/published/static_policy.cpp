#include "kernels/sparse/published/policy.h"

namespace tessera::sparse::published {

using spmm_static::Bands;
using spmm_static::Cuts;
using spmm_static::Expected;
using spmm_static::Problem;
using spmm_static::TileWork;

namespace {

/// Its terms are those of machines.md 2.3.
class Pricing {
 public:
  explicit Pricing(const MachineConfig& machine) : machine_(machine) {}

  [[nodiscard]] Expected price(const TileWork& work, bool shares_values) const {
    const std::uint64_t values = shares_values ? ceil_div(work.value_bytes(), rate()) : 0;
    const std::uint64_t held = work.x_bytes() + work.value_bytes() + work.q_bytes();
    return {rows_of_x(work) + values + multiply(work) + add(work) + work.results,
            std::max(held, work.partial_bytes() + work.q_bytes())};
  }

  /// Its work lists, of 16-bit numbers, name places in the dense rows of the widest band, in bytes
  /// with single elements, else in words of a column of a block.
  static bool names(const Problem& problem, const Bands& bands, std::uint32_t width) {
    std::uint64_t widest = 0;  // of columns with blocks
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

 private:
  [[nodiscard]] std::uint64_t rate() const { return machine_.fabric.receive_bytes_per_cycle; }

  /// Hoped to come at the rate of pairs that take the same, the less so the more of the band's rows
  /// a tile leaves out.
  [[nodiscard]] std::uint64_t rows_of_x(const TileWork& work) const {
    const std::uint64_t paired = machine_.fabric.pair_sharing ? 2 * rate() : rate();
    const double bias = static_cast<double>(work.span) / static_cast<double>(work.columns);
    return static_cast<std::uint64_t>(static_cast<double>(ceil_div(work.x_bytes(), paired)) * bias);
  }
  [[nodiscard]] std::uint64_t multiply(const TileWork& work) const {
    const std::uint32_t workers = machine_.tile.contexts;
    const std::uint64_t rows =
        work.shape.block > 1 ? work.rows : ceil_div<std::uint64_t>(work.rows, workers);
    return product_cycles(work.shape, rows, ceil_div(work.blocks, work.rows), work.width, workers) +
           zeroing_cycles(work.shape, work.q_bytes(), workers);
  }
  [[nodiscard]] std::uint64_t add(const TileWork& work) const {
    const std::uint64_t sums =
        ceil_div(work.q_bytes() / work.shape.partial_bytes(), work.partial_rows);
    return ceil_div(work.partial_bytes(), rate()) +
           adding_cycles(work.shape, sums, work.partial_rows, machine_.tile.contexts);
  }

  const MachineConfig& machine_;
};

spmm_static::Planner planner(const MachineConfig& machine) {
  constexpr std::uint32_t kMostParts = 32;
  const auto price = [&machine](const TileWork& work, bool shares_values) {
    return Pricing(machine).price(work, shares_values);
  };
  return {kMostParts, true, price, Pricing::names};
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
