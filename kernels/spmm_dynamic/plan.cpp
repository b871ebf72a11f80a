#include "kernels/spmm_dynamic/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "sim/base/errors.h"
#include "sim/program/placement.h"

namespace tessera::spmm_dynamic {

namespace {

constexpr std::uint64_t kMostPlace = 0xffff;     // in 64-bit words
constexpr std::uint64_t kCodeBytes = 8192;       // code, stacks, arguments, flags
constexpr std::uint64_t kDescriptorBytes = 16;   // of one fragment that a tile receives or sends
constexpr std::uint64_t kFlagDescriptors = 240;  // of the tests of the loops
constexpr std::uint32_t kChunkBytes = 16;
constexpr std::uint32_t kSpareGroups = 4;  // of a pool, beside those that its words have room for

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

std::uint64_t blocks_of_pool(const Problem& problem, const Grid& grid) {
  return bucket_blocks(problem, grid) * grid.z;
}

/// The grid with as many parts of the columns as there are tiles for, none empty.
Grid grid_of(const Problem& problem, std::uint32_t x, std::uint32_t y, std::uint32_t most_z) {
  const std::uint32_t grain = problem.shape.column_grain();
  const std::uint32_t grains = ceil_div(problem.n, grain);
  const std::uint32_t each = ceil_div(grains, std::min(most_z, grains));
  return {x, y, ceil_div(grains, each), each * grain, false};
}

class Search {
 public:
  Search(const Problem& problem, const MachineConfig& machine, Algorithm algorithm)
      : problem_(problem), machine_(machine), algorithm_(algorithm) {}

  /// The published order of tiles is x, then y, then z, so that neighbours are of one partition.
  void consider(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    Grid grid = grid_of(problem_, x, y, z);
    grid.pairs_take_pools = true;
    consider(grid);
    if (algorithm_ == Algorithm::published) return;
    grid.pairs_take_pools = false;
    consider(grid);
  }

  std::optional<Plan> best_;

 private:
  void consider(const Grid& grid) {
    if (grid.partitions() > kMostPartitions) return;
    Plan plan{pool_of(problem_, grid, machine_.tile.contexts), bucket_blocks(problem_, grid), {}};
    if (!fits(problem_, plan.pool, machine_)) return;
    plan.prediction = predict(problem_, plan.pool, machine_, algorithm_);
    const std::uint64_t cost = plan.prediction.cycles + overrated_zeros(plan.pool);
    if (best_ && cost >= best_cost_) return;
    best_ = plan;
    best_cost_ = cost;
  }

  /// The published planner takes clearing partial results for `contexts` cycles an element (its
  /// zeroPartialsCycles computes another number and drops it; papers.md 1a): it avoids cuts of y.
  [[nodiscard]] std::uint64_t overrated_zeros(const PoolShape& pool) const {
    if (algorithm_ != Algorithm::published || problem_.shape.values) return 0;
    const Buffers bytes(problem_, pool);
    return std::uint64_t{bytes.y} / kPartialBytes * machine_.tile.contexts;
  }

  const Problem& problem_;
  const MachineConfig& machine_;
  Algorithm algorithm_;
  std::uint64_t best_cost_ = 0;
};

void require_at_most(const char* key, std::uint32_t found, std::uint64_t most) {
  if (found > most)
    throw KeyError(fmt::format("workload.plan.{}", key),
                   fmt::format("found {}, allowed 0 to {}", found, most));
}

}  // namespace

Buffers::Buffers(const Problem& problem, const PoolShape& pool_shape) {
  const Grid& grid = pool_shape.grid;
  const Shape& shape = problem.shape;
  const std::uint64_t side = std::uint64_t{shape.block} * grid.columns;
  const std::uint64_t rows = ceil_div(problem.block_rows, grid.x);
  const std::uint64_t columns = ceil_div(problem.block_columns, grid.y);
  const std::uint64_t shared = std::uint64_t{kWord} * grid.z;
  const std::uint64_t values = std::uint64_t{pool_shape.units} * shape.unit_bytes();
  if (shape.values) {
    meta = narrow(round_up(std::uint64_t{2} * pool_shape.meta_words, shared));
    pool = narrow(meta + round_up<std::uint64_t>(values, kChunkBytes));
    pool_slice = meta / grid.z;
    y = narrow(rows * side * shape.element_bytes());
    parts = grid.z;
    chunks = (pool - meta) / kChunkBytes;
  } else {
    meta = narrow(round_up<std::uint64_t>(std::uint64_t{2} * pool_shape.meta_words, kWord));
    pool = narrow(round_up(meta + values, shared));
    pool_slice = pool / grid.z;
    y = narrow(rows * side * kPartialBytes);
    parts = grid.y;
    chunks = y / kChunkBytes;
  }
  x = narrow(columns * side * shape.element_bytes());
  x_slice = ceil_div(x / kWord, grid.x) * kWord;
  y_slice = shape.values ? ceil_div(y / kWord, grid.y) * kWord : 0;
}

std::uint64_t bucket_blocks(const Problem& problem, const Grid& grid) {
  const std::uint64_t even =
      std::max<std::uint64_t>(1, ceil_div<std::uint64_t>(problem.max_blocks, grid.tiles()));
  return static_cast<std::uint64_t>(
      std::llround((1 + problem.headroom) * static_cast<double>(even)));
}

PoolShape pool_of(const Problem& problem, const Grid& grid, std::uint32_t contexts) {
  PoolShape pool{problem.shape, grid, contexts, 0, 0};
  const std::uint64_t blocks = blocks_of_pool(problem, grid);
  const std::uint64_t rows = ceil_div(problem.block_rows, grid.x);
  // Own rows, and what others spill into the headroom as rows of one block each.
  const std::uint64_t spare =
      blocks - static_cast<std::uint64_t>(static_cast<double>(blocks) / (1 + problem.headroom));
  const std::uint64_t lists = std::min(blocks, rows + spare + 1);
  const std::uint64_t pair = problem.shape.unit_blocks();
  pool.units = narrow(ceil_div(blocks, pair) + (pair == 2 ? ceil_div<std::uint64_t>(lists, 2) : 0));
  pool.meta_words = narrow(pool.pool_head_words() + kPoolEndWords +
                           std::uint64_t{kSpareGroups} * pool.group_head_words() +
                           std::uint64_t{pool.units} * pair + 2 * lists);
  return pool;
}

bool fits(const Problem& problem, const PoolShape& pool, const MachineConfig& machine) {
  const Buffers bytes(problem, pool);
  if (bytes.x / kWord > kMostPlace || bytes.y / kWord > kMostPlace) return false;
  const auto capacity =
      static_cast<std::uint64_t>(problem.memory * machine.tile.sram_kib * std::uint32_t{1024});
  if (bytes.pool > capacity || bytes.x > capacity || bytes.y > capacity) return false;
  const Grid& grid = pool.grid;
  const auto category = program::Category::tensors;
  // Times: 0 distribution, 1 its computing, 2 loops, 3 partial results, 4 their sum.
  const bool travels = grid.partitions() > 1;
  const std::uint32_t part = bytes.part_chunks() * kChunkBytes;
  std::vector<program::Block> blocks{
      {bytes.pool, 8, {grid.z > 1 ? 0 : -1, problem.shape.values ? 3 : 2}, category},
      {bytes.x, 8, {grid.x > 1 ? 0 : -1, travels ? 2 : 1}, category},
      {bytes.y, 8, {problem.shape.values ? 0 : 1, problem.shape.values ? 2 : 4}, category},
      {part * (bytes.parts - 1), 8, {3, 4}, category},
      {problem.shape.f16() ? part / 2 : part, 8, {4, 5}, category}};
  if (travels) blocks.push_back({bytes.pool, 8, {2, 2}, category});
  if (grid.z > 1) blocks.push_back({bytes.pool_slice, 8, {-1, 0}, category});
  if (grid.x > 1) blocks.push_back({bytes.x_slice, 8, {-1, 0}, category});
  if (bytes.y_slice != 0) blocks.push_back({bytes.y_slice, 8, {-1, 0}, category});
  const std::uint64_t fragments = grid.x + grid.z + grid.y + 2 * bytes.parts + 8;
  const std::uint64_t flags =
      kFlagDescriptors * static_cast<std::uint64_t>(std::sqrt(grid.partitions()) + 1);
  const std::uint64_t others = kCodeBytes + fragments * kDescriptorBytes + (travels ? flags : 0);
  return program::place(blocks, others, 5).end <= capacity;
}

Plan make_plan(const Problem& problem, const Pinned& pinned, const MachineConfig& machine) {
  require_at_most("x", pinned.x, std::min(machine.tiles, problem.block_rows));
  require_at_most("y", pinned.y,
                  std::min(machine.tiles / std::max(1U, pinned.x), problem.block_columns));
  require_at_most("z", pinned.z, machine.tiles / (std::max(1U, pinned.x) * std::max(1U, pinned.y)));
  Search search(problem, machine, pinned.algorithm);
  const std::uint32_t least_z = std::max(1U, pinned.z);
  for (std::uint32_t x = 1; x <= std::min(machine.tiles / least_z, problem.block_rows); ++x) {
    if (pinned.x != 0 && x != pinned.x) continue;
    const std::uint32_t most_y = std::min(machine.tiles / (x * least_z), problem.block_columns);
    for (std::uint32_t y = 1; y <= most_y; ++y) {
      if (pinned.y != 0 && y != pinned.y) continue;
      search.consider(x, y, pinned.z != 0 ? pinned.z : machine.tiles / (x * y));
    }
  }
  if (!search.best_) {
    throw UserError(fmt::format(
        "workload: no plan of spmm_dynamic fits {} tiles of {} KiB: up to {} blocks of {} x {} in "
        "{} x {} of them, times {} columns",
        machine.tiles, machine.tile.sram_kib, problem.max_blocks, problem.shape.block,
        problem.shape.block, problem.block_rows, problem.block_columns, problem.n));
  }
  Plan plan = *search.best_;
  Prediction& p = plan.prediction;
  for (std::uint64_t* cycles :
       std::array{&p.cycles, &p.compute_cycles, &p.exchange_cycles, &p.sync_cycles})
    *cycles *= problem.runs;
  return plan;
}

}  // namespace tessera::spmm_dynamic
