#include "kernels/sparse/code/relayout.h"
#include "kernels/training/statement.h"

namespace tessera::training {

namespace {

/// A matrix cut into rectangles, one a tile at most, about as high as wide.
struct Grid {
  kernels::EvenSplit down, across;  ///< in groups of `grain` rows and columns
  std::uint32_t grain;

  [[nodiscard]] kernels::Interval rows(std::uint32_t tile) const {
    return scaled(down.part(tile / across.parts));
  }
  [[nodiscard]] kernels::Interval columns(std::uint32_t tile) const {
    return scaled(across.part(tile % across.parts));
  }
  [[nodiscard]] std::uint32_t tiles() const { return down.parts * across.parts; }
  /// The rectangle of a tile in a matrix of so many columns.
  [[nodiscard]] sparse::Chunked part(std::uint32_t tile, std::uint32_t width) const {
    if (tile >= tiles()) return {{0, 0}, 1, 1, {0, 0}};
    return {{0, elements(tile)}, word(rows(tile).size()), columns(tile).size(),
            rows(tile),          columns(tile).begin,     width};
  }
  /// Elements of the rectangle of a tile.
  [[nodiscard]] std::uint64_t elements(std::uint32_t tile) const {
    return tile < tiles() ? rows(tile).size() * columns(tile).size() : 0;
  }
  /// The tile that has an element.
  [[nodiscard]] std::uint32_t holder(std::uint64_t row, std::uint64_t column) const {
    return word(down.holder(row / grain) * across.parts + across.holder(column / grain));
  }

 private:
  [[nodiscard]] kernels::Interval scaled(kernels::Interval groups) const {
    return {groups.begin * grain, groups.end * grain};
  }
};

/// The grid whose fullest tile has least to hold, then least rows and columns to send.
Grid grid_of(const Statement::Extent& extent, std::uint32_t tiles) {
  const std::uint32_t grain = extent.grain;
  const std::uint32_t down = extent.rows / grain;
  const std::uint32_t across = extent.columns / grain;
  std::uint32_t best = 1;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t parts = 1; parts <= std::min(down, tiles); ++parts) {
    const std::uint64_t high = ceil_div(down, parts);
    const std::uint64_t wide = ceil_div(across, std::min(across, tiles / parts));
    const std::uint64_t cost = high * wide * grain + high + wide;
    if (cost >= least) continue;
    least = cost;
    best = parts;
  }
  return {{down, best}, {across, std::min(across, tiles / best)}, grain};
}

}  // namespace

GivenLines given(const MatrixArray& matrix) {
  return {[matrix](std::uint64_t row, std::uint64_t begin, std::uint64_t end) {
            std::vector<GivenLines::Piece> pieces;
            for (const auto& piece : matrix.stored.pieces(row, begin, end))
              pieces.push_back({piece.tile, {matrix.array, piece.offset}, piece.at, piece.bytes});
            return pieces;
          },
          [stored = matrix.stored](Tile tile) -> std::uint64_t { return stored.bytes_on(tile); },
          matrix.padded_rows, matrix.row_bytes()};
}

WantedLines wanted(const MatrixArray& matrix) {
  return {[matrix](Tile tile) {
            const std::uint64_t first = matrix.stored.begin(tile);
            const std::uint64_t end = first + matrix.stored.bytes_on(tile);
            std::vector<WantedLines::Piece> pieces;
            for (std::uint64_t at = first, next = 0; at < end; at = next) {
              const std::uint64_t row = at / matrix.row_bytes();
              next = std::min((row + 1) * matrix.row_bytes(), end);
              pieces.push_back({row,
                                at - row * matrix.row_bytes(),
                                {matrix.array, word(at - first)},
                                word(next - at)});
            }
            return pieces;
          },
          matrix.padded_rows, matrix.row_bytes()};
}

void Statement::transpose(const MatrixArray& from, const MatrixArray& to) {
  transpose(given(from), wanted(to), {from.padded_rows, from.pitch, padding_});
}

void Statement::transpose(const GivenLines& from, const WantedLines& to, const Extent& extent,
                          const std::vector<BufferId>& cleared) {
  const Grid grid = grid_of(extent, machine_.tiles);
  const auto bytes = [grid, each = element_bytes()](Tile tile) {
    return grid.elements(tile) * each;
  };
  const BufferId given = array("rectangle", bytes);
  const BufferId turned = array("rectangle transposed", bytes);
  const auto part = [grid, width = extent.columns](Tile tile) { return grid.part(tile, width); };
  const sparse::Transposition turning({description_, code_.sparse, contexts()}, type_, part,
                                      sparse::Direction::to_blocks);
  std::vector<CallsOf> zeros;
  zeros.reserve(cleared.size() + 1);
  for (const BufferId each : cleared) zeros.push_back(clearing(each));
  const std::uint64_t each = element_bytes();
  if (extent.rows > from.rows || extent.columns * each > from.row_bytes)
    zeros.push_back([clear = clearing(given), grid, rows = from.rows,
                     columns = from.row_bytes / each](Tile tile, Calls& calls) {
      if (tile < grid.tiles() && (grid.rows(tile).end > rows || grid.columns(tile).end > columns))
        clear(tile, calls);
    });
  if (!zeros.empty()) compute("clear", std::move(zeros));
  stand_for_others({grid.tiles() - 1});
  description_.exchange(
      "transpose", machine_.tiles,
      [part, from, given, each](Tile tile, Pulls& pulls) {
        const sparse::Chunked mine = part(tile);
        sparse::for_panel_rows(
            mine, [&](std::uint64_t first, std::uint64_t count, std::uint64_t at) {
              const std::uint64_t begin = first % mine.width * each;
              for (const auto& piece : from.pieces(first / mine.width, begin, begin + count * each))
                pulls.push_back(
                    {{given, word(at * each + piece.at)}, piece.tile, piece.place, piece.bytes});
            });
      },
      from.bytes_on);
  description_.compute("transpose", grid.tiles(), [=](Tile tile, Calls& calls) {
    calls.add_by_size(turning.call(tile, {given}, {turned}));
  });
  description_.exchange(
      "transposed", machine_.tiles,
      [grid, to, turned, each, extent](Tile tile, Pulls& pulls) {
        for (const WantedLines::Piece& piece : to.pieces(tile)) {
          const std::uint64_t end =
              std::min<std::uint64_t>(piece.begin / each + piece.bytes / each, extent.rows);
          for (std::uint64_t row = piece.begin / each, next = 0;
               row < end && piece.row < extent.columns; row = next) {
            const Tile from = grid.holder(row, piece.row);
            const kernels::Interval rows = grid.rows(from);
            next = std::min(rows.end, end);
            const std::uint64_t at =
                (piece.row - grid.columns(from).begin) * rows.size() + row - rows.begin;
            pulls.push_back(
                {{piece.into.buffer, word(piece.into.offset + row * each - piece.begin)},
                 from,
                 {turned, word(at * each)},
                 word((next - row) * each)});
          }
        }
      },
      [grid, each, rows = to.row_bytes / each, columns = to.rows](Tile tile) -> std::uint64_t {
        if (tile >= grid.tiles()) return 0;
        const auto below = [](kernels::Interval all, std::uint64_t end) {
          return std::min(all.end, end) - std::min(all.begin, end);
        };
        return below(grid.rows(tile), rows) * below(grid.columns(tile), columns) * each;
      });
}

}  // namespace tessera::training
