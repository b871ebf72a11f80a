#include "kernels/spmm_dynamic/plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "kernels/pinned.h"
#include "kernels/sparse/published/policy.h"
#include "kernels/spmm_dynamic/plans.h"
#include "sim/base/errors.h"

namespace tessera::spmm_dynamic {

namespace {

constexpr std::uint32_t kSpareGroups = 4;  // sub-group heads that a pool's lists have room for

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

constexpr std::uint64_t kMostCells = 2048;  // of a LoadMap, along rows and along columns

/// For each of `parts` parts of `all` block rows or columns: the cells that lie entirely within it.
std::vector<Interval> cells_of(std::uint64_t all, std::uint64_t cells, std::uint32_t parts) {
  std::vector<Interval> found;
  for (std::uint32_t i = 0; i < parts; ++i) {
    const Interval part = EvenSplit{all, parts}.part(i);
    const std::uint64_t end = part.end * cells / all;
    found.push_back({std::min(ceil_div(part.begin * cells, all), end), end});
  }
  return found;
}

/// Steps around a ring of pools of capacity `room` until all spilled blocks are placed. A lower
/// bound: no order moves blocks less far than placing them in the order of arrival.
double steps_around(std::span<const std::uint32_t> blocks, double room) {
  double left = 0;
  double most = 0;
  for (int round = 0; round < 2; ++round)
    for (const std::uint32_t its : blocks) {
      left = std::max(left + its - room, 0.0);
      most = std::max(most, left);
    }
  return std::ceil(most / room);
}

/// Lower bounds on the blocks of a grid's partitions.
struct PartitionBlocks {
  std::uint32_t x, y;
  std::vector<std::uint32_t> blocks;  ///< blocks of partition (x, y), by x
  double most;
  double rows;  ///< approximate number of rows of a partition that hold blocks

  /// Lower bound on the load with such pools: blocks beyond a pool's capacity spill.
  [[nodiscard]] Load load(const PoolShape& pool) const {
    const std::uint32_t unit = unit_blocks(pool.shape);
    const auto portion = [&](double some) {
      const double of_rows = std::min(some, rows);
      return Portion{some, of_rows, {of_rows, some / unit}};
    };
    const double room = pool.units * unit;
    Load load{portion(std::min(most, room)), {}, 0, 0};
    if (most <= room || x * y == 1) return load;
    load.steps = portion(most - room);
    double y_steps = 1;
    std::vector<std::uint32_t> sums;
    for (std::uint32_t i = 0; i < x; ++i) {
      const std::span<const std::uint32_t> row(&blocks[std::size_t{i} * y], y);
      sums.push_back(std::accumulate(row.begin(), row.end(), 0U));
      if (sums.back() <= y * room) y_steps = std::max(y_steps, steps_around(row, room));
    }
    const auto pairs = [](double steps) { return round_up(static_cast<std::uint32_t>(steps), 2U); };
    if (y > 1) load.y_steps = pairs(y_steps);
    if (x > 1) load.x_steps = pairs(std::max(1.0, steps_around(sums, y * room)));
    return load;
  }
};

/// A histogram of a pattern's blocks, for bounds over many grids: blocks in cells of block rows and
/// columns, and row lengths.
class LoadMap {
 public:
  explicit LoadMap(const sparse::BlockMatrix& w)
      : block_rows_(w.block_rows()),
        block_columns_(w.block_columns()),
        rows_(std::min(block_rows_, kMostCells)),
        columns_(std::min(block_columns_, kMostCells)),
        before_((rows_ + 1) * (columns_ + 1), 0) {
    for (std::uint32_t row = 0; row < block_rows_; ++row) {
      const std::uint64_t i = row * rows_ / block_rows_;
      ++lengths_[w.row_begin[row + 1] - w.row_begin[row]];
      for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e)
        ++before_[(i + 1) * (columns_ + 1) + w.column[e] * columns_ / block_columns_ + 1];
    }
    for (std::uint64_t i = 1; i <= rows_; ++i) {
      std::uint32_t row = 0;
      for (std::uint64_t j = 1; j <= columns_; ++j) {
        row += before(i, j);
        before_[i * (columns_ + 1) + j] = row + before(i - 1, j);
      }
    }
  }

  [[nodiscard]] PartitionBlocks partitions(std::uint32_t x, std::uint32_t y) {
    PartitionBlocks found{x, y, {}, 0, rows_in(y) / x};
    found.blocks.reserve(std::size_t{x} * y);
    const std::vector<Interval> columns = cells_of(block_columns_, columns_, y);
    for (const auto [top, bottom] : cells_of(block_rows_, rows_, x))
      for (const auto [left, right] : columns)
        found.blocks.push_back(before(bottom, right) + before(top, left) - before(bottom, left) -
                               before(top, right));
    found.most = std::max(*std::max_element(found.blocks.begin(), found.blocks.end()),
                          ceil_div(before_.back(), x * y));
    return found;
  }

 private:
  [[nodiscard]] std::uint32_t before(std::uint64_t row, std::uint64_t column) const {
    return before_[row * (columns_ + 1) + column];
  }
  /// Expected block rows with blocks in one of y parts of the columns, if positions in a row are
  /// random.
  double rows_in(std::uint32_t y) {
    const auto [known, is_new] = rows_in_.try_emplace(y, 0);
    if (!is_new) return known->second;
    for (const auto& [length, rows] : lengths_)
      known->second +=
          static_cast<double>(rows) * (1 - std::pow(1 - 1.0 / y, static_cast<double>(length)));
    return known->second;
  }

  std::uint64_t block_rows_, block_columns_;
  std::uint64_t rows_, columns_;                    ///< rows and columns of cells
  std::vector<std::uint32_t> before_;               // of a LoadMap, in each dimension
  std::map<std::uint64_t, std::uint64_t> lengths_;  ///< number of rows by number of blocks
  std::map<std::uint32_t, double> rows_in_;         ///< cached, by y
};

constexpr std::ptrdiff_t kMapped = 4;  // patterns used for bounds; all are packed

/// Searches all grids, in both numberings in which the tiles of a pair share data, by the mean load
/// over the patterns. Throws UserError if no grid that fits has buckets large enough for all
/// patterns.
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

Buffers::Buffers(const Problem& problem, const PoolShape& pool_shape)
    : values(problem.shape.gradient) {
  const Grid& grid = pool_shape.grid;
  const Shape& shape = problem.shape;
  const std::uint64_t side = std::uint64_t{shape.block} * grid.columns;
  const std::uint64_t rows = ceil_div(problem.block_rows, grid.x);
  const std::uint64_t columns = ceil_div(problem.block_columns, grid.y);
  const std::uint64_t shared = std::uint64_t{kWord} * grid.z;
  const std::uint64_t unit_values = std::uint64_t{pool_shape.units} * unit_bytes(shape);
  if (shape.gradient) {
    meta = narrow(round_up(std::uint64_t{2} * pool_shape.meta_words, shared));
    pool = narrow(meta + round_up<std::uint64_t>(unit_values, kChunkBytes));
    pool_slice = meta / grid.z;
    y = narrow(rows * side * shape.bytes());
    parts = grid.z;
    chunks = (pool - meta) / kChunkBytes;
  } else {
    meta = narrow(round_up<std::uint64_t>(std::uint64_t{2} * pool_shape.meta_words, kWord));
    pool = narrow(round_up(meta + unit_values, shared));
    pool_slice = pool / grid.z;
    y = narrow(round_up<std::uint64_t>(rows * side * shape.partial_bytes(), kChunkBytes));
    parts = grid.y;
    chunks = y / kChunkBytes;
  }
  x = narrow(columns * side * shape.bytes());
  // If chunks are converted to rows or back, pieces are whole squares of columns and a chunk's
  // rows.
  const bool turns = shape.natural() && !shape.gradient;
  x_grain = shape.natural() ? shape.x_depth() : 1;
  chunk_grain = std::max(
      1U, turns ? shape.y_depth() * shape.lanes() * shape.partial_bytes() / kChunkBytes : 1);
  x_slice = ceil_div(x / kWord / x_grain, grid.x) * x_grain * kWord;
  y_slice = shape.gradient ? ceil_div(y / kWord, grid.y) * kWord : 0;
}

std::uint64_t bucket_blocks(const Problem& problem, const Grid& grid) {
  const std::uint64_t even =
      std::max<std::uint64_t>(1, ceil_div<std::uint64_t>(problem.max_blocks, grid.tiles()));
  return static_cast<std::uint64_t>(
      std::llround((1 + problem.headroom) * static_cast<double>(even)));
}

EvenStorage row_storage(const Problem& problem, const Grid& grid, std::uint32_t block_rows) {
  const Shape& shape = problem.shape;
  return {std::uint64_t{block_rows} * shape.block * grid.columns * grid.z * shape.bytes(), kWord,
          grid.tiles()};
}

PoolShape pool_of(const Problem& problem, const Grid& grid, std::uint32_t contexts) {
  PoolShape pool{problem.shape, grid, contexts, 0, 0, 0};
  const std::uint64_t blocks = bucket_blocks(problem, grid) * grid.z;
  const std::uint64_t rows = ceil_div(problem.block_rows, grid.x);
  // Own rows, and spills of others that fill the headroom, as rows of one block each.
  const std::uint64_t spare =
      blocks - static_cast<std::uint64_t>(static_cast<double>(blocks) / (1 + problem.headroom));
  const std::uint64_t lists = std::min(blocks, rows + spare + 1);
  const std::uint64_t pair = unit_blocks(problem.shape);
  pool.units = narrow(ceil_div(blocks, pair) + (pair == 2 ? ceil_div<std::uint64_t>(lists, 2) : 0));
  pool.meta_words = narrow(pool.pool_head_words() + kPoolEndWords +
                           std::uint64_t{kSpareGroups} * pool.group_head_words() +
                           std::uint64_t{pool.units} * pair + 2 * lists);
  if (problem.list_room)
    pool.meta_words = std::max(pool.meta_words, narrow(grid.z * problem.list_room(problem, pool)));
  return pool;
}

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
  if (pinned.pairs) {  // require_printed() reports a contradiction with the other keys
    Pinned others = pinned;
    others.pairs.reset();
    return make_plan(problem, others, pricer, patterns);
  }
  const std::uint64_t side = shape.block;
  const std::uint64_t values =
      std::uint64_t{problem.max_blocks} * side * side +
      (std::uint64_t{problem.block_rows} + problem.block_columns) * side * problem.n;
  throw UserError(
      "workload: no plan of spmm_dynamic fits {} tiles of {} KiB: up to {} blocks of {} x {} in "
      "{} x {} of them, times {} columns; blocks, X and Y alone take {} KiB of the {} KiB of all "
      "tiles",
      machine.tiles, machine.tile.sram_kib, problem.max_blocks, side, side, problem.block_rows,
      problem.block_columns, problem.n, ceil_div(values * shape.bytes(), std::uint64_t{1024}),
      std::uint64_t{machine.tiles} * machine.tile.sram_kib);
}

}  // namespace tessera::spmm_dynamic
