#pragma once

#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/code/statement.h"

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

/// States the steps that make squares of rows in blocks, which lie in arrays, on so many tiles;
/// those that do not lie in whole squares are brought together first. Returns their arrays.
std::vector<program::BufferId> make_squares(const sparse::Statement& statement,
                                            const sparse::Shape& shape,
                                            const std::vector<kernels::EvenStorage>& rows,
                                            const std::vector<program::BufferId>& blocks,
                                            std::uint32_t tiles);

}  // namespace tessera::pixelfly
