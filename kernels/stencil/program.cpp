#include <bit>
#include <cstring>

#include "kernels/stencil/stencil.h"
#include "sim/data/element.h"

namespace tessera::stencil {

using kernels::EvenSplit;
using kernels::Interval;
using plan::Sizes;
using plan::Tile;
using program::BufferId;
using program::Place;

namespace {

constexpr std::uint32_t kWordBytes = 8;

/// Cells of rows and columns, in a ring of neighbours.
struct Block {
  std::uint64_t rows, columns;

  [[nodiscard]] std::uint64_t line() const { return columns + 2; }  ///< from row to row
  /// With a cell more, which tile code reads behind the last and does not use.
  [[nodiscard]] std::uint64_t size() const { return (rows + 2) * line() + 1; }
  /// The first cell of the row or column of a ring (or at its edge) in a direction.
  static std::uint64_t beyond(int by, std::uint64_t size) {
    return by < 0 ? 0 : by > 0 ? size + 1 : 1;
  }
  static std::uint64_t edge(int by, std::uint64_t size) { return by < 0 ? size : 1; }
};

/// What one worker does: cells from the arrays' first on.
struct Share {
  std::uint64_t in, out, lines, cells;
};

class Geometry {
 public:
  Geometry(std::shared_ptr<const Problem> problem, const Plan& plan)
      : problem_(std::move(problem)), plan_(plan) {}

  [[nodiscard]] const Problem& problem() const { return *problem_; }
  [[nodiscard]] const Options& options() const { return problem_->options; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::uint64_t cell() const { return problem_->cell_bytes(); }
  [[nodiscard]] std::uint32_t contexts() const { return problem_->machine.tile.contexts; }
  [[nodiscard]] Tile tiles() const { return plan_.tile_rows * plan_.tile_columns; }
  [[nodiscard]] Interval rows(Tile tile) const {
    return EvenSplit{options().rows, plan_.tile_rows}.part(tile / plan_.tile_columns);
  }
  [[nodiscard]] Interval columns(Tile tile) const {
    return EvenSplit{options().columns, plan_.tile_columns}.part(tile % plan_.tile_columns);
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

  /// Takes (number of the first channel in a tile's array, row, column).
  template <class Take>
  void for_cells(Tile tile, const Take& take) const {
    if (tile >= tiles()) return;
    const std::uint64_t line = block(tile).line();
    const std::uint64_t numbers = cell() / data::element_bytes(options().dtype);
    for (std::uint64_t y = 0; y < rows(tile).size(); ++y)
      for (std::uint64_t x = 0; x < columns(tile).size(); ++x)
        take(((y + 1) * line + x + 1) * numbers, rows(tile).begin + y, columns(tile).begin + x);
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

using Words = std::vector<program::Argument>;

Words weights_of(const Problem& problem) {
  Words words;
  for (std::size_t i = 0; i < kWeights; ++i) {
    std::array<std::byte, 4> bytes{};
    data::store_element(problem.options.dtype, bytes, 0, problem.weight(i));
    words.emplace_back(std::bit_cast<std::uint32_t>(bytes));
  }
  return words;
}

/// Calls of the codelets on a block. Sizes: its rows and columns. Operands: what is read, what is
/// written.
class Functions {
 public:
  Functions(std::shared_ptr<const Geometry> geometry, plan::Description& description)
      : geometry_(std::move(geometry)), description_(description) {}

  /// From the block's ring, or from slices, to a ring.
  const plan::Function& stencil() {
    constexpr std::array<std::string_view, 3> kKinds{"", "compiled_", "elements_"};
    const bool sliced = geometry_->sliced();
    return called(
        fmt::format("stencil_{}{}", kKinds[static_cast<std::size_t>(geometry_->plan().code)],
                    geometry_->options().dtype == program::Type::f16 ? "f16" : "f32"),
        weights_of(geometry_->problem()),
        [sliced](const Block& block, const Block& slice, std::size_t worker, Share& share) {
          if (sliced) share.in = worker * slice.size();
          return Lines{sliced ? slice.line() : block.line(), block.line()};
        });
  }
  /// From the block's ring to slices.
  const plan::Function& copy() {
    return called("stencil_copy", {},
                  [](const Block& block, const Block& slice, std::size_t worker, Share& share) {
                    share.out = worker * slice.size();
                    if (share.lines > 0) share.lines += 2;
                    share.cells += 2;
                    return Lines{block.line(), slice.line()};
                  });
  }

 private:
  /// Cells from line to line of what is read and what is written.
  struct Lines {
    std::uint64_t in, out;
  };

  template <class Adapt>
  const plan::Function& called(const std::string& name, const Words& weights, const Adapt& adapt) {
    const std::uint64_t across = geometry_->plan().worker_columns;
    const std::uint64_t down = geometry_->contexts() / across;
    plan::Function function{fmt::format("{} {} {}", name, across, geometry_->sliced()),
                            {{down, 2 * down}, {across, 8 * across, 32}},
                            {},
                            {}};
    const std::uint32_t codelet = geometry_->problem().code.in(*description_.code(), name);
    function.vertex = [=, g = geometry_](const Sizes& sizes, std::span<const Place> operands) {
      const Block block{sizes[0], sizes[1]}, slice = g->part(block);
      std::vector<Share> shares = g->shares(block);
      Lines lines{};
      for (std::size_t w = 0; w < shares.size(); ++w) lines = adapt(block, slice, w, shares[w]);
      const auto bytes = [&](std::uint64_t cells) { return word(cells * g->cell()); };
      Words words = weights;
      words.insert(words.end(),
                   {bytes(lines.in), bytes(lines.out), bytes(1), bytes(1) / kWordBytes});
      for (const Share& share : shares)
        words.insert(words.end(), {Place{operands[0].buffer, bytes(share.in)},
                                   Place{operands[1].buffer, bytes(share.out)}, word(share.lines),
                                   word(share.cells)});
      return program::Vertex{TileId{0}, codelet, program::Executor::all_workers, 0, words};
    };
    function.operand_bytes = [g = geometry_](const Sizes& sizes) -> std::vector<std::uint64_t> {
      const Block block{sizes[0], sizes[1]};
      const std::uint64_t most = std::max(block.size(), g->slices(block)) * g->cell();
      return {most, most};
    };
    return description_.function(std::move(function));
  }

  std::shared_ptr<const Geometry> geometry_;
  plan::Description& description_;
};

}  // namespace

std::uint64_t least_step(const std::shared_ptr<const Problem>& problem, const Plan& plan,
                         plan::Description& shell, plan::Pricing& pricing) {
  const auto g = std::make_shared<const Geometry>(problem, plan);
  const Block block = g->block(0);
  const auto sides = [&](std::uint64_t tiles) {
    return problem->options.boundary == Boundary::periodic ? 2
                                                           : std::min(tiles - 1, std::uint64_t{2});
  };
  const std::uint64_t bytes =
      (sides(plan.tile_rows) * block.columns + sides(plan.tile_columns) * block.rows) * g->cell();
  const std::uint64_t exchange = pricing.costs().exchange({bytes, bytes, 0, g->tiles()});
  return 2 * pricing.costs().barrier() + exchange +
         pricing.call(shell, Functions(g, shell).stencil(), {block.rows, block.columns});
}

plan::Description describe_program(const std::shared_ptr<const Problem>& problem,
                                   const Plan& plan) {
  const Options& options = problem->options;
  const std::uint32_t steps = options.steps;
  const auto g = std::make_shared<const Geometry>(problem, plan);
  plan::Description d(problem->machine.tiles);
  // Rings stay zero where no neighbour gives anything.
  const auto cells = [&](bool given, bool keep) {
    return d.array(
        {"cells",
         [g](Tile tile) { return tile < g->tiles() ? g->block(tile).size() * g->cell() : 0; }, keep,
         [g, given](Tile tile, std::span<std::byte> into) {
           std::fill(into.begin(), into.end(), std::byte{});
           if (!given) return;
           const Problem& p = g->problem();
           g->for_cells(tile, [&](auto at, auto row, auto column) {
             for (std::uint32_t c = 0; c < p.options.channels; ++c)
               data::store_element(p.options.dtype, into, at + c,
                                   p.x.element(row, column * p.options.channels + c));
           });
         }});
  };
  const BufferId first = cells(true, steps % 2 == 0), second = cells(false, steps % 2 == 1);
  const BufferId slices =
      g->sliced() ? d.array({"slices",
                             [g](Tile tile) {
                               return tile < g->tiles() ? g->slices(g->block(tile)) * g->cell() : 0;
                             }})
                  : BufferId{};
  Functions functions(g, d);
  const plan::Function& stencil = functions.stencil();
  const plan::Function& copy = g->sliced() ? functions.copy() : stencil;
  const auto compute = [&](const char* name, const plan::Function& function, BufferId from,
                           BufferId to) {
    d.compute(name, g->tiles(), [=, &function](Tile tile, plan::Calls& calls) {
      calls.add(function, {g->block(tile).rows, g->block(tile).columns}, {{from}, {to}});
    });
  };
  const auto step = [&](BufferId from, BufferId to) {
    d.exchange("neighbours", g->tiles(), [=](Tile tile, plan::Pulls& pulls) {
      for (int down = -1; down <= 1; ++down)
        for (int across = -1; across <= 1; ++across)
          if (down != 0 || across != 0) g->pull(tile, down, across, from, pulls);
    });
    if (g->sliced()) compute("slices", copy, from, slices);
    compute("stencil", stencil, g->sliced() ? slices : from, to);
  };
  if (steps > 1)
    d.repeat(steps / 2, [&] {
      step(first, second);
      step(second, first);
    });
  if (steps % 2 == 1) step(first, second);

  d.tensor({{"Y",
             program::Role::result,
             options.dtype,
             {options.rows, options.columns, options.channels}},
            steps % 2 == 0 ? first : second,
            [g](Tile tile, program::Runs& runs) {
              const Options& o = g->options();
              g->for_cells(tile, [&](auto at, auto row, auto column) {
                runs.add({at, (row * o.columns + column) * o.channels, o.channels, 1});
              });
            }});
  return d;
}

}  // namespace tessera::stencil
