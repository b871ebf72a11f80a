#include "kernels/spmm_dynamic/plans.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "sim/machine/nodes.h"
#include "sim/plan/search.h"

namespace tessera::spmm_dynamic {

namespace {

constexpr std::uint64_t kMostCells = 2048;  // along rows and along columns

/// The cells that lie within each of `parts` parts of all block rows or columns.
std::vector<Interval> cells_of(std::uint64_t all, std::uint64_t cells, std::uint32_t parts) {
  std::vector<Interval> found;
  for (std::uint32_t i = 0; i < parts; ++i) {
    const Interval part = EvenSplit{all, parts}.part(i);
    const std::uint64_t end = part.end * cells / all;
    found.push_back({std::min(ceil_div(part.begin * cells, all), end), end});
  }
  return found;
}

/// Steps around a ring of pools, each with so much room, that take what has none to where it has:
/// no order takes blocks less far than the one in which they come by.
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

}  // namespace

Load PartitionBlocks::load(const PoolShape& pool) const {
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

LoadMap::LoadMap(const sparse::BlockMatrix& w)
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

PartitionBlocks LoadMap::partitions(std::uint32_t x, std::uint32_t y) {
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

double LoadMap::rows_in(std::uint32_t y) {
  const auto [known, is_new] = rows_in_.try_emplace(y, 0);
  if (!is_new) return known->second;
  for (const auto& [length, rows] : lengths_)
    known->second +=
        static_cast<double>(rows) * (1 - std::pow(1 - 1.0 / y, static_cast<double>(length)));
  return known->second;
}

Grid grid_of(const Problem& problem, std::uint32_t x, std::uint32_t y, std::uint32_t most_z) {
  const std::uint32_t grains = ceil_div(problem.n, column_grain(problem.shape));
  const std::uint32_t each = ceil_div(grains, std::min(most_z, grains));
  return {x, y, ceil_div(grains, each), each * column_grain(problem.shape)};
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

void Plans::add(Grid grid, std::span<const Neighbours> numberings, const Least& least) {
  grid.neighbours = numberings.front();
  std::optional<PoolShape> pool = pricer_.pool(problem_, grid);
  if (!pool) return;
  const Buffers bytes(problem_, *pool);
  const auto cycles = [&](Neighbours pairs) {
    grid.neighbours = pairs;
    return pricer_.operand_cycles(bytes, grid);
  };
  pool->grid.neighbours =
      *std::min_element(numberings.begin(), numberings.end(),
                        [&](Neighbours a, Neighbours b) { return cycles(a) < cycles(b); });
  bounds_.push_back(pricer_.bound(problem_, *pool, least(*pool)) +
                    (beside_.bound ? beside_.bound(pool->grid) : 0));
  options_.push_back(*pool);
}

const std::optional<Load>& Plans::load(std::size_t option) {
  if (in_hand_.option != option) in_hand_ = {option, loads_(options_[option])};
  return in_hand_.load;
}

std::optional<Plan> Plans::best() {
  const std::uint64_t room = sram_bytes(pricer_.machine().tile);
  plan::Space space;
  space.reserved = static_cast<std::uint64_t>((1 - problem_.memory) * static_cast<double>(room));
  space.bounds = bounds_;
  space.least_bytes = [&](std::size_t i) -> std::uint64_t {
    const Buffers bytes(problem_, options_[i]);
    const std::uint64_t held = std::uint64_t{bytes.pool} + bytes.x + bytes.y;
    if (held + space.reserved > room) return held;
    if (!load(i)) return UINT64_MAX / 2;  // more than there is
    return beside_.bytes ? std::max(held, beside_.bytes(options_[i].grid)) : held;
  };
  space.describe = [&](std::size_t i, std::uint32_t) {
    return pricer_.describe(problem_, options_[i], load(i).value_or(Load{}),
                            beside_.cycles ? beside_.cycles(options_[i].grid) : 0);
  };
  space.schedules = false;
  space.finalists = 1;
  const plan::Found found = plan::search(space, pricer_.pricing());
  if (!found.fits) return std::nullopt;
  const PoolShape& pool = options_[found.option];
  return Plan{pool, bucket_blocks(problem_, pool.grid), found.prediction};
}

}  // namespace tessera::spmm_dynamic
