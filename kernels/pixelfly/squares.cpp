#include "kernels/pixelfly/sampled.h"
#include "kernels/sparse/code/relayout.h"

namespace tessera::pixelfly {

using kernels::EvenStorage;
using program::BufferId;
using sparse::Tile;

namespace {

/// Bytes of a row of blocks beside a row of squares: whole squares whatever x_depth() is.
std::uint64_t grain(const sparse::Shape& shape) {
  return std::uint64_t{shape.block} * square_columns(shape) * shape.bytes();
}

/// Where squares are made, and of what.
struct Turning {
  EvenStorage rows, squares;
  BufferId given, blocks, made;
  sparse::Transposition turning;

  [[nodiscard]] bool moves() const { return rows.each() != squares.each(); }
};

}  // namespace

EvenStorage square_storage(const sparse::Shape& shape, std::uint64_t rows, std::uint32_t columns,
                           std::uint32_t tiles) {
  return {rows * columns * shape.bytes(), grain(shape), tiles};
}

std::vector<BufferId> make_squares(const sparse::Statement& statement, const sparse::Shape& shape,
                                   const std::vector<EvenStorage>& rows,
                                   const std::vector<BufferId>& blocks, std::uint32_t tiles) {
  std::vector<Turning> all;
  std::vector<BufferId> made;
  bool moves = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const EvenStorage squares(rows[i].bytes(), grain(shape), tiles);
    const std::uint64_t columns = square_columns(shape);
    const auto part = [shape, squares, columns](Tile tile) -> sparse::Chunked {
      const std::uint64_t elements = squares.bytes_on(tile) / shape.bytes();
      return {{0, elements}, shape.x_depth(), columns, {0, elements}, 0, columns};
    };
    Turning one{
        rows[i],   squares,
        blocks[i], blocks[i],
        {},        sparse::Transposition(statement, shape.type, part, sparse::Direction::to_rows)};
    if (one.moves()) one.blocks = statement.stored(squares, "in squares");
    one.made = statement.stored(squares, "squares");
    moves = moves || one.moves();
    made.push_back(one.made);
    all.push_back(one);
  }
  if (moves)
    statement.description.exchange("squares", tiles, [all](Tile tile, plan::Pulls& pulls) {
      for (const Turning& one : all)
        if (one.moves())
          sparse::pull(pulls, {one.blocks}, one.rows, one.given, one.squares.begin(tile),
                       one.squares.begin(tile + std::uint64_t{1}));
    });
  statement.description.compute("squares", tiles, [all](Tile tile, plan::Calls& calls) {
    for (const Turning& one : all)
      if (one.squares.bytes_on(tile) > 0) one.turning.add(calls, tile, {one.blocks}, {one.made});
  });
  return made;
}

}  // namespace tessera::pixelfly
