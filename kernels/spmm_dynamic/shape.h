#pragma once

#include <cstdint>

#include "kernels/sparse/code/shape.h"
#include "sim/base/errors.h"

/// What one product with a dynamic W is made of, and how its parts lie on a tile.
namespace tessera::spmm_dynamic {

using sparse::EvenSplit;
using sparse::Interval;
using sparse::Shape;
using sparse::Type;

/// Which of the three products of a layer Y = W X is computed.
enum class Pass : std::uint8_t {
  forward,     ///< Y[m, n] = W X
  grad_input,  ///< Xg[k, n] = W^T Yg: the forward product of W^T
  grad_values  ///< Wg = Yg X^T at the places of W's blocks
};

constexpr std::uint32_t kWord = 8;            ///< bytes: the unit of places in bucket lists
constexpr std::uint64_t kMostPlace = 0xffff;  ///< in those
constexpr std::uint32_t kPassBytes =
    16;                                 ///< of a row of X that one pass of an element codelet takes
constexpr std::uint32_t kUnitWord = 4;  ///< bytes: the unit of places of values in a sub-group

/// Blocks of a unit of a bucket: f16 elements go in pairs.
inline std::uint32_t unit_blocks(const Shape& shape) {
  return shape.block == 1 && shape.type == Type::f16 && !shape.gradient ? 2 : 1;
}
/// Bytes of a unit's values; the partial sums of them in pass grad_values.
inline std::uint32_t unit_bytes(const Shape& shape) {
  const std::uint32_t area = shape.block * shape.block;
  return area * (shape.gradient ? shape.partial_bytes() : unit_blocks(shape) * shape.bytes());
}
/// The columns of a tile are a multiple of this.
inline std::uint32_t column_grain(const Shape& shape) {
  if (shape.gradient) return shape.lanes();
  if (shape.block == 1) return kPassBytes / shape.bytes();
  return shape.natural() ? shape.lanes() : shape.unroll();
}

/// What neighbouring tiles have in common, and can take together at twice the rate.
enum class Neighbours : std::uint8_t {
  share_x,       ///< the part of X: tiles are numbered by y, then z, then x
  share_pool,    ///< the partition: by x, then y, then z
  share_nothing  ///< by x, then z, then y: what share_x is for the product with W^T
};

/// How block rows, block columns and columns of X are cut: cell (x, y, z) works on part x of the
/// block rows, y of the block columns, z of the columns.
struct Grid {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  std::uint32_t columns = 1;  ///< of each part z, padding included
  Neighbours neighbours = Neighbours::share_x;

  [[nodiscard]] std::uint32_t tiles() const { return x * y * z; }
  [[nodiscard]] std::uint32_t partitions() const { return x * y; }
  [[nodiscard]] TileId tile(std::uint32_t i, std::uint32_t j, std::uint32_t k) const {
    switch (neighbours) {
      case Neighbours::share_x:
        return TileId{(j * z + k) * x + i};
      case Neighbours::share_pool:
        return TileId{(i * y + j) * z + k};
      case Neighbours::share_nothing:
        return TileId{(i * z + k) * y + j};
    }
    return TileId{};
  }
  /// Whether tiles with neighbouring numbers take the same rows of X, the same pool.
  [[nodiscard]] bool shares_x() const { return neighbours == Neighbours::share_x && x > 1; }
  [[nodiscard]] bool shares_pool() const {
    return neighbours == Neighbours::share_pool || (neighbours == Neighbours::share_x && x == 1) ||
           (neighbours == Neighbours::share_nothing && y == 1);
  }
  /// Of the same tiles for the product with W^T.
  [[nodiscard]] Grid transposed() const {
    check(neighbours != Neighbours::share_pool, "spmm_dynamic: a pool is shared for one W only");
    return {y, x, z, columns,
            neighbours == Neighbours::share_x ? Neighbours::share_nothing : Neighbours::share_x};
  }
};

}  // namespace tessera::spmm_dynamic
