#include "kernels/spmm_dynamic/plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/sparse/published/policy.h"
#include "kernels/spmm_dynamic/pricer.h"
#include "sim/base/errors.h"

namespace tessera::spmm_dynamic {

namespace {

using Patterns = std::vector<sparse::BlockMatrix>;

// So many plans are judged by the patterns, of those that are expected to be best.
constexpr std::size_t kJudged = 6;
constexpr std::size_t kJudgedGiven = 128;  // of algorithm given

constexpr std::uint64_t kMostCells = 512;  // of a LoadMap, along rows and along columns

/// log of n over k.
double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/// The median of the blocks of the fullest partition, if the most blocks lie anywhere with equal
/// probability: each partition's number is hypergeometric, and partitions count as independent.
double fullest_partition(const Problem& problem, const Grid& grid) {
  const double all = static_cast<double>(problem.block_rows) * problem.block_columns;
  const double cells = static_cast<double>(ceil_div(problem.block_rows, grid.x)) *
                       ceil_div(problem.block_columns, grid.y);
  const auto blocks = static_cast<double>(problem.max_blocks);
  // Whether a partition has more than m blocks at most as often as one in all partitions does in
  // half of the patterns. Beyond the mean each probability is less than `ratio` of the one before.
  const auto suffices = [&](std::uint64_t number) {
    const double m = static_cast<double>(number) + 1;
    const double ratio = (blocks - m) * (cells - m) / ((m + 1) * (all - blocks - cells + m + 1));
    if (ratio >= 1) return false;
    const double log_probability = log_choose(blocks, m) + log_choose(all - blocks, cells - m) -
                                   log_choose(all, cells) - std::log1p(-ratio);
    return log_probability <= std::log(std::numbers::ln2 / grid.partitions());
  };
  auto fewest = static_cast<std::uint64_t>(std::ceil(blocks * cells / all));
  auto most = std::max(fewest, static_cast<std::uint64_t>(std::min(blocks, cells)));
  while (fewest < most) {
    const std::uint64_t middle = fewest + (most - fewest) / 2;
    if (suffices(middle))
      most = middle;
    else
      fewest = middle + 1;
  }
  return static_cast<double>(most);
}

/// Counts of a pattern in cells of block rows and columns, for estimates over many grids.
class LoadMap {
 public:
  explicit LoadMap(const sparse::BlockMatrix& w);

  /// Roughly the blocks of the fullest of x times y partitions.
  [[nodiscard]] std::uint64_t most_blocks(std::uint32_t x, std::uint32_t y) const;

 private:
  [[nodiscard]] std::uint64_t before(std::uint64_t row, std::uint64_t column) const {
    return before_[row * (columns_ + 1) + column];
  }

  std::uint64_t rows_;
  std::uint64_t columns_;
  std::vector<std::uint64_t> before_;  ///< blocks in cells above and left of a corner
};

LoadMap::LoadMap(const sparse::BlockMatrix& w)
    : rows_(std::min<std::uint64_t>(w.block_rows(), kMostCells)),
      columns_(std::min<std::uint64_t>(w.block_columns(), kMostCells)),
      before_((rows_ + 1) * (columns_ + 1), 0) {
  for (std::uint32_t row = 0; row < w.block_rows(); ++row) {
    const std::uint64_t i = row * rows_ / w.block_rows();
    for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
      const std::uint64_t j = w.column[e] * columns_ / w.block_columns();
      ++before_[(i + 1) * (columns_ + 1) + j + 1];
    }
  }
  for (std::uint64_t i = 1; i <= rows_; ++i) {
    std::uint64_t row = 0;
    for (std::uint64_t j = 1; j <= columns_; ++j) {
      row += before_[i * (columns_ + 1) + j];
      before_[i * (columns_ + 1) + j] = row + before(i - 1, j);
    }
  }
}

std::uint64_t LoadMap::most_blocks(std::uint32_t x, std::uint32_t y) const {
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < x; ++i) {
    const std::uint64_t top = i * rows_ / x;
    const std::uint64_t bottom = std::max(top + 1, (i + 1) * rows_ / x);
    for (std::uint64_t j = 0; j < y; ++j) {
      const std::uint64_t left = j * columns_ / y;
      const std::uint64_t right = std::max(left + 1, (j + 1) * columns_ / y);
      const std::uint64_t blocks =
          before(bottom, right) + before(top, left) - before(bottom, left) - before(top, right);
      most = std::max(most, blocks);
    }
  }
  return most;
}

/// Both numberings of all grids, by the blocks that are expected in the fullest partition.
template <class Fullest>
std::optional<Plan> searched(const Problem& problem, const Pinned& pinned, Pricer& pricer,
                             const Fullest& fullest, const Patterns& patterns, std::size_t judged) {
  Plans plans(problem, pricer);
  for_all_parts(problem, pinned, pricer.machine().tiles,
                [&](std::uint32_t x, std::uint32_t y, std::uint32_t most_z) {
                  Grid grid = grid_of(problem, x, y, most_z);
                  if (grid.partitions() > kMostPartitions) return;
                  const Load load = spilling_load(problem, grid, fullest(grid));
                  for (const Neighbours pairs : {Neighbours::share_pool, Neighbours::share_x}) {
                    if (pinned.pairs.value_or(pairs) != pairs) continue;
                    grid.neighbours = pairs;
                    plans.add(grid, load);
                  }
                });
  return plans.best(&patterns, judged);
}

/// For uniform patterns, or by the counts of those that are given in cells.
std::optional<Plan> searched(const Problem& problem, const Pinned& pinned, Pricer& pricer,
                             const Patterns& patterns) {
  if (pinned.algorithm == Algorithm::best)
    return searched(
        problem, pinned, pricer, [&](const Grid& grid) { return fullest_partition(problem, grid); },
        patterns, kJudged);
  const std::vector<LoadMap> maps(patterns.begin(), patterns.end());
  const auto fullest = [&](const Grid& grid) {
    std::uint64_t most = 0;
    for (const LoadMap& map : maps) most = std::max(most, map.most_blocks(grid.x, grid.y));
    return static_cast<double>(most);
  };
  return searched(problem, pinned, pricer, fullest, patterns, kJudgedGiven);
}

/// Of two plans the one that these patterns prefer.
std::optional<Plan> faster_with(const Patterns& patterns, const std::optional<Plan>& first,
                                const std::optional<Plan>& second, const Problem& problem,
                                Pricer& pricer) {
  if (!first || !second) return first ? first : second;
  const auto cycles = pricer.predict(problem, first->pool, patterns);
  const auto other = pricer.predict(problem, second->pool, patterns);
  return other && (!cycles || other->cycles < cycles->cycles) ? second : first;
}

/// The published plan, if it is one of those that come into question.
std::optional<Plan> published_plan(const Problem& problem, const Pinned& pinned, Pricer& pricer) {
  const MachineConfig& machine = pricer.machine();
  const auto plan = sparse::published::Policy(machine).dynamic_plan(problem, pinned, pricer);
  if (!plan || pinned.algorithm == Algorithm::published) return plan;
  const Neighbours pairs = plan->pool.grid.neighbours;
  // The published planner takes more than the plan's share of memory where nothing else fits.
  const double room = problem.memory * machine.tile.sram_kib * 1024;
  const bool fits = static_cast<double>(pricer.bytes(problem, plan->pool, {})) <= room;
  return fits && pinned.pairs.value_or(pairs) == pairs ? plan : std::nullopt;
}

void require_at_most(const char* key, std::uint32_t found, std::uint64_t most) {
  if (found > most)
    throw KeyError(fmt::format("workload.plan.{}", key),
                   fmt::format("found {}, allowed 0 to {}", found, most));
}

}  // namespace

Grid grid_of(const Problem& problem, std::uint32_t x, std::uint32_t y, std::uint32_t most_z) {
  const std::uint32_t grains = ceil_div(problem.n, column_grain(problem.shape));
  const std::uint32_t each = ceil_div(grains, std::min(most_z, grains));
  return {x, y, ceil_div(grains, each), each * column_grain(problem.shape)};
}

Load spilling_load(const Problem& problem, const Grid& grid, double most) {
  const double rows = ceil_div(problem.block_rows, grid.x);
  const auto portion = [&](double blocks) {
    return Portion{blocks, rows * (1 - std::exp(-blocks / rows)), {}};
  };
  const double room = static_cast<double>(bucket_blocks(problem, grid) * grid.z);
  Load load{portion(std::min(most, room)), {}, 0, 0};
  if (most <= room || grid.partitions() == 1) return load;
  load.steps = portion(most - room);
  const auto pools = static_cast<std::uint32_t>(std::ceil((most - room) / room));
  if (grid.y > 1) load.y_steps = round_up(pools, 2U);
  if (grid.x > 1) load.x_steps = grid.y > 1 ? 2 : round_up(pools, 2U);
  return load;
}

void for_all_parts(
    const Problem& problem, const Pinned& pinned, std::uint32_t tiles,
    const std::function<void(std::uint32_t x, std::uint32_t y, std::uint32_t most_z)>& visit) {
  const std::uint32_t least_z = std::max(1U, pinned.z);
  for (std::uint32_t x = 1; x <= std::min(tiles / least_z, problem.block_rows); ++x) {
    if (pinned.x != 0 && x != pinned.x) continue;
    const std::uint32_t most_y = std::min(tiles / (x * least_z), problem.block_columns);
    for (std::uint32_t y = 1; y <= most_y; ++y) {
      if (pinned.y != 0 && y != pinned.y) continue;
      visit(x, y, pinned.z != 0 ? pinned.z : tiles / (x * y));
    }
  }
}

Plan make_plan(const Problem& problem, const Pinned& pinned, Pricer& pricer,
               const std::vector<sparse::BlockMatrix>& patterns) {
  const MachineConfig& machine = pricer.machine();
  const Shape& shape = problem.shape;
  require_at_most("x", pinned.x, std::min(machine.tiles, problem.block_rows));
  require_at_most("y", pinned.y,
                  std::min(machine.tiles / std::max(1U, pinned.x), problem.block_columns));
  require_at_most("z", pinned.z, machine.tiles / (std::max(1U, pinned.x) * std::max(1U, pinned.y)));
  std::optional<Plan> plan;
  if (pinned.algorithm != Algorithm::published) plan = searched(problem, pinned, pricer, patterns);
  if (pinned.algorithm != Algorithm::given)
    plan = faster_with(patterns, plan, published_plan(problem, pinned, pricer), problem, pricer);
  if (plan) return *plan;
  if (pinned.pairs) {  // what the other cuts leave of it is said by who compares plans
    Pinned others = pinned;
    others.pairs.reset();
    return make_plan(problem, others, pricer, patterns);
  }
  throw UserError(fmt::format(
      "workload: no plan of spmm_dynamic fits {} tiles of {} KiB: up to {} blocks of {} x {} in "
      "{} x {} of them, times {} columns",
      machine.tiles, machine.tile.sram_kib, problem.max_blocks, shape.block, shape.block,
      problem.block_rows, problem.block_columns, problem.n));
}

}  // namespace tessera::spmm_dynamic
