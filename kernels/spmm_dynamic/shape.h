#pragma once

#include <cstdint>

#include "kernels/layout.h"
#include "sim/base/errors.h"
#include "sim/base/types.h"
#include "sim/data/element.h"

/// What one product with a dynamic W is made of, and how its parts lie on a tile.
namespace tessera::spmm_dynamic {

/// Which of the three products of a layer Y = W X is computed.
enum class Pass : std::uint8_t {
  forward,     ///< Y[m, n] = W X
  grad_input,  ///< Xg[k, n] = W^T Yg: the forward product of W^T
  grad_values  ///< Wg = Yg X^T at the places of W's blocks
};

constexpr std::uint32_t kWord = 8;  ///< bytes: the unit of places in bucket lists
constexpr std::uint32_t kPassBytes =
    16;                                 ///< of a row of X that one pass of an element codelet takes
constexpr std::uint32_t kUnitWord = 4;  ///< bytes: the unit of places of values in a sub-group

using kernels::Layout;

struct Shape {
  program::Type dtype = program::Type::f16;
  std::uint32_t block = 1;
  bool values = false;                      ///< pass grad_values
  program::Type sums = program::Type::f32;  ///< f16 only of f16 and with blocks
  Layout layout = Layout::blocked;

  [[nodiscard]] bool f16() const { return dtype == program::Type::f16; }
  [[nodiscard]] std::uint32_t element_bytes() const { return data::element_bytes(dtype); }
  [[nodiscard]] std::uint32_t sum_bytes() const { return data::element_bytes(sums); }
  /// Whether sums become results only when they are packed.
  [[nodiscard]] bool packs() const { return sums != dtype; }
  /// Whether workers share out the rows of a sub-group; else they share its columns.
  [[nodiscard]] bool shares_rows() const { return block == 1 || values; }
  /// Blocks of a unit of a bucket: f16 elements go in pairs.
  [[nodiscard]] std::uint32_t unit_blocks() const { return block == 1 && f16() && !values ? 2 : 1; }
  /// Bytes of a unit's values; the partial sums of them in pass grad_values.
  [[nodiscard]] std::uint32_t unit_bytes() const {
    const std::uint32_t area = block * block;
    return values ? area * sum_bytes() : area * unit_blocks() * element_bytes();
  }
  [[nodiscard]] bool natural() const { return layout == Layout::natural; }
  /// Elements of a 64-bit word.
  [[nodiscard]] std::uint32_t lanes() const { return kWord / element_bytes(); }
  /// The columns of a tile are a multiple of this.
  [[nodiscard]] std::uint32_t column_grain() const {
    if (values) return lanes();
    if (block == 1) return kPassBytes / element_bytes();
    return natural() ? lanes() : unroll();
  }
  /// Words of X that one tile makes of rows: whole squares of columns and rows of a chunk.
  [[nodiscard]] std::uint32_t x_grain() const { return natural() ? x_chunk() : 1; }
  /// Bytes of sums that one tile makes rows of, likewise.
  [[nodiscard]] std::uint32_t sums_grain() const {
    return natural() && !values ? result_chunk() * lanes() * sum_bytes() : 1;
  }
  /// Columns that a loop of a worker takes at a time.
  [[nodiscard]] std::uint32_t unroll() const { return block == 4 && f16() && !packs() ? 2 : 1; }
  /// Rows of X (of results) whose elements stand side by side for each column.
  [[nodiscard]] std::uint32_t x_chunk() const {
    if (values) return 1;
    return block == 16 && !f16() ? 8 : block;
  }
  [[nodiscard]] std::uint32_t result_chunk() const {
    if (values) return 1;
    return block == 16 && f16() && packs() ? 8 : block;
  }
};

/// A part of a dense matrix on one tile: [row block][chunk of rows][column][row of the chunk].
struct Piece {
  std::uint32_t columns;
  std::uint32_t chunk;

  struct Place {
    std::uint32_t row, column;
  };
  [[nodiscard]] Place place(std::uint64_t at) const {
    const std::uint64_t position = at / chunk;
    return {static_cast<std::uint32_t>(position / columns * chunk + at % chunk),
            static_cast<std::uint32_t>(position % columns)};
  }
  [[nodiscard]] std::uint64_t at(std::uint32_t row, std::uint32_t column) const {
    return (std::uint64_t{row / chunk} * columns + column) * chunk + row % chunk;
  }
};

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
