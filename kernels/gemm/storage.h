#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "kernels/gemm/geometry.h"
#include "sim/data/dense_operand.h"

namespace tessera::gemm {

using Operand = data::DenseOperand;

/// Where an operand's bytes lie before the run: in blocked layout, portion after portion in the
/// order of its rows (X) or columns (W), dealt evenly to all tiles of the machine whatever the plan
/// makes of them. A portion is what one superstep brings to a tile.
class Storage {
 public:
  enum class Role : std::uint8_t { x, w };
  Storage(const Geometry& geometry, Role role, std::uint32_t tiles);

  /// A stretch of a portion on one tile.
  struct Piece {
    std::uint32_t tile;
    std::uint32_t offset;  ///< in what the tile holds
    std::uint32_t at;      ///< in the portion
    std::uint32_t bytes;
  };
  [[nodiscard]] std::vector<Piece> pieces(const Cell& cell, std::uint32_t cut) const;

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Of all of them, where those of a tile begin.
  [[nodiscard]] std::uint64_t begin(std::uint32_t tile) const {
    return std::min(tile * stored_, bytes_);
  }
  [[nodiscard]] std::uint32_t bytes_on(std::uint32_t tile) const;
  /// Of them, what a superstep brings to tiles.
  [[nodiscard]] std::uint64_t bytes_on(std::uint32_t tile, std::uint32_t cut) const;
  /// Writes what `tile` holds. `a` and `b` are the product's operands.
  void fill(std::uint32_t tile, const Operand& a, const Operand& b,
            std::span<std::byte> into) const;
  /// Where in the operand what is stored begins: a row of X or column of W, and an input.
  struct Origin {
    std::uint64_t line = 0, depth = 0;
  };
  /// Writes bytes from `begin` on.
  void fill_from(std::uint64_t begin, const Operand& a, const Operand& b, Origin origin,
                 std::span<std::byte> into) const;

 private:
  [[nodiscard]] std::size_t portions() const;
  [[nodiscard]] std::uint64_t begin_of(std::size_t portion) const;
  [[nodiscard]] std::size_t portion_at(std::uint64_t byte) const;
  [[nodiscard]] std::size_t portion(const Cell& cell, std::uint32_t cut) const;
  [[nodiscard]] double x_value(const Operand& a, const Operand& b, std::uint64_t row,
                               std::uint64_t depth) const;
  [[nodiscard]] double w_value(const Operand& a, const Operand& b, std::uint64_t depth,
                               std::uint64_t column) const;
  void fill_vector(std::size_t portion, std::uint64_t number, const Operand& a, const Operand& b,
                   Origin origin, std::span<std::byte> into) const;

  Geometry geometry_;
  Role role_;
  std::uint64_t bytes_;   ///< of all portions
  std::uint64_t stored_;  ///< bytes a tile
};

}  // namespace tessera::gemm
