#include "kernels/spmm_dynamic/plan.h"

#include <algorithm>

#include "kernels/pinned.h"
#include "kernels/sparse/published/policy.h"
#include "kernels/spmm_dynamic/load_map.h"
#include "kernels/spmm_dynamic/plans.h"
#include "sim/base/errors.h"

namespace tessera::spmm_dynamic {

namespace {

constexpr std::ptrdiff_t kMapped = 4;  // patterns that bounds are found by; all are packed

/// All grids, in both numberings in which tiles of a pair share something; what they do is the mean
/// over the patterns. Throws UserError if the buckets of none that fits have room for all.
std::optional<Plan> searched(const Problem& problem, const Pinned& pinned, Pricer& pricer,
                             const Patterns& patterns) {
  std::optional<UserError> full;
  Plans plans(problem, pricer, [&](const PoolShape& pool) -> std::optional<Load> {
    try {
      Load sum;
      for (const sparse::BlockMatrix& w : patterns) sum += pack(w, pool).load;
      return sum.over(word(patterns.size()));
    } catch (const UserError& error) {
      full.emplace(error);
      return std::nullopt;
    }
  });
  std::vector<LoadMap> maps(
      patterns.begin(), patterns.begin() + std::min<std::ptrdiff_t>(std::ssize(patterns), kMapped));
  std::vector<Neighbours> numberings{Neighbours::share_pool, Neighbours::share_x};
  if (pinned.pairs) numberings = {*pinned.pairs};
  for_all_parts(problem, pinned, pricer.machine().tiles,
                [&](std::uint32_t x, std::uint32_t y, std::uint32_t most_z) {
                  std::vector<PartitionBlocks> blocks;
                  blocks.reserve(maps.size());
                  for (LoadMap& map : maps) blocks.push_back(map.partitions(x, y));
                  const auto least = [&](const PoolShape& pool) {
                    Load sum;
                    for (const PartitionBlocks& of : blocks) sum += of.load(pool);
                    return sum.over(word(blocks.size()));
                  };
                  for (std::uint32_t z = most_z; z > 0;) {
                    const Grid grid = grid_of(problem, x, y, z);
                    plans.add(grid, numberings, least);
                    z = pinned.z != 0 ? 0 : grid.z - 1;
                  }
                });
  const std::optional<Plan> plan = plans.best();
  if (!plan && full) throw *full;
  return plan;
}

}  // namespace

Plan make_plan(const Problem& problem, const Pinned& pinned, Pricer& pricer,
               const Patterns& patterns) {
  const MachineConfig& machine = pricer.machine();
  const Shape& shape = problem.shape;
  const std::uint32_t x = std::max(1U, pinned.x);
  const std::uint32_t y = std::max(1U, pinned.y);
  kernels::require_at_most("workload.plan.x", pinned.x,
                           std::min(machine.tiles, problem.block_rows));
  kernels::require_at_most("workload.plan.y", pinned.y,
                           std::min(machine.tiles / x, problem.block_columns));
  kernels::require_at_most("workload.plan.z", pinned.z, machine.tiles / (x * y));
  const std::optional<Plan> plan =
      pinned.algorithm == Algorithm::published
          ? sparse::published::Policy(machine).dynamic_plan(problem, pinned, pricer)
          : searched(problem, pinned, pricer, patterns);
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
