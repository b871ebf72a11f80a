#pragma once

#include <vector>

#include "kernels/sparse/code/relayout.h"
#include "kernels/spmm_dynamic/plan.h"

/// The tiles of a grid with their buffers.
namespace tessera::spmm_dynamic {

using sparse::BufferId;
using sparse::Place;

constexpr std::uint32_t kFlagBytes = 16;

/// Words of a cell's flags.
enum class Flag : std::uint8_t {
  spilled,       ///< a sub-group of the pool here is not done
  spilled_here,  ///< one that is for this part of the rows
  away_along_y,  ///< the pool here is another partition's
  away_along_x
};

struct Cell {
  std::uint32_t x, y, z;
  TileId tile;
  BufferId pool[2];  ///< the pools travel from the one to the other
  BufferId flags;
  BufferId x_rows, x_slice;   ///< rows of X
  BufferId y_rows, y_slice;   ///< partial results, or rows of Yg
  BufferId bucket, received;  ///< before the run; partial results of others
  BufferId results;           ///< of this tile's share
  /// Layout natural: panels of rows that the slices, or the results, are made of.
  BufferId x_panels, result_panels;
};

class Cells {
 public:
  explicit Cells(const Grid& grid) : grid_(grid), cells_(grid.tiles()) {
    for (std::uint32_t x = 0; x < grid.x; ++x) {
      for (std::uint32_t y = 0; y < grid.y; ++y) {
        for (std::uint32_t z = 0; z < grid.z; ++z) {
          Cell& cell = cells_[index(grid.tile(x, y, z))];
          cell.x = x;
          cell.y = y;
          cell.z = z;
          cell.tile = grid.tile(x, y, z);
        }
      }
    }
  }
  [[nodiscard]] const Cell& at(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return cells_[index(grid_.tile(x, y, z))];
  }
  [[nodiscard]] auto begin() { return cells_.begin(); }
  [[nodiscard]] auto end() { return cells_.end(); }
  [[nodiscard]] auto begin() const { return cells_.begin(); }
  [[nodiscard]] auto end() const { return cells_.end(); }

 private:
  Grid grid_;
  std::vector<Cell> cells_;  ///< by tile
};

/// The program of a plan while it is put together. What is referred to outlives the program.
struct Work {
  const Problem& problem;
  const PoolShape& pool;
  const Buffers bytes;
  bool measured;  ///< steps other than the products
  sparse::Assembly& assembly;
  Cells cells;
  /// Layout natural: equal parts of the rows of X and Yg as they are given, by tile.
  std::vector<BufferId> given_x = {}, given_y = {};
  std::vector<BufferId> results = {};  ///< that the host reads, by tile

  [[nodiscard]] const Shape& shape() const { return pool.shape; }
  [[nodiscard]] const Grid& grid() const { return pool.grid; }
  /// What a cell holds of X, of Yg and of the results that it adds up.
  [[nodiscard]] sparse::Chunked x_part(const Cell& one) const {
    return part(words(bytes.x_part(grid().x, one.x)), shape().x_depth(), one,
                rows(problem.block_columns, grid().y, one.y));
  }
  [[nodiscard]] sparse::Chunked yg_part(const Cell& one) const {
    return part(words(bytes.y_part(grid().y, one.y)), 1, one,
                rows(problem.block_rows, grid().x, one.x));
  }
  [[nodiscard]] sparse::Chunked y_part(const Cell& one) const {
    const Interval chunks = bytes.share(one.y, one.z);
    const std::uint32_t each = kChunkBytes / shape().partial_bytes();
    return part({chunks.begin * each, chunks.end * each}, shape().y_depth(), one,
                rows(problem.block_rows, grid().x, one.x));
  }

 private:
  [[nodiscard]] Interval words(Interval of) const {
    return {of.begin * shape().lanes(), of.end * shape().lanes()};
  }
  [[nodiscard]] Interval rows(std::uint32_t block_rows, std::uint32_t parts,
                              std::uint32_t number) const {
    const Interval blocks = EvenSplit{block_rows, parts}.part(number);
    return {blocks.begin * shape().block, blocks.end * shape().block};
  }
  [[nodiscard]] sparse::Chunked part(Interval elements, std::uint32_t depth, const Cell& one,
                                     Interval of_rows) const {
    return {elements,
            depth,
            grid().columns,
            of_rows,
            std::uint64_t{one.z} * grid().columns,
            std::uint64_t{grid().columns} * grid().z};
  }
};

}  // namespace tessera::spmm_dynamic
