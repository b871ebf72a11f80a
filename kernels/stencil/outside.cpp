
#include "kernels/stencil/geometry.h"

// A grid that lies outside the tiles, in a ring of zeros.
namespace tessera::stencil {

namespace {

using kernels::PanelFile;
using plan::Loads;

/// Rows of the grid with a cell of the ring at both ends, from `pitch` to `pitch` bytes.
class OuterGrid {
 public:
  explicit OuterGrid(const Problem& problem)
      : options_(problem.options), cell_(problem.cell_bytes()) {}

  [[nodiscard]] std::uint64_t pitch() const {
    return round_up((options_.columns + std::uint64_t{2}) * cell_, PanelFile::kGrain);
  }
  [[nodiscard]] std::uint64_t bytes() const { return (options_.rows + std::uint64_t{2}) * pitch(); }
  /// Of a cell; row and column 0 are the ring's.
  [[nodiscard]] std::uint64_t at(std::uint64_t row, std::uint64_t column) const {
    return row * pitch() + column * cell_;
  }

  /// As OuterArray::contents.
  void fill(const data::DenseOperand& x, std::uint64_t offset, std::span<std::byte> into) const {
    std::fill(into.begin(), into.end(), std::byte{});
    const std::uint64_t size = data::element_bytes(options_.dtype);
    for (std::uint64_t at = 0; at < into.size(); at += size) {
      const std::uint64_t row = (offset + at) / pitch();
      const std::uint64_t column = (offset + at) % pitch() / cell_;
      const std::uint64_t channel = (offset + at) % pitch() % cell_ / size;
      const bool inside = row >= 1 && row <= options_.rows && column >= 1 &&
                          column <= options_.columns && channel < options_.channels;
      if (inside)
        data::store_element(options_.dtype, into.subspan(at), 0,
                            x.element(row - 1, (column - 1) * options_.channels + channel));
    }
  }

 private:
  const Options& options_;
  std::uint64_t cell_;
};

/// States all steps: in each every block of the grid is brought and goes, or once in all.
class RoundStatement {
 public:
  RoundStatement(const std::shared_ptr<const Problem>& problem, const Plan& plan,
                 plan::Description& description)
      : geometry_(std::make_shared<const Geometry>(problem, plan)),
        grid_(*problem),
        description_(description),
        steps_(geometry_, description) {}

  void state() {
    const bool odd = geometry_->streams() ? geometry_->options().steps % 2 == 1 : true;
    const plan::OuterId given = description_.outside(
        {"cells", grid_.bytes(), !odd,
         [g = geometry_, grid = grid_](std::uint64_t offset, std::span<std::byte> into) {
           grid.fill(g->problem().x, offset, into);
         }});
    const plan::OuterId made = description_.outside({"cells made", grid_.bytes(), odd, {}});
    geometry_->streams() ? stream(given, made) : stay(given, made);
    description_.tensor(result(odd ? made : given));
  }

 private:
  void stream(plan::OuterId given, plan::OuterId made) {
    const std::uint32_t steps = geometry_->options().steps;
    const BufferId ring = steps_.loaded_rings();
    const BufferId rows = blocks();
    const auto step = [&](plan::OuterId from, plan::OuterId to) {
      description_.rounds(
          rounds(from, to, ring, rows), [&](bool /*first*/) { steps_.stencil(ring, rows, true); },
          [] {});
      description_.barrier("step");
    };
    if (steps > 1)
      description_.repeat(steps / 2, [&] {
        step(given, made);
        step(made, given);
      });
    if (steps % 2 == 1) step(given, made);
  }

  void stay(plan::OuterId given, plan::OuterId made) {
    const std::uint32_t steps = geometry_->options().steps;
    const BufferId first = steps_.loaded_rings();
    const BufferId second = steps_.rings(false, false);
    // The last step makes rows in the array that it does not read.
    description_.rounds(
        rounds(given, made, first, steps % 2 == 0 ? first : second),
        [&](bool /*first*/) {
          const BufferId last = steps_.steps(steps - 1, first, second);
          steps_.step(last, last == first ? second : first, true);
        },
        [] {});
  }

  /// Results of a round, row behind row.
  BufferId blocks() {
    return description_.array({"rows made", [g = geometry_](Tile tile) -> std::uint64_t {
                                 if (tile >= g->tiles()) return 0;
                                 return g->block(tile).rows * g->block(tile).columns * g->cell();
                               }});
  }

  /// What all blocks of a step need and make.
  [[nodiscard]] plan::Rounds rounds(plan::OuterId from, plan::OuterId to, BufferId ring,
                                    BufferId rows) const {
    const Rounds parts = geometry_->rounds();
    plan::Rounds rounds;
    rounds.name = "cells";
    rounds.passes = parts.rows * parts.columns;
    rounds.tiles = geometry_->tiles();
    rounds.overlap = parts.loads == kernels::Loads::beside;
    rounds.loaded = {ring};
    rounds.radices[0] = rounds.pass_radices[0] = parts.columns;
    rounds.radices[1] = rounds.pass_radices[1] = parts.rows;
    rounds.in_place = true;
    rounds.loads = [=, this_grid = grid_, g = geometry_](Tile tile, Loads& all) {
      const Block block = g->block(tile);
      all.push_back(move(*g, this_grid, tile, {{ring}, from, 0, 0, 1}, 0,
                         {block.rows + 2, block.columns + 2}));
    };
    rounds.stores = [=, this_grid = grid_, g = geometry_](Tile tile, Loads& all) {
      all.push_back(move(*g, this_grid, tile, {{rows}, to, 0, 0, 1}, 1, g->block(tile)));
    };
    return rounds;
  }

  /// A tile's block of the grid, `ring` cells from its ring.
  static plan::Load move(const Geometry& g, const OuterGrid& grid, Tile tile, plan::Load load,
                         std::uint64_t ring, const Block& block) {
    const Options& o = g.options();
    load.offset = grid.at(g.rows(tile).begin + ring, g.columns(tile).begin + ring);
    load.row_bytes = word(block.columns * g.cell());
    load.rows = word(block.rows);
    load.pitch = grid.pitch();
    load.steps[0] = RoundSplit{o.columns, g.rounds().columns}.step() * g.cell();
    load.steps[1] = RoundSplit{o.rows, g.rounds().rows}.step() * grid.pitch();
    return load;
  }

  /// A part a row.
  [[nodiscard]] program::Tensor result(plan::OuterId outside) const {
    const Options& o = geometry_->options();
    program::Tensor tensor{"Y", program::Role::result, o.dtype, {o.rows, o.columns, o.channels}};
    for (std::uint64_t row = 0; row < o.rows; ++row)
      tensor.parts.push_back({program::OuterPlace{outside, grid_.at(row + 1, 1)},
                              word(o.columns * geometry_->cell())});
    tensor.runs = [g = geometry_](std::size_t row, program::Runs& runs) {
      const Options& of = g->options();
      const std::uint64_t numbers = g->cell() / data::element_bytes(of.dtype);
      for (std::uint64_t x = 0; x < of.columns; ++x)
        runs.add({x * numbers, (row * of.columns + x) * of.channels, of.channels, 1});
    };
    return tensor;
  }

  std::shared_ptr<const Geometry> geometry_;
  OuterGrid grid_;
  plan::Description& description_;
  Steps steps_;
};

}  // namespace

plan::Description describe_rounds(const std::shared_ptr<const Problem>& problem, const Plan& plan) {
  plan::Description description(problem->machine.tiles);
  RoundStatement(problem, plan, description).state();
  return description;
}

}  // namespace tessera::stencil
