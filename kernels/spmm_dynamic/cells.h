#pragma once

#include <functional>
#include <vector>

#include "kernels/spmm_dynamic/shape.h"
#include "sim/program/program.h"

/// The tiles of a grid with their buffers.
namespace tessera::spmm_dynamic {

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
  program::BufferId pool[2];  ///< the pools travel from the one to the other
  program::BufferId flags;
  program::BufferId x_rows, x_slice;   ///< rows of X
  program::BufferId y_rows, y_slice;   ///< partial results, or rows of Yg
  program::BufferId bucket, received;  ///< before the run; partial results of others
  program::BufferId results;           ///< of this tile's share
  /// Layout natural: equal parts of the rows of X and Yg as they are given; panels of rows that the
  /// slices, or the results, are made of.
  program::BufferId given_x, given_y, x_panels, result_panels;
};

class Cells {
 public:
  explicit Cells(const Grid& grid) : grid_(grid), cells_(grid.tiles()) {
    for (std::uint32_t x = 0; x < grid.x; ++x) {
      for (std::uint32_t y = 0; y < grid.y; ++y) {
        for (std::uint32_t z = 0; z < grid.z; ++z) add(x, y, z);
      }
    }
  }
  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] const Cell& at(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return cells_[index(grid_.tile(x, y, z))];
  }
  [[nodiscard]] const Cell& of_tile(std::uint32_t tile) const { return cells_[tile]; }
  [[nodiscard]] auto begin() { return cells_.begin(); }
  [[nodiscard]] auto end() { return cells_.end(); }
  [[nodiscard]] auto begin() const { return cells_.begin(); }
  [[nodiscard]] auto end() const { return cells_.end(); }

 private:
  void add(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    const TileId tile = grid_.tile(x, y, z);
    Cell& cell = cells_[index(tile)];
    cell.x = x;
    cell.y = y;
    cell.z = z;
    cell.tile = tile;
  }

  Grid grid_;
  std::vector<Cell> cells_;  ///< by tile
};

}  // namespace tessera::spmm_dynamic
