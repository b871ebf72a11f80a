#pragma once

#include <array>
#include <cstdint>

#include "kernels/sparse/code/shape.h"
#include "sim/base/errors.h"

/// Partition of a product with a dynamic W, and its layout on a tile.
namespace tessera::spmm_dynamic {

using sparse::Shape;
using sparse::Type;

/// The computed product of a layer Y = W X.
enum class Pass : std::uint8_t {
  forward,     ///< Y[m, n] = W X
  grad_input,  ///< Xg[k, n] = W^T Yg: the forward product of W^T
  grad_values  ///< Wg = Yg X^T at the places of W's blocks
};

/// The measured steps.
enum class Region : std::uint8_t {
  all,
  multiply  ///< without distribution, clearing and sums
};

constexpr std::uint32_t kWord = 8;            ///< bytes: unit of offsets in bucket lists
constexpr std::uint64_t kMostPlace = 0xffff;  ///< maximum offset in bucket lists
constexpr std::uint32_t kPassBytes = 16;  ///< bytes of a row of X per pass of an element codelet
constexpr std::uint32_t kUnitWord = 4;    ///< bytes: unit of offsets of values in a sub-group

/// Blocks per unit of a bucket: f16 elements come in pairs.
inline std::uint32_t unit_blocks(const Shape& shape) {
  return shape.block == 1 && shape.type == Type::f16 && !shape.gradient ? 2 : 1;
}
/// Bytes of a unit's values; in pass grad_values of their partial sums.
inline std::uint32_t unit_bytes(const Shape& shape) {
  const std::uint32_t area = shape.block * shape.block;
  return area * (shape.gradient ? shape.partial_bytes() : unit_blocks(shape) * shape.bytes());
}
/// Granularity of a tile's columns.
inline std::uint32_t column_grain(const Shape& shape) {
  if (shape.gradient) return shape.lanes();
  if (shape.block == 1) return kPassBytes / shape.bytes();
  return shape.natural() ? shape.lanes() : shape.unroll();
}

/// Data that neighbouring tiles share and can receive together at twice the rate.
enum class Neighbours : std::uint8_t {
  share_x,       ///< the part of X: tiles are numbered by y, z, x (x fastest)
  share_pool,    ///< the partition: by x, y, z (z fastest)
  share_nothing  ///< by x, z, y (y fastest): share_x of the product with W^T
};

/// Position of a tile in a grid: part x of the block rows, y of the block columns, z of the
/// columns.
struct Cell {
  std::uint32_t x = 0, y = 0, z = 0;
};
using Axis = std::uint32_t Cell::*;

/// Partition of block rows, block columns and columns of X.
struct Grid {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  std::uint32_t columns = 1;  ///< columns of each part z, padding included
  Neighbours neighbours = Neighbours::share_x;

  [[nodiscard]] std::uint32_t tiles() const { return x * y * z; }
  [[nodiscard]] std::uint32_t partitions() const { return x * y; }
  [[nodiscard]] std::uint32_t partition(const Cell& of) const { return of.x + of.y * x; }
  /// The partition `along_x`, `along_y` parts ahead of partition `of`.
  [[nodiscard]] std::uint32_t ahead(std::uint32_t of, std::uint32_t along_x,
                                    std::uint32_t along_y) const {
    return (of % x + along_x) % x + (of / x + along_y) % y * x;
  }
  [[nodiscard]] Cell sizes() const { return {x, y, z}; }
  /// The coordinates, from the fastest in the tile number to the slowest.
  [[nodiscard]] std::array<Axis, 3> order() const {
    switch (neighbours) {
      case Neighbours::share_x:
        return {&Cell::x, &Cell::z, &Cell::y};
      case Neighbours::share_pool:
        return {&Cell::z, &Cell::y, &Cell::x};
      case Neighbours::share_nothing:
        break;
    }
    return {&Cell::y, &Cell::z, &Cell::x};
  }
  [[nodiscard]] std::uint32_t tile(const Cell& of) const {
    const auto [first, second, third] = order();
    return (of.*third * (sizes().*second) + of.*second) * (sizes().*first) + of.*first;
  }
  [[nodiscard]] Cell cell(std::uint32_t tile) const {
    Cell cell;
    for (const Axis axis : order()) {
      cell.*axis = tile % (sizes().*axis);
      tile /= sizes().*axis;
    }
    return cell;
  }
  /// The coordinate in which tiles with neighbouring numbers differ: the first with several parts.
  [[nodiscard]] Axis paired() const {
    const auto [first, second, third] = order();
    return sizes().*first > 1 ? first : sizes().*second > 1 ? second : third;
  }
  /// Number of consecutive tiles that differ only in that coordinate.
  [[nodiscard]] std::uint32_t alike() const { return sizes().*paired(); }
  /// The same tiles' grid for the product with W^T.
  [[nodiscard]] Grid transposed() const {
    check(neighbours != Neighbours::share_pool, "spmm_dynamic: a pool is shared for one W only");
    return {y, x, z, columns,
            neighbours == Neighbours::share_x ? Neighbours::share_nothing : Neighbours::share_x};
  }
};

}  // namespace tessera::spmm_dynamic
