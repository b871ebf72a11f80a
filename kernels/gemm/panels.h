#pragma once

#include <vector>

#include "kernels/gemm/geometry.h"
#include "kernels/gemm/storage.h"

namespace tessera::gemm {

/// A rectangle of a row-major matrix, cut along the chunks that the matrix unit takes at once.
struct Panel {
  std::uint64_t row, rows;      ///< first and number
  std::uint64_t chunk, chunks;  ///< first and number in each row
  std::uint32_t chunk_bytes;
  std::uint32_t offset;  ///< in what its tile holds
  std::uint32_t part;    ///< of the rows (X) or columns (W)
  Interval depth;        ///< depth blocks

  [[nodiscard]] std::uint64_t bytes() const { return rows * chunks * chunk_bytes; }
};

/// Where an operand lies between re-layout and product: the depth blocks of each part of X or W,
/// dealt evenly to all tiles. A panel comes in rows, is regrouped on its tile into the order in
/// which it is sent on (X [depth block][row][input], W [column block][depth block][words of ldcw]),
/// and goes to the tiles of its part.
class Panels {
 public:
  Panels(const Geometry& geometry, Storage::Role role, std::uint32_t tiles)
      : geometry_(geometry), role_(role), tiles_(tiles) {}

  [[nodiscard]] std::vector<Panel> on_tile(std::uint32_t tile) const;
  [[nodiscard]] std::uint64_t bytes_on(std::uint32_t tile) const;
  /// Tiles 0 to this - 1 hold something.
  [[nodiscard]] std::uint32_t holders() const;
  /// Where a portion lies, as Storage::pieces.
  [[nodiscard]] std::vector<Storage::Piece> pieces(const Cell& cell, std::uint32_t cut) const;

 private:
  [[nodiscard]] EvenSplit split() const;
  [[nodiscard]] Panel panel(std::uint32_t part, Interval depth) const;
  void add_pieces(const Panel& panel, std::uint32_t tile, Interval wanted,
                  std::vector<Storage::Piece>& pieces) const;

  Geometry geometry_;
  Storage::Role role_;
  std::uint32_t tiles_;
};

/// A row-major matrix, rows padded to whole blocks, as it is given or wanted: dealt evenly to all
/// tiles of the machine, row after row.
class RowMajor {
 public:
  RowMajor(std::uint64_t rows, std::uint64_t pitch_bytes, std::uint32_t tiles);
  static RowMajor of_x(const Geometry& geometry, std::uint32_t tiles);
  static RowMajor of_w(const Geometry& geometry, std::uint32_t tiles);
  static RowMajor of_result(const Geometry& geometry, std::uint32_t tiles);

  [[nodiscard]] std::uint64_t pitch() const { return pitch_; }
  [[nodiscard]] std::uint64_t begin(std::uint32_t tile) const;
  [[nodiscard]] std::uint32_t bytes_on(std::uint32_t tile) const;
  /// Where bytes [begin, end) of a row lie; `at` counts from `begin`.
  [[nodiscard]] std::vector<Storage::Piece> pieces(std::uint64_t row, std::uint64_t begin,
                                                   std::uint64_t end) const;
  /// Writes what `tile` holds of `operand`, elements of `type`.
  void fill(std::uint32_t tile, const Operand& operand, Type type, std::span<std::byte> into) const;

 private:
  std::uint64_t bytes_;
  std::uint64_t pitch_;
  std::uint64_t stored_;  ///< bytes a tile
};

}  // namespace tessera::gemm
