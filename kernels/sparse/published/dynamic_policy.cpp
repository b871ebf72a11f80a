#include <cmath>

#include "kernels/sparse/published/policy.h"
#include "kernels/spmm_dynamic/plans.h"

namespace tessera::sparse::published {

using namespace spmm_dynamic;

namespace {

/// True if the largest part of fewer parts of `size` would be larger.
bool is_fewest(std::uint32_t parts, std::uint32_t size) {
  return parts == ceil_div(size, ceil_div(size, parts));
}

/// The product with W^T.
spmm_dynamic::Problem transposed(const spmm_dynamic::Problem& problem) {
  spmm_dynamic::Problem other = problem;
  std::swap(other.block_rows, other.block_columns);
  other.transposed = !problem.transposed;
  return other;
}

/// Capacity of a published bucket's lists, in words: two sub-groups, and all rows of the partition
/// with its headroom, although the bucket holds only 1/z of its nonzeros. Source: poplibs
/// popsparse/FullyConnectedPlan.cpp, addMetaInfoElemsPerBucket.
std::uint64_t list_words(const spmm_dynamic::Problem& problem, const PoolShape& pool) {
  const double rows = ceil_div(problem.block_rows, pool.grid.x);
  const double columns = ceil_div(problem.block_columns, pool.grid.y);
  const double density = static_cast<double>(problem.max_blocks) /
                         (static_cast<double>(problem.block_rows) * problem.block_columns);
  const double full_rows = std::ceil(rows * (1 - std::pow(1 - density, columns)));
  const double row_blocks =
      std::ceil(std::ceil(rows * columns * density) / std::max(1.0, full_rows));
  const double lists = std::ceil(full_rows * (2 + row_blocks) * (1 + problem.headroom));
  return 2 * std::uint64_t{pool.group_head_words()} + static_cast<std::uint64_t>(lists);
}

/// Its estimate of the fullest partition: evenly distributed nonzeros, no spilling.
Load even_load(const spmm_dynamic::Problem& problem, const Grid& grid) {
  const double blocks = static_cast<double>(problem.max_blocks) / grid.partitions();
  const double rows = ceil_div(problem.block_rows, grid.x);
  return {{blocks, rows * (1 - std::exp(-blocks / rows)), {}}, {}, 0, 0};
}

/// Its overestimate of a product's time: clearing partial results at a cycle an element (its
/// zeroPartialsCycles computes another number and drops it; papers.md 1a), and counting the part
/// that a tile sums itself as received.
std::uint64_t overrated(const spmm_dynamic::Problem& problem, const PoolShape& pool,
                        const MachineConfig& machine) {
  const Buffers bytes(problem, pool);
  const std::uint64_t own = std::uint64_t{bytes.part_chunks()} * kChunkBytes;
  return bytes.y / problem.shape.partial_bytes() +
         (bytes.parts > 1 ? own / machine.fabric.receive_bytes_per_cycle : 0);
}

/// Time and memory of the product with W^T, `other`, on the same tiles, plus the overestimate of
/// both.
Plans::AddedCost counted(const spmm_dynamic::Problem& problem, const spmm_dynamic::Problem& other,
                         Pricer& pricer) {
  const auto pool = [&](const Grid& grid) { return *pricer.pool(other, grid.transposed()); };
  const auto load = [&](const Grid& grid) { return even_load(other, grid.transposed()); };
  const auto both = [&, pool](const Grid& grid) {
    const MachineConfig& machine = pricer.machine();
    return overrated(problem, pool_of(problem, grid, machine.tile.contexts), machine) +
           overrated(other, pool(grid), machine);
  };
  return {
      [&, both, pool, load](const Grid& grid) {
        return both(grid) + pricer.bound(other, pool(grid), load(grid));
      },
      [&, both, pool, load](const Grid& grid) {
        return both(grid) + pricer.predict(other, pool(grid), load(grid)).cycles;
      },
      [&, pool, load](const Grid& grid) { return pricer.bytes(other, pool(grid), load(grid)); }};
}

/// The best plan for evenly distributed nonzeros without spilling. It minimises the sum of the
/// products with W and W^T (poplibs popsparse/MatMulUtils.cpp: doGradAPass is always set). Only
/// numbers of parts with distinct part sizes are considered; all parts of the columns have one
/// size.
std::optional<Plan> even_plan(const spmm_dynamic::Problem& problem, const Pinned& pinned,
                              Pricer& pricer) {
  const spmm_dynamic::Problem other = transposed(problem);
  const bool both = !problem.shape.gradient;
  const auto load = [&](const PoolShape& pool) { return even_load(problem, pool.grid); };
  Plans plans(problem, pricer, load, both ? counted(problem, other, pricer) : Plans::AddedCost{});
  const auto add = [&](Grid grid, Neighbours neighbours) {
    grid.neighbours = neighbours;
    // The lists of both products must fit.
    if (!both || pricer.pool(other, grid.transposed()))
      plans.add(grid, std::span(&neighbours, 1), load);
  };
  const std::uint32_t grains = ceil_div(problem.n, column_grain(problem.shape));
  for_all_parts(problem, pinned, pricer.machine().tiles,
                [&](std::uint32_t x, std::uint32_t y, std::uint32_t most_z) {
                  if (!both) return add(grid_of(problem, x, y, most_z), Neighbours::share_pool);
                  if (pinned.x == 0 && !is_fewest(x, problem.block_rows)) return;
                  if (pinned.y == 0 && !is_fewest(y, problem.block_columns)) return;
                  for (std::uint32_t z = pinned.z != 0 ? most_z : 1; z <= most_z; ++z)
                    if (pinned.z != 0 || grains % z == 0)
                      add(grid_of(problem, x, y, z),
                          problem.transposed ? Neighbours::share_nothing : Neighbours::share_x);
                });
  std::optional<Plan> plan = plans.best();
  if (plan)
    plan->prediction = pricer.predict(problem, plan->pool, even_load(problem, plan->pool.grid));
  return plan;
}

}  // namespace

ListRoom Policy::list_room() { return list_words; }

std::optional<Plan> Policy::dynamic_plan(const spmm_dynamic::Problem& problem,
                                         const spmm_dynamic::Pinned& pinned, Pricer& pricer) const {
  if (const std::optional<Plan> plan = even_plan(problem, pinned, pricer)) return plan;
  // If no plan fits its share of the memory, it may use all of it: runPlanner of
  // popsparse/FullyConnectedPlan.cpp.
  spmm_dynamic::Problem relaxed = problem;
  relaxed.memory = 1;
  return even_plan(relaxed, pinned, pricer);
}

}  // namespace tessera::sparse::published
