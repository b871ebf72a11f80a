#include "kernels/training/statement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "kernels/sparse/code/relayout.h"

namespace tessera::training {

Groups::Groups(std::vector<Tile> all)
    : tiles(std::move(all)),
      size(static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(tiles.size()))))) {}

Groups Groups::of_first(Tile count) {
  std::vector<Tile> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return Groups(std::move(all));
}

std::span<const Tile> Groups::members(Tile tile) const {
  const auto found = std::ranges::lower_bound(tiles, tile);
  const auto first = static_cast<std::size_t>(found - tiles.begin());
  if (found == tiles.end() || *found != tile || first % size != 0) return {};
  return std::span(tiles).subspan(first, std::min(size, tiles.size() - first));
}

std::vector<Tile> Groups::leads() const {
  std::vector<Tile> all;
  for (std::size_t i = 0; i < tiles.size(); i += size) all.push_back(tiles[i]);
  return all;
}

void pull_each(Pulls& pulls, BufferId into, std::span<const Tile> tiles, BufferId from,
               std::uint32_t bytes) {
  std::uint32_t at = 0;
  for (const Tile tile : tiles) {
    pulls.push_back({{into, at}, tile, {from}, bytes});
    at += bytes;
  }
}

std::function<void(Tile, plan::HostPieces&)> Batch::pieces(BufferId array) const {
  return [its = *this, array](Tile tile, plan::HostPieces& pieces) {
    const std::uint32_t size = word(its.bytes(tile));
    if (size == 0) return;
    pieces.push_back(
        {{array}, size, [fill = its.fill, tile](std::span<std::byte> into, std::uint64_t number) {
           fill(tile, into, number);
         }});
  };
}

Codelet Statement::code(const std::string& name) const {
  const elf::KernelCode& its = name.starts_with("training_") ? code_.training : code_.sparse.sparse;
  return Codelet::of(its, description_, name, contexts());
}

namespace {

/// Writes a tile's elements of a matrix, rounded; padding is zero.
template <class Fill>
void fill_elements(const MatrixArray& matrix, Tile tile, std::span<std::byte> into,
                   const Fill& fill) {
  matrix.stored.fill(tile, matrix.type, into, [&](std::uint64_t row, std::uint64_t column) {
    return row < matrix.rows && column < matrix.columns ? fill(row, column) : 0.0;
  });
}

/// A matrix cut into roughly square rectangles, at most one per tile.
struct Grid {
  EvenSplit down, across;  ///< in units of `grain` rows and columns
  std::uint32_t grain;

  [[nodiscard]] Interval rows(std::uint32_t tile) const {
    return scaled(down.part(tile / across.parts));
  }
  [[nodiscard]] Interval columns(std::uint32_t tile) const {
    return scaled(across.part(tile % across.parts));
  }
  [[nodiscard]] std::uint32_t tiles() const { return down.parts * across.parts; }
  /// The rectangle of a tile in a matrix of `width` columns.
  [[nodiscard]] sparse::Chunked part(std::uint32_t tile, std::uint32_t width) const {
    if (tile >= tiles()) return {{0, 0}, 1, 1, {0, 0}};
    return {{0, elements(tile)}, word(rows(tile).size()), columns(tile).size(),
            rows(tile),          columns(tile).begin,     width};
  }
  /// Elements of the rectangle of a tile.
  [[nodiscard]] std::uint64_t elements(std::uint32_t tile) const {
    return tile < tiles() ? rows(tile).size() * columns(tile).size() : 0;
  }
  /// The tile that holds an element.
  [[nodiscard]] std::uint32_t holder(std::uint64_t row, std::uint64_t column) const {
    return word(down.holder(row / grain) * across.parts + across.holder(column / grain));
  }

 private:
  [[nodiscard]] Interval scaled(Interval groups) const {
    return {groups.begin * grain, groups.end * grain};
  }
};

/// The grid that minimises the fullest tile's elements plus its rows and columns.
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

MatrixArray Statement::shape(std::uint32_t rows, std::uint32_t columns) const {
  const std::uint32_t padded_rows = round_up(rows, padding_);
  const std::uint32_t pitch = round_up(columns, padding_);
  const std::uint64_t row_bytes = std::uint64_t{pitch} * element_bytes();
  return {rows, columns, padded_rows, pitch, {padded_rows, row_bytes, machine_.tiles}, {}, type_};
}

MatrixArray Statement::matrix(std::uint32_t rows, std::uint32_t columns, std::string_view name,
                              const Fill& fill, bool keep) {
  MatrixArray made = shape(rows, columns);
  Contents contents;
  if (fill)
    contents = [fill, made](Tile tile, std::span<std::byte> into) {
      fill_elements(made, tile, into, fill);
    };
  made.array = array(name, made.bytes(), std::move(contents), keep);
  return made;
}

Batch Statement::batch(const MatrixArray& matrix, const Element& element) {
  return {matrix.bytes(),
          [matrix, element](Tile tile, std::span<std::byte> into, std::uint64_t number) {
            fill_elements(matrix, tile, into,
                          [&](auto row, auto column) { return element(number, row, column); });
          }};
}

BufferId Statement::batch_array(std::string_view name, const Batch& batch, plan::Copies copies,
                                bool fed, bool keep) {
  BufferId made{};
  Contents first;
  if (!fed)
    first = [batch, of = copies.tiles](Tile tile, std::span<std::byte> into) {
      batch.fill(tile % of, into.first(batch.bytes(tile % of)), tile / of);
    };
  on_all([&] {
    made = array(
        name,
        [copies, bytes = batch.bytes](Tile tile) {
          return tile < copies.tiles * copies.count ? bytes(tile % copies.tiles) : 0;
        },
        std::move(first), keep && !fed);
  });
  return made;
}

CallsOf Statement::over(const Codelet& code, Bytes bytes, Arguments leading) {
  return [code, bytes = std::move(bytes), leading = std::move(leading)](Tile tile, Calls& calls) {
    if (bytes(tile) > 0) calls.add_by_size(code.all_over(leading, bytes(tile)));
  };
}

void Statement::add_calls(std::string name, Tile tiles, std::vector<CallsOf> calls) {
  description_.compute(std::move(name), tiles, [all = std::move(calls)](Tile tile, Calls& into) {
    for (const CallsOf& each : all) each(tile, into);
  });
}

/// Representatives: those of gemm, and the tiles that hold most of an operand's panels.
void Statement::product(const gemm::Geometry& geometry, const MatrixArray& a, const MatrixArray& b,
                        const MatrixArray& c) {
  gemm::describe_product(description_, geometry, machine_, code_.sparse.gemm,
                         {a.lies(), b.lies(), c.lies()});
  std::vector<Tile> tiles = gemm::representatives(geometry);
  for (const gemm::Side side : gemm::kSides) {
    const gemm::Panels panels(geometry, side, machine_.tiles);
    std::size_t most = 0;
    Tile fullest = 0;
    for (Tile tile = 0; tile < panels.holders(); ++tile)
      if (const std::size_t held = panels.on_tile(tile).size(); held > most) {
        most = held;
        fullest = tile;
      }
    tiles.push_back(fullest);
  }
  stand_for_others(tiles);
}

CallsOf Statement::filling(const MatrixArray& matrix, double value) {
  const auto offsets = [matrix](Tile tile) {
    const std::uint64_t column = (matrix.columns - 1) * matrix.element_bytes();
    std::vector<std::uint32_t> all;
    matrix.stored.for_rows(tile, [&](std::uint64_t row, Interval bytes, std::uint32_t at) {
      if (row < matrix.rows && bytes.begin <= column && column < bytes.end)
        all.push_back(word(at + column - bytes.begin));
    });
    return all;
  };
  const auto count = [offsets](Tile tile) { return offsets(tile).size(); };
  return [code = typed("training_fill"), count, value, array = matrix.array,
          ones = sparse().list("ones", count, offsets)](Tile tile, Calls& calls) {
    if (count(tile) > 0)
      calls.add_by_size(code.one({Place{array}, Place{ones}, word(count(tile)), bits_of(value)}));
  };
}

void Statement::apply(Activation activation, const MatrixArray& z, const MatrixArray* gradient,
                      const MatrixArray& out, bool ones) {
  const bool slopes = gradient != nullptr;
  std::vector<CallsOf> calls;
  if (activation != Activation::none) {
    const std::string name =
        fmt::format("training_{}{}{}", activation == Activation::relu ? "relu" : "gelu",
                    slopes ? "_slope" : "", halves() ? "_f16" : "");
    const program::Argument before = slopes ? program::Argument(Place{gradient->array}) : 0U;
    calls.push_back(elementwise(name, z, {Place{z.array}, before, Place{out.array}, 0U}));
  }
  if (ones) calls.push_back(filling(out, slopes ? 0 : 1));
  if (!calls.empty()) compute(slopes ? "activation gradient" : "activation", std::move(calls));
}

GivenLines given(const MatrixArray& matrix) {
  return {[matrix](std::uint64_t row, std::uint64_t begin, std::uint64_t end) {
            std::vector<GivenLines::Piece> pieces;
            for (const auto& piece : matrix.stored.pieces(row, begin, end))
              pieces.push_back({piece.tile, {matrix.array, piece.offset}, piece.at, piece.bytes});
            return pieces;
          },
          matrix.bytes(), matrix.padded_rows, matrix.row_bytes()};
}

WantedLines wanted(const MatrixArray& matrix) {
  return {[matrix](Tile tile) {
            std::vector<WantedLines::Piece> pieces;
            matrix.stored.for_rows(tile, [&](std::uint64_t row, Interval bytes, std::uint32_t at) {
              pieces.push_back({row, bytes.begin, {matrix.array, at}, word(bytes.size())});
            });
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
  const sparse::Transposition turning(sparse(), type_, part, sparse::Direction::to_blocks);
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
            const Tile holder = grid.holder(row, piece.row);
            const Interval rows = grid.rows(holder);
            next = std::min(rows.end, end);
            const std::uint64_t at =
                (piece.row - grid.columns(holder).begin) * rows.size() + row - rows.begin;
            pulls.push_back(
                {{piece.into.buffer, word(piece.into.offset + row * each - piece.begin)},
                 holder,
                 {turned, word(at * each)},
                 word((next - row) * each)});
          }
        }
      },
      [grid, each, rows = to.row_bytes / each, columns = to.rows](Tile tile) -> std::uint64_t {
        if (tile >= grid.tiles()) return 0;
        const auto below = [](Interval all, std::uint64_t end) {
          return std::min(all.end, end) - std::min(all.begin, end);
        };
        return below(grid.rows(tile), rows) * below(grid.columns(tile), columns) * each;
      });
}

}  // namespace tessera::training
