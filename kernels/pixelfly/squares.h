#pragma once

#include "kernels/sparse/code/assembly.h"
#include "kernels/sparse/code/shape.h"
#include "sim/plan/fitted_cost.h"
#include "sim/plan/step_costs.h"
#include "sim/program/workload.h"

/// Rows of B as the matrix unit takes them for A B^T, whose sums run along columns: in squares of
/// x_depth() rows and as many columns as the unit has inputs, each of which is turned to rows:
/// [chunk of rows][square of columns][row][column]. They are turned where they lie in equal
/// stretches on all tiles, once for all tiles that take them.
namespace tessera::pixelfly {

/// Columns of a square.
constexpr std::uint32_t square_columns(const sparse::Shape& shape) { return shape.unit.depth; }

/// So many rows of so many columns in equal stretches of whole squares.
kernels::EvenStorage square_storage(const sparse::Shape& shape, std::uint64_t rows,
                                    std::uint32_t columns, std::uint32_t tiles);

/// Rows in blocks as they lie on tiles, and the buffers.
struct RowsInBlocks {
  kernels::EvenStorage storage;
  std::vector<program::BufferId> buffers;
};
/// Adds the steps that make squares of all of them on so many tiles; those that do not lie in whole
/// squares are brought together first. Their buffers, by tile.
std::vector<std::vector<program::BufferId>> add_squares(sparse::Assembly& assembly,
                                                        const sparse::Shape& shape,
                                                        const std::vector<RowsInBlocks>& rows,
                                                        std::uint32_t tiles);

/// What add_squares() is predicted to take.
Prediction predict_squares(const sparse::Shape& shape,
                           const std::vector<kernels::EvenStorage>& rows, MachineCosts& costs);

}  // namespace tessera::pixelfly
