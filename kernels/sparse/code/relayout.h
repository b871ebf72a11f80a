#pragma once

#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/code/statement.h"
#include "kernels/sparse/tensors.h"

/// Dense operands on tiles. In layout blocked a tile holds a contiguous part of a piece of the
/// matrix, in order [chunk of rows][column][row of the chunk]. In layout natural the matrix is
/// given and wanted by rows, in equal parts over all tiles; each tile converts rows to its part in
/// layout blocked, or back, by transposing squares of words.
namespace tessera::sparse {

/// Array::contents of an array that holds `part` of an operand on each tile; without an operand
/// unspecified.
Statement::Contents contents_of(Type type, const data::DenseOperand* operand,
                                std::function<Chunked(Tile)> part);

/// A rectangle of a piece on one tile: `depth` rows from `row`, columns [begin, end).
struct Panel {
  std::uint64_t row;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t offset;  ///< offset in the tile's part, in elements

  [[nodiscard]] std::uint64_t width() const { return end - begin; }
};

/// The panels of a part, none wider than the strides of SquareRun allow.
std::vector<Panel> panels_of(const Chunked& part);

/// A run of squares whose rows and columns are the elements of a 64-bit word.
struct SquareRun {
  std::uint32_t in;  ///< byte offset of the first word
  std::uint32_t out;
  std::uint16_t squares;
  std::uint16_t in_stride;  ///< bytes between the words of a square
  std::uint16_t in_step;    ///< bytes to the next square
  std::uint16_t out_stride;
  std::uint16_t out_step;
  std::uint16_t padding;
};
static_assert(sizeof(SquareRun) == 20);

enum class Direction : std::uint8_t { to_blocks, to_rows };

/// The squares of a part's panels, divided among `workers`.
std::vector<std::vector<SquareRun>> transpositions(const Chunked& part, std::uint32_t bytes,
                                                   Direction direction, std::uint32_t workers);

/// Calls that convert a tile's panels to chunks or back. Their lists are in an array on the tiles
/// whose `part` is not empty.
class Transposition {
 public:
  Transposition(const Statement& statement, Type type, std::function<Chunked(Tile)> part,
                Direction direction);
  [[nodiscard]] program::Vertex call(Tile tile, Place from, Place to) const;
  void add(Calls& calls, Tile tile, Place from, Place to) const { calls.add(call(tile, from, to)); }

 private:
  std::function<std::vector<std::vector<SquareRun>>(Tile)> runs_;  ///< by worker
  Codelet code_;
  BufferId squares_;
};

/// States the step in which tiles convert their `part` in `from` to `to`.
void add_turning(const Statement& statement, const std::string& name, Tile tiles, Type type,
                 const std::function<Chunked(Tile)>& part, Direction direction, BufferId from,
                 BufferId to);

/// Calls visit(element of the matrix by rows, elements, element of the tile's part) for each row of
/// each panel.
template <class Visit>
void for_panel_rows(const Chunked& part, const Visit& visit) {
  for (const Panel& panel : panels_of(part)) {
    for (std::uint64_t i = 0; i < part.depth; ++i) {
      const std::uint64_t row = part.rows.begin + panel.row + i;
      if (row >= part.rows.end) break;
      visit(row * part.width + part.column + panel.begin, panel.width(),
            panel.offset + i * panel.width());
    }
  }
}

/// Rows of a matrix, as given or wanted, in an array of a description.
struct RowArray {
  EvenStorage storage;
  std::uint32_t bytes;  ///< bytes per element
  BufferId array;
};
/// Pulls the rows of `part`'s panels into `panels`.
void pull_panels(const RowArray& rows, const Chunked& part, BufferId panels, Pulls& pulls);

/// The tile that holds an element of a matrix.
struct Holder {
  Tile tile;
  Chunked part;
};
/// Pulls the tile's share of the rows, of `width` elements each, from the holders' panels.
void pull_rows(const RowArray& rows, std::uint64_t width, Tile tile, BufferId panels,
               const std::function<Holder(std::uint64_t row, std::uint64_t column)>& holder_of,
               Pulls& pulls);

}  // namespace tessera::sparse
