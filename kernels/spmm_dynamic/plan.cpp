#include "kernels/spmm_dynamic/plan.h"

#include <algorithm>
#include <cmath>

#include "sim/program/placement.h"

namespace tessera::spmm_dynamic {

namespace {

constexpr std::uint64_t kCodeBytes = 8192;       // code, stacks, arguments, flags
constexpr std::uint64_t kDescriptorBytes = 16;   // of one fragment that a tile receives or sends
constexpr std::uint64_t kFlagDescriptors = 240;  // of the tests of the loops
constexpr std::uint32_t kSpareGroups = 4;  // of a pool, beside those that its words have room for

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

std::uint64_t blocks_of_pool(const Problem& problem, const Grid& grid) {
  return bucket_blocks(problem, grid) * grid.z;
}

/// What layout natural adds: rows as they are given and wanted, and panels made of them.
void add_rows(const Problem& problem, const PoolShape& pool, std::vector<program::Block>& blocks) {
  const Buffers bytes(problem, pool);
  const auto category = program::Category::tensors;
  const std::uint32_t result = bytes.part_chunks() * kChunkBytes / (problem.shape.mixed() ? 2 : 1);
  blocks.push_back({narrow(row_storage(problem, pool.grid, problem.block_columns).each()),
                    8,
                    {-1, 0},
                    category});
  blocks.push_back({bytes.x_slice, 8, {0, 0}, category});
  if (problem.shape.gradient) {
    blocks.push_back(
        {narrow(row_storage(problem, pool.grid, problem.block_rows).each()), 8, {-1, 0}, category});
    return;
  }
  blocks.push_back({result, 8, {4, 4}, category});
  blocks.push_back(
      {narrow(row_storage(problem, pool.grid, problem.block_rows).each()), 8, {4, 5}, category});
}

/// Fragments in which a tile receives and sends rows of panels.
std::uint64_t row_pieces(const Problem& problem, const PoolShape& pool) {
  const Buffers bytes(problem, pool);
  const std::uint64_t row = std::uint64_t{pool.grid.columns} * problem.shape.bytes();
  const std::uint64_t rows =
      (bytes.x_slice + bytes.y_slice) / row +
      (problem.shape.gradient ? 0 : std::uint64_t{bytes.part_chunks()} * kChunkBytes / row);
  return 2 * (rows + 4 * std::uint64_t{problem.shape.block});
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
  // Whole squares of columns and rows of a chunk, where rows are made of chunks or chunks of rows.
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

kernels::EvenStorage row_storage(const Problem& problem, const Grid& grid,
                                 std::uint32_t block_rows) {
  const Shape& shape = problem.shape;
  return {std::uint64_t{block_rows} * shape.block * grid.columns * grid.z * shape.bytes(), kWord,
          grid.tiles()};
}

PoolShape pool_of(const Problem& problem, const Grid& grid, std::uint32_t contexts) {
  PoolShape pool{problem.shape, grid, contexts, 0, 0, 0};
  const std::uint64_t blocks = blocks_of_pool(problem, grid);
  const std::uint64_t rows = ceil_div(problem.block_rows, grid.x);
  // Own rows, and what others spill into the headroom as rows of one block each.
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
      {bytes.pool, 8, {grid.z > 1 ? 0 : -1, problem.shape.gradient ? 3 : 2}, category},
      {bytes.x, 8, {grid.x > 1 ? 0 : -1, travels ? 2 : 1}, category},
      {bytes.y, 8, {problem.shape.gradient ? 0 : 1, problem.shape.gradient ? 2 : 4}, category},
      {std::uint64_t{part} * (bytes.parts - 1), 8, {3, 4}, category},
      {problem.shape.mixed() ? part / 2 : part, 8, {4, 5}, category}};
  if (travels) blocks.push_back({bytes.pool, 8, {2, 2}, category});
  if (grid.z > 1) blocks.push_back({bytes.pool_slice, 8, {-1, 0}, category});
  if (grid.x > 1) blocks.push_back({bytes.x_slice, 8, {-1, 0}, category});
  if (bytes.y_slice != 0) blocks.push_back({bytes.y_slice, 8, {-1, 0}, category});
  if (problem.shape.natural()) add_rows(problem, pool, blocks);
  const std::uint64_t fragments = grid.x + grid.z + grid.y + 2 * bytes.parts + 8 +
                                  (problem.shape.natural() ? row_pieces(problem, pool) : 0);
  const std::uint64_t flags =
      kFlagDescriptors * static_cast<std::uint64_t>(std::sqrt(grid.partitions()) + 1);
  const std::uint64_t others = kCodeBytes + fragments * kDescriptorBytes + (travels ? flags : 0);
  return program::place(blocks, others, 5).end <= capacity;
}

}  // namespace tessera::spmm_dynamic
