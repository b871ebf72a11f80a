#pragma once

#include <span>
#include <vector>

#include "kernels/gemm/geometry.h"
#include "sim/data/dense_operand.h"
#include "sim/data/element.h"
#include "sim/plan/description.h"
#include "sim/program/tensor.h"

namespace tessera::gemm {

using Operand = data::DenseOperand;

/// Where an operand's bytes lie before the run: in blocked layout, portion after portion in the
/// order of its rows (X) or columns (W), dealt evenly to all tiles of the machine whatever the plan
/// makes of them. A portion is what one superstep brings to a tile.
class Storage : public EvenStorage {
 public:
  Storage(const Geometry& geometry, Side side, std::uint32_t tiles);

  /// The pieces of a portion.
  [[nodiscard]] std::vector<Piece> pieces(const Cell& cell, std::uint32_t cut) const;

  using EvenStorage::bytes_on;
  /// Bytes on `tile` that superstep `cut` brings to tiles.
  [[nodiscard]] std::uint64_t bytes_on(std::uint32_t tile, std::uint32_t cut) const;
  /// Where in the operand what is stored begins: a row of X or column of W, and an input.
  struct Origin {
    std::uint64_t line = 0, depth = 0;
  };
  /// Writes bytes from `begin` on. `a` and `b` are the product's operands.
  void fill(std::uint64_t begin, const Operand& a, const Operand& b, Origin origin,
            std::span<std::byte> into) const;

 private:
  /// Lines, and blocks of the depth.
  struct Portion {
    Interval lines, depth;
  };
  [[nodiscard]] Portion portion(std::size_t number) const;
  [[nodiscard]] std::size_t portions() const;
  [[nodiscard]] std::uint64_t begin_of(std::size_t number) const;
  [[nodiscard]] std::size_t portion_at(std::uint64_t byte) const;
  void fill_vector(const Portion& portion, std::uint64_t number, const Operand& a, const Operand& b,
                   Origin origin, std::span<std::byte> into) const;

  Geometry geometry_;
  Side side_;
};

/// A rectangle of a row-major matrix, cut along the chunks that the matrix unit takes at once.
struct Panel {
  std::uint64_t row, rows;      ///< first and number
  std::uint64_t chunk, chunks;  ///< first and number in each row
  std::uint32_t chunk_bytes;
  std::uint32_t offset;  ///< in what its tile holds
  std::uint32_t part;    ///< part of the rows (X) or columns (W)
  Interval depth;        ///< depth blocks

  [[nodiscard]] std::uint64_t bytes() const { return rows * chunks * chunk_bytes; }
};

/// Where an operand lies between re-layout and product: the depth blocks of each part of X or W,
/// dealt evenly to all tiles. A panel comes in rows, is regrouped on its tile into the order in
/// which it is sent on (X [depth block][row][input], W [column block][depth block][words of ldcw]),
/// and goes to the tiles of its part.
class Panels {
 public:
  Panels(const Geometry& geometry, Side side, std::uint32_t tiles)
      : geometry_(geometry), side_(side), tiles_(tiles) {}

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
  Side side_;
  std::uint32_t tiles_;
};

/// A row-major matrix, rows padded to whole blocks, as it is given or wanted: dealt evenly to all
/// tiles of the machine, row after row.
class RowMajor : public EvenStorage {
 public:
  RowMajor(std::uint64_t rows, std::uint64_t pitch_bytes, std::uint32_t tiles)
      : EvenStorage(rows * pitch_bytes, kStorageGrain, tiles), pitch_(pitch_bytes) {}

  [[nodiscard]] std::uint64_t pitch() const { return pitch_; }
  /// The pieces of bytes [begin, end) of a row.
  [[nodiscard]] Pieces pieces(std::uint64_t row, std::uint64_t begin, std::uint64_t end) const {
    return EvenStorage::pieces(row * pitch_ + begin, row * pitch_ + end);
  }
  /// Calls visit(row, bytes of the row, where they begin in what the tile holds) for the rows of
  /// which `tile` holds some, in order.
  template <class Visit>
  void for_rows(std::uint32_t tile, const Visit& visit) const {
    const std::uint64_t first = begin(tile);
    const std::uint64_t end = first + bytes_on(tile);
    for (std::uint64_t at = first, next = 0; at < end; at = next) {
      const std::uint64_t row = at / pitch_;
      next = std::min((row + 1) * pitch_, end);
      visit(row, Interval{at - row * pitch_, next - row * pitch_}, word(at - first));
    }
  }
  /// Writes what `tile` holds of a matrix of `type`: element(row, column).
  template <class Element>
  void fill(std::uint32_t tile, Type type, std::span<std::byte> into,
            const Element& element) const {
    const std::uint64_t size = data::element_bytes(type);
    const std::uint64_t pitch = pitch_ / size;
    const std::uint64_t first = begin(tile) / size;
    for (std::uint64_t i = 0; i < into.size() / size; ++i)
      data::store_element(type, into, i, element((first + i) / pitch, (first + i) % pitch));
  }

 private:
  std::uint64_t pitch_;
};

/// A matrix in an array of a description: it may lie in longer rows and more of them, with padding.
plan::TensorOver tensor_of(program::Tensor matrix, const RowMajor& stored, program::BufferId array);

/// C[m, n] as a plan of layout blocked leaves it, without its places.
program::Tensor tensor_of_blocks(const Geometry& geometry);
/// Its numbers on a tile of the geometry, which computes the part of Y from `first` on.
struct YPart {
  Roles whole;
  Geometry::YPlace first = {};
};
void add_blocks(const Geometry& geometry, std::uint32_t tile, const YPart& part,
                program::Runs& runs);

}  // namespace tessera::gemm
