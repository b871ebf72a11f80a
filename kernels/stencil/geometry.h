#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/stencil/stencil.h"
#include "sim/data/element.h"

/// Blocks of the grid on tiles.
namespace tessera::stencil {

using kernels::EvenSplit;
using kernels::Interval;
using plan::Tile;
using program::BufferId;

/// Cells of rows and columns, in a ring of neighbours.
struct Block {
  std::uint64_t rows, columns;

  [[nodiscard]] std::uint64_t line() const { return columns + 2; }  ///< from row to row
  /// With a cell more, which tile code reads behind the last and does not use.
  [[nodiscard]] std::uint64_t size() const { return (rows + 2) * line() + 1; }
  /// Number of a cell that the block has.
  [[nodiscard]] std::uint64_t place(std::uint64_t row, std::uint64_t column) const {
    return (row + 1) * line() + column + 1;
  }
  /// The first cell of the row or column of a ring (or at its edge) in a direction.
  static std::uint64_t beyond(int by, std::uint64_t size) {
    return by < 0 ? 0 : by > 0 ? size + 1 : 1;
  }
  static std::uint64_t edge(int by, std::uint64_t size) { return by < 0 ? size : 1; }
};

/// Rows or columns of a grid in rounds of one size: where they do not divide it, each takes some of
/// the next one's too, which makes the same of them.
struct RoundSplit {
  std::uint32_t cells, rounds;

  [[nodiscard]] std::uint32_t step() const { return cells / rounds; }
  [[nodiscard]] std::uint32_t size() const { return cells - (rounds - 1) * step(); }
};

/// What one worker does: cells from the arrays' first on.
struct Share {
  std::uint64_t in, out, lines, cells;
};

class Geometry {
 public:
  Geometry(std::shared_ptr<const Problem> problem, const Plan& plan)
      : problem_(std::move(problem)), plan_(plan) {}

  /// Cells that tiles work on together: the grid, or a round.
  [[nodiscard]] Block whole() const {
    return {RoundSplit{options().rows, rounds().rows}.size(),
            RoundSplit{options().columns, rounds().columns}.size()};
  }
  [[nodiscard]] Rounds rounds() const { return plan_.rounds.value_or(Rounds{}); }
  /// Whether every step brings all blocks of the grid; else it stays on the tiles.
  [[nodiscard]] bool streams() const { return rounds().rows * rounds().columns > 1; }

  [[nodiscard]] const Problem& problem() const { return *problem_; }
  [[nodiscard]] const Options& options() const { return problem_->options; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::uint64_t cell() const { return problem_->cell_bytes(); }
  [[nodiscard]] std::uint32_t contexts() const { return problem_->machine.tile.contexts; }
  [[nodiscard]] Tile tiles() const { return plan_.tile_rows * plan_.tile_columns; }
  [[nodiscard]] Interval rows(Tile tile) const {
    return EvenSplit{whole().rows, plan_.tile_rows}.part(tile / plan_.tile_columns);
  }
  [[nodiscard]] Interval columns(Tile tile) const {
    return EvenSplit{whole().columns, plan_.tile_columns}.part(tile % plan_.tile_columns);
  }
  [[nodiscard]] Block block(Tile tile) const { return {rows(tile).size(), columns(tile).size()}; }
  /// Of the fullest worker.
  [[nodiscard]] Block part(const Block& block) const {
    const std::uint64_t across = plan_.worker_columns;
    return {ceil_div(block.rows, contexts() / across), ceil_div(block.columns, across)};
  }

  [[nodiscard]] bool sliced() const { return plan_.slices == Slices::worker; }
  /// Cells of all workers' slices.
  [[nodiscard]] std::uint64_t slices(const Block& block) const {
    return contexts() * part(block).size();
  }

  /// Of the stencil, in its tile's ring (in: a cell's north-western neighbour).
  [[nodiscard]] std::vector<Share> shares(const Block& block) const {
    const std::uint32_t across = plan_.worker_columns;
    std::vector<Share> all;
    for (std::uint32_t w = 0; w < contexts(); ++w) {
      const Interval down = EvenSplit{block.rows, contexts() / across}.part(w / across);
      const Interval along = EvenSplit{block.columns, across}.part(w % across);
      const std::uint64_t in = down.begin * block.line() + along.begin;
      const bool idle = down.size() == 0 || along.size() == 0;
      all.push_back({in, in + block.line() + 1, idle ? 0 : down.size(), along.size()});
    }
    return all;
  }

  /// What the ring holds of the neighbour in a direction; nothing where the grid ends.
  void pull(Tile tile, int down, int across, BufferId cells, plan::Pulls& pulls) const {
    const auto row = next(tile / plan_.tile_columns, down, plan_.tile_rows);
    const auto column = next(tile % plan_.tile_columns, across, plan_.tile_columns);
    if (!row || !column) return;
    const Tile from = *row * plan_.tile_columns + *column;
    const Block to = block(tile), giver = block(from);
    const std::uint64_t into =
        Block::beyond(down, to.rows) * to.line() + Block::beyond(across, to.columns);
    const std::uint64_t source =
        Block::edge(down, giver.rows) * giver.line() + Block::edge(across, giver.columns);
    for (std::uint64_t i = 0; i < (down == 0 ? to.rows : 1); ++i)
      pulls.push_back({{cells, word((into + i * to.line()) * cell())},
                       from,
                       {cells, word((source + i * giver.line()) * cell())},
                       word((across == 0 ? to.columns : 1) * cell())});
  }

 private:
  [[nodiscard]] std::optional<Tile> next(Tile at, int by, Tile size) const {
    const bool ends = by < 0 ? at == 0 : by > 0 && at + 1 == size;
    if (ends && options().boundary == Boundary::zero) return std::nullopt;
    return (at + size + static_cast<Tile>(by)) % size;
  }

  std::shared_ptr<const Problem> problem_;
  Plan plan_;
};

}  // namespace tessera::stencil
