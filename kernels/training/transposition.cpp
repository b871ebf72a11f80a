#include "kernels/sparse/code/relayout.h"
#include "kernels/training/assembly.h"

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

 private:
  [[nodiscard]] kernels::Interval scaled(kernels::Interval groups) const {
    return {groups.begin * grain, groups.end * grain};
  }
};

/// The grid whose fullest tile has least to hold, then least rows and columns to send.
Grid grid_of(const Assembly::Extent& extent, std::uint32_t tiles) {
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

/// Squares of a rectangle of rows x columns, dealt to workers.
std::vector<std::vector<sparse::SquareRun>> squares(std::uint64_t rows, std::uint64_t columns,
                                                    std::uint64_t element_bytes,
                                                    std::uint32_t workers) {
  const std::uint64_t lanes = kWordBytes / element_bytes;
  const auto half = [](std::uint64_t value) { return static_cast<std::uint16_t>(value); };
  const kernels::EvenSplit groups{rows / lanes, workers};
  std::vector<std::vector<sparse::SquareRun>> runs(workers);
  for (std::uint32_t w = 0; w < workers; ++w) {
    for (std::uint64_t group = groups.begin(w); group < groups.begin(w + 1); ++group) {
      runs[w].push_back({word(group * lanes * columns * element_bytes),
                         word(group * lanes * element_bytes), half(columns / lanes),
                         half(columns * element_bytes), kWordBytes, half(rows * element_bytes),
                         half(lanes * rows * element_bytes), 0});
    }
  }
  return runs;
}

}  // namespace

Lines lines_of(const Matrix& matrix) {
  return {[lies = matrix.lies](std::uint64_t row, std::uint64_t begin, std::uint64_t end) {
    Lines::Pieces pieces;
    for (const auto& piece : lies.stored.pieces(row, begin, end))
      pieces.push_back({{lies.buffers[piece.tile], piece.offset}, piece.at, piece.bytes});
    return pieces;
  }};
}

void Assembly::transpose(const Matrix& from, const Matrix& to) {
  transpose(lines_of(from), lines_of(to),
            {from.padded_rows, from.pitch, padding(machine(), type_)});
}

void Assembly::transpose(const Lines& from, const Lines& to, const Extent& extent,
                         const std::vector<BufferId>& cleared) {
  const Grid grid = grid_of(extent, machine().tiles);
  std::vector<BufferId> incomplete = cleared;
  program::Exchange gather{"transpose", {}};
  program::ComputeSet set{"transpose", {}};
  program::Exchange scatter{"transposed", {}};
  for (std::uint32_t t = 0; t < grid.tiles(); ++t) {
    const kernels::Interval rows = grid.rows(t);
    const kernels::Interval columns = grid.columns(t);
    const std::uint64_t bytes = rows.size() * columns.size() * element_bytes();
    const BufferId given = buffer(t, bytes, "rectangle");
    const BufferId turned = buffer(t, bytes, "rectangle transposed");
    std::uint64_t found = 0;
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      const std::uint64_t at = row * columns.size() * element_bytes();
      for (const auto& piece : from.pieces(rows.begin + row, columns.begin * element_bytes(),
                                           columns.end * element_bytes())) {
        gather.copies.push_back({piece.place, piece.bytes, {{given, word(at + piece.at)}}});
        found += piece.bytes;
      }
    }
    if (found < bytes) incomplete.push_back(given);
    for (std::uint64_t column = 0; column < columns.size(); ++column) {
      const std::uint64_t at = column * rows.size() * element_bytes();
      for (const auto& piece : to.pieces(columns.begin + column, rows.begin * element_bytes(),
                                         rows.end * element_bytes()))
        scatter.copies.push_back({{turned, word(at + piece.at)}, piece.bytes, {piece.place}});
    }
    set.vertices.push_back(turning(t, rows.size(), columns.size(), given, turned));
  }
  clear(incomplete);
  add_step(std::move(gather));
  add_step(std::move(set));
  add_step(std::move(scatter));
}

/// A rectangle of rows x columns to one of columns x rows.
program::Vertex Assembly::turning(std::uint32_t tile, std::uint64_t rows, std::uint64_t columns,
                                  BufferId from, BufferId to) {
  const auto workers = squares(rows, columns, element_bytes(), contexts());
  std::vector<sparse::SquareRun> runs_of_all;
  for (const auto& runs : workers) runs_of_all.insert(runs_of_all.end(), runs.begin(), runs.end());
  const BufferId lists = list(tile, runs_of_all, "squares");
  Arguments arguments{Place{from}, Place{to}};
  std::size_t first = 0;
  for (const auto& runs : workers) {
    arguments.emplace_back(Place{lists, word(first * sizeof(sparse::SquareRun))});
    arguments.emplace_back(word(runs.size()));
    first += runs.size();
  }
  return all(tile, type_ == program::Type::f16 ? "transpose_f16" : "transpose_f32",
             std::move(arguments));
}

}  // namespace tessera::training
