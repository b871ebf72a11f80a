#include "kernels/spmm_dynamic/planner.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/sparse/published/policy.h"
#include "kernels/spmm_dynamic/load.h"
#include "sim/base/errors.h"

namespace tessera::spmm_dynamic {

namespace {

constexpr std::size_t kPackedGrids = 128;  // of algorithm given

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

/// What a plan takes with these very patterns; nothing if its buckets have no room for one.
std::optional<std::uint64_t> cycles_with(const Problem& problem, const Plan& plan, Cost& cost,
                                         const std::vector<sparse::BlockMatrix>& patterns) {
  std::uint64_t cycles = 0;
  try {
    for (const sparse::BlockMatrix& w : patterns)
      cycles += cost.predict(problem, plan.pool, pack(w, plan.pool).load).cycles;
  } catch (const UserError&) {
    return std::nullopt;
  }
  return cycles;
}

/// Uniform patterns: the fullest partition, and what spills from it.
class UniformSearch final : public Search {
 public:
  using Search::Search;

 protected:
  [[nodiscard]] Load expected(const Problem& problem, const Grid& grid) const override {
    return spilling_load(problem, grid, fullest_partition(problem, grid));
  }
};

/// The very patterns that are given: by their counts in cells, then packed for the best grids.
class GivenSearch final : public Search {
 public:
  GivenSearch(const Problem& problem, const Pinned& pinned, Cost& cost,
              const std::vector<sparse::BlockMatrix>& patterns)
      : Search(problem, pinned, cost), patterns_(patterns) {
    for (const sparse::BlockMatrix& w : patterns) maps_.emplace_back(w);
  }

 protected:
  [[nodiscard]] Load expected(const Problem& problem, const Grid& grid) const override {
    std::uint64_t most = 0;
    for (const LoadMap& map : maps_) most = std::max(most, map.most_blocks(grid.x, grid.y));
    return spilling_load(problem, grid, static_cast<double>(most));
  }

  using Search::consider;
  void consider(const Grid& grid, std::uint64_t /*further_cycles*/) override {
    best_.reset();
    Search::consider(grid, 0);
    if (best_) candidates_.push_back(*best_);
  }

  void finish() override {
    best_.reset();
    const auto cycles = [](const Plan& plan) { return plan.prediction.cycles; };
    const auto few = std::min<std::size_t>(candidates_.size(), kPackedGrids);
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(few),
                      candidates_.end(),
                      [&](const Plan& a, const Plan& b) { return cycles(a) < cycles(b); });
    for (std::size_t i = 0; i < few; ++i) {
      Plan& plan = candidates_[i];
      const auto found = cycles_with(problem_, plan, cost_, patterns_);
      if (!found) continue;
      plan.prediction = {.cycles = *found};
      if (!best_ || cycles(plan) < cycles(*best_)) best_ = plan;
    }
  }

 private:
  const std::vector<sparse::BlockMatrix>& patterns_;
  std::vector<LoadMap> maps_;  ///< by pattern
  std::vector<Plan> candidates_;
};

/// Of two plans the one that these patterns prefer; the second only where it fits.
std::optional<Plan> faster_with(const std::vector<sparse::BlockMatrix>& patterns,
                                std::optional<Plan> first, std::optional<Plan> second,
                                const Problem& problem, Cost& cost) {
  // The published planner takes more than the plan's share of memory where nothing else fits.
  if (!second || !fits(problem, second->pool, cost.machine())) return first;
  if (!first) return second;
  const auto cycles = cycles_with(problem, *first, cost, patterns);
  const auto other = cycles_with(problem, *second, cost, patterns);
  return other && (!cycles || *other < *cycles) ? second : first;
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

std::optional<Plan> Search::best() {
  const std::uint32_t tiles = cost_.machine().tiles;
  const std::uint32_t least_z = std::max(1U, pinned_.z);
  for (std::uint32_t x = 1; x <= std::min(tiles / least_z, problem_.block_rows); ++x) {
    if (pinned_.x != 0 && x != pinned_.x) continue;
    const std::uint32_t most_y = std::min(tiles / (x * least_z), problem_.block_columns);
    for (std::uint32_t y = 1; y <= most_y; ++y) {
      if (pinned_.y != 0 && y != pinned_.y) continue;
      consider(x, y, pinned_.z != 0 ? pinned_.z : tiles / (x * y));
    }
  }
  finish();
  return best_;
}

void Search::consider(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  Grid grid = grid_of(problem_, x, y, z);
  for (const Neighbours neighbours : {Neighbours::share_pool, Neighbours::share_x}) {
    if (pinned_.pairs.value_or(neighbours) != neighbours) continue;
    grid.neighbours = neighbours;
    consider(grid, 0);
  }
}

void Search::consider(const Grid& grid, std::uint64_t further_cycles) {
  if (grid.partitions() > kMostPartitions) return;
  const MachineConfig& machine = cost_.machine();
  Plan plan{pool_of(problem_, grid, machine.tile.contexts), bucket_blocks(problem_, grid), {}};
  if (!fits(problem_, plan.pool, machine)) return;
  plan.pool.row_units = cost_.row_units(grid.columns);
  plan.prediction = cost_.predict(problem_, plan.pool, expected(problem_, grid));
  const std::uint64_t cost = plan.prediction.cycles + further_cycles;
  if (best_ && cost >= best_cost_) return;
  best_ = plan;
  best_cost_ = cost;
}

Plan make_plan(const Problem& problem, const Pinned& pinned, Cost& cost,
               const std::vector<sparse::BlockMatrix>& patterns) {
  const MachineConfig& machine = cost.machine();
  const Shape& shape = problem.shape;
  require_at_most("x", pinned.x, std::min(machine.tiles, problem.block_rows));
  require_at_most("y", pinned.y,
                  std::min(machine.tiles / std::max(1U, pinned.x), problem.block_columns));
  require_at_most("z", pinned.z, machine.tiles / (std::max(1U, pinned.x) * std::max(1U, pinned.y)));
  std::optional<Plan> plan;
  switch (pinned.algorithm) {
    case Algorithm::published:
      plan = sparse::published::Policy(machine).dynamic_plan(problem, pinned, cost);
      break;
    case Algorithm::best: {
      auto published = sparse::published::Policy(machine).dynamic_plan(problem, pinned, cost);
      if (published &&
          pinned.pairs.value_or(published->pool.grid.neighbours) != published->pool.grid.neighbours)
        published.reset();
      plan = faster_with(patterns, UniformSearch(problem, pinned, cost).best(), published, problem,
                         cost);
      break;
    }
    case Algorithm::given:
      plan = GivenSearch(problem, pinned, cost, patterns).best();
  }
  if (plan) return *plan;
  if (pinned.pairs) {  // what the other cuts leave of it is said by who compares plans
    Pinned others = pinned;
    others.pairs.reset();
    return make_plan(problem, others, cost, patterns);
  }
  throw UserError(fmt::format(
      "workload: no plan of spmm_dynamic fits {} tiles of {} KiB: up to {} blocks of {} x {} in "
      "{} x {} of them, times {} columns",
      machine.tiles, machine.tile.sram_kib, problem.max_blocks, shape.block, shape.block,
      problem.block_rows, problem.block_columns, problem.n));
}

}  // namespace tessera::spmm_dynamic
