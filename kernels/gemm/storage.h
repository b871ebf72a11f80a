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

/// Storage of an operand before the run in layout blocked: portion by portion in the order of its
/// rows (X) or columns (W), distributed evenly over all tiles of the machine, independent of the
/// plan's use of tiles. A portion is what a tile receives in one superstep.
class Storage : public EvenStorage {
 public:
  Storage(const Geometry& geometry, Side side, std::uint32_t tiles);

  /// The pieces of a portion.
  [[nodiscard]] std::vector<Piece> pieces(const Cell& cell, std::uint32_t cut) const;

  using EvenStorage::bytes_on;
  /// Bytes stored on `tile` that are sent in superstep `cut`.
  [[nodiscard]] std::uint64_t bytes_on(std::uint32_t tile, std::uint32_t cut) const;
  /// Start of the stored part in the operand: a row of X or column of W, and an input.
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

/// A rectangle of a row-major matrix, in chunks that the matrix unit reads at once.
struct Panel {
  std::uint64_t row, rows;      ///< first and number
  std::uint64_t chunk, chunks;  ///< first and number in each row
  std::uint32_t chunk_bytes;
  std::uint32_t offset;  ///< byte offset in its tile's array
  std::uint32_t part;    ///< part of the rows (X) or columns (W)
  Interval depth;        ///< depth blocks

  [[nodiscard]] std::uint64_t bytes() const { return rows * chunks * chunk_bytes; }
};

/// Storage of an operand between re-layout and product: the depth blocks of each part of X or W,
/// distributed evenly over all tiles. A panel arrives in rows, is regrouped on its tile into the
/// order in which it is sent on (X [depth block][row][input], W [column block][depth block][words
/// of ldcw]), and is sent to the tiles of its part.
class Panels {
 public:
  Panels(const Geometry& geometry, Side side, std::uint32_t tiles)
      : geometry_(geometry), side_(side), tiles_(tiles) {}

  [[nodiscard]] std::vector<Panel> on_tile(std::uint32_t tile) const;
  [[nodiscard]] std::uint64_t bytes_on(std::uint32_t tile) const;
  /// Number of tiles that hold panels: the first ones.
  [[nodiscard]] std::uint32_t holders() const;
  /// The pieces of a portion, as Storage::pieces().
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

/// A row-major operand or result, rows padded to whole blocks, distributed evenly over all tiles of
/// the machine.
class RowMajor : public EvenStorage {
 public:
  RowMajor(std::uint64_t rows, std::uint64_t pitch_bytes, std::uint32_t tiles)
      : EvenStorage(rows * pitch_bytes, kStorageGrain, tiles), pitch_(pitch_bytes) {}

  [[nodiscard]] std::uint64_t pitch() const { return pitch_; }
  /// The pieces of bytes [begin, end) of a row.
  [[nodiscard]] Pieces pieces(std::uint64_t row, std::uint64_t begin, std::uint64_t end) const {
    return EvenStorage::pieces(row * pitch_ + begin, row * pitch_ + end);
  }
  /// Calls visit(row, byte range in the row, offset in the tile's part) for each row of which
  /// `tile` holds bytes, in order.
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
  /// Writes the part of `tile` of a matrix with elements element(row, column) of `type`.
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

/// A matrix as a tensor over an array of a description; the array may have padded rows and more
/// rows.
plan::TensorOver tensor_of(program::Tensor matrix, const RowMajor& stored, program::BufferId array);

/// C[m, n] in a plan of layout blocked, without the locations of its elements.
program::Tensor tensor_of_blocks(const Geometry& geometry);
/// The part of Y that a geometry computes: it begins at `first` of the product `whole`.
struct YPart {
  Roles whole;
  Geometry::YPlace first = {};
};
void add_blocks(const Geometry& geometry, std::uint32_t tile, const YPart& part,
                program::Runs& runs);

}  // namespace tessera::gemm
