#include "kernels/codelet.h"
#include "kernels/stencil/stencil.h"
#include "kernels/stored.h"

namespace tessera::stencil {

using kernels::behind;
using plan::OuterId;

namespace {

constexpr std::uint32_t kWordBytes = 8;

/// Layout of a block's cells: with its ring, in slices (one ring per worker), or in contiguous
/// rows.
enum class Cells : std::uint8_t { ring, slices, rows };

/// Division of a block among the workers.
struct Shares {
  Block block;
  std::uint64_t down, across;  ///< workers along rows and along columns

  Shares(const Block& of, const Geometry& g)
      : block(of),
        down(g.problem->machine.tile.contexts / g.plan.worker_columns),
        across(g.plan.worker_columns) {}

  [[nodiscard]] Interval rows(std::uint64_t worker) const {
    return EvenSplit{block.rows, word(down)}.part(worker / across);
  }
  [[nodiscard]] Interval columns(std::uint64_t worker) const {
    return EvenSplit{block.columns, word(across)}.part(worker % across);
  }
  /// Block of the fullest worker.
  [[nodiscard]] Block largest() const {
    return {ceil_div(block.rows, down), ceil_div(block.columns, across)};
  }
  /// Cells of all slices together.
  [[nodiscard]] std::uint64_t slices() const { return down * across * largest().size(); }
  [[nodiscard]] std::uint64_t line(Cells cells) const {
    if (cells == Cells::rows) return block.columns;
    return cells == Cells::ring ? block.line() : largest().line();
  }
  /// Index of a worker's first cell, or with rings of that cell's north-western neighbour.
  [[nodiscard]] std::uint64_t begin(Cells cells, std::uint64_t worker) const {
    if (cells == Cells::slices) return worker * largest().size();
    return rows(worker).begin * line(cells) + columns(worker).begin;
  }
};

/// A codelet on a block; sizes: its rows, its columns; operands: input, output. Copies to slices
/// have no weights and include the rings.
const plan::Function& called(const std::shared_ptr<const Geometry>& geometry,
                             plan::Description& description, const std::string& name, Cells from,
                             Cells to) {
  const Problem& problem = *geometry->problem;
  const std::uint32_t contexts = problem.machine.tile.contexts;
  const bool copies = to == Cells::slices;
  kernels::Arguments first;
  for (const double weight : problem.weights)
    if (!copies) first.emplace_back(kernels::bits_of(problem.options.dtype, weight));
  const auto vertex = [=, g = geometry,
                       codelet = kernels::Codelet::of(problem.code, description, name, contexts)](
                          const Sizes& sizes, std::span<const Place> of) {
    const Shares shares({sizes[0], sizes[1]}, *g);
    const auto bytes = [&](std::uint64_t cells) { return word(cells * g->cell); };
    kernels::Arguments words = first;
    words.insert(words.end(), {bytes(shares.line(from)), bytes(shares.line(to)), bytes(1),
                               bytes(1) / kWordBytes});
    // From a ring's corner to the first cell inside.
    const std::uint64_t inside = to == Cells::ring ? shares.line(to) + 1 : 0;
    for (std::uint32_t worker = 0; worker < contexts; ++worker) {
      const std::uint64_t rows = shares.rows(worker).size(),
                          columns = shares.columns(worker).size();
      const std::uint32_t around = copies ? 2 : 0;
      if (rows == 0 || columns == 0)
        words.insert(words.end(), {of[0], of[1], 0U, 0U});
      else
        words.insert(words.end(), {behind(of[0], bytes(shares.begin(from, worker))),
                                   behind(of[1], bytes(shares.begin(to, worker) + inside)),
                                   word(rows + around), word(columns + around)});
    }
    return codelet.all(std::move(words));
  };
  const std::uint64_t across = geometry->plan.worker_columns, down = contexts / across;
  return description.function(
      {fmt::format("{} {} {} {}", name, across, static_cast<int>(from), static_cast<int>(to)),
       {{down, 2 * down}, {across, 8 * across, 32}},
       vertex,
       [g = geometry](const Sizes& sizes) {
         const Shares shares({sizes[0], sizes[1]}, *g);
         return std::vector(2, std::max(shares.block.size(), shares.slices()) * g->cell);
       }});
}

/// Adds the arrays and steps of a plan to the description.
class Statement {
 public:
  Statement(const std::shared_ptr<const Geometry>& geometry, plan::Description& description)
      : geometry_(geometry),
        steps_(geometry->problem->options.steps),
        outer_{(geometry->problem->options.columns + std::uint64_t{2}) * geometry->cell,
               geometry->problem->options.rows + std::uint64_t{2}},
        description_(description) {}

  /// The program of a grid on the tiles.
  void state_on_tiles() {
    const auto runs = [g = geometry_](Tile tile, program::Runs& all) {
      const Interval rows = g->rows_of(tile), columns = g->columns_of(tile);
      for (std::uint64_t row = rows.begin; row < rows.end; ++row)
        add_cells(*g->problem, (row - rows.begin + 1) * g->block(tile).line() + 1, row, columns,
                  all);
    };
    const BufferId first = rings({.keep = steps_ % 2 == 0, .contents = contents(runs)});
    const BufferId second = rings({.keep = steps_ % 2 == 1, .contents = plan::zeros});
    const BufferId last =
        by_turns(steps_, first, second, [this](BufferId from, BufferId to) { step(from, to); });
    description_.tensor({result(), last, runs});
  }

  /// The program of a grid in external memory: loads and stores every block in each step, or the
  /// grid once.
  void state_outside() {
    const bool odd = geometry_->streams() ? steps_ % 2 == 1 : true;
    const auto runs = [problem = geometry_->problem](std::size_t row, program::Runs& all) {
      if (row > 0 && row <= problem->options.rows)
        add_cells(*problem, 1, row - 1, {0, problem->options.columns}, all);
    };
    const auto rows = [line = outer_.held, write = contents(runs)](
                          std::uint64_t row, std::uint64_t at, std::span<std::byte> into) {
      kernels::fill_units(at, into, line, [&](std::uint64_t /*unit*/, std::span<std::byte> whole) {
        write(static_cast<Tile>(row), whole);
      });
    };
    const OuterId given =
        description_.outside({"cells", outer_.bytes(), !odd, outer_.contents(rows)});
    const OuterId made = description_.outside({"cells made", outer_.bytes(), odd, {}});
    geometry_->streams() ? stream(given, made) : stay(given, made);
    program::Tensor tensor = result();
    tensor.runs = runs;
    for (std::uint64_t row = 0; row < outer_.count; ++row)
      tensor.parts.push_back(
          {program::OuterPlace{odd ? made : given, row * outer_.stride()}, word(outer_.held)});
    description_.tensor(std::move(tensor));
  }

 private:
  /// Adds cells of a row of the grid; in the part they are stored from cell `at` on.
  static void add_cells(const Problem& problem, std::uint64_t at, std::uint64_t row,
                        Interval columns, program::Runs& runs) {
    const Options& o = problem.options;
    for (std::uint64_t column = columns.begin; column < columns.end; ++column, ++at)
      runs.add(
          {at * problem.cell_numbers(), (row * o.columns + column) * o.channels, o.channels, 1});
  }
  /// Contents of a part: the grid's numbers as `runs` maps them.
  template <class RunsOf>
  [[nodiscard]] decltype(plan::Array::contents) contents(const RunsOf& runs) const {
    const auto number = [problem = geometry_->problem](std::uint64_t at) {
      return problem->x.element(at / problem->x.columns(), at % problem->x.columns());
    };
    return kernels::contents_of(geometry_->problem->options.dtype, number, runs);
  }
  [[nodiscard]] program::Tensor result() const {
    const Options& o = geometry_->problem->options;
    return {"Y", program::Role::result, o.dtype, {o.rows, o.columns, o.channels}};
  }

  /// An array of count(block) cells on each tile.
  template <class Count>
  BufferId cells(std::string_view name, const Count& count, const plan::Array& of = {}) {
    return kernels::Arrays{description_, geometry_->tiles()}(
        name, [g = geometry_, count](Tile tile) { return count(g->block(tile)) * g->cell; }, of);
  }
  BufferId rings(const plan::Array& of = {}) {
    return cells(
        "cells", [](const Block& block) { return block.size(); }, of);
  }

  void compute(const char* name, const plan::Function& function, BufferId from, BufferId to) {
    description_.compute(
        name, geometry_->tiles(), [=, &function, g = geometry_](Tile tile, Calls& calls) {
          calls.add(function, {g->block(tile).rows, g->block(tile).columns}, {{from}, {to}});
        });
  }

  /// Adds the stencil; rings must be up to date.
  void stencil(BufferId from, BufferId to, bool to_rows) {
    const plan::Function& stencil = stencil_of(geometry_, description_, to_rows);
    if (geometry_->plan.slices == Slices::tile) return compute("stencil", stencil, from, to);
    if (!slices_)
      slices_ = cells("slices",
                      [g = geometry_](const Block& block) { return Shares(block, *g).slices(); });
    compute("slices", called(geometry_, description_, "stencil_copy", Cells::ring, Cells::slices),
            from, *slices_);
    compute("stencil", stencil, *slices_, to);
  }

  /// Adds the exchange of neighbours' cells, then the stencil.
  void step(BufferId from, BufferId to, bool to_rows = false) {
    description_.exchange("neighbours", geometry_->tiles(),
                          [=, g = geometry_](Tile tile, Pulls& pulls) {
                            for (int down = -1; down <= 1; ++down)
                              for (int across = -1; across <= 1; ++across)
                                if (down != 0 || across != 0)
                                  pull(*g, tile, down, across, from, pulls);
                          });
    stencil(from, to, to_rows);
  }

  /// Along one axis, the cells that tile `at` takes from its neighbour in a direction: indices in
  /// both tiles' rings.
  struct Side {
    Tile tile;
    std::uint64_t into, from, cells;
  };
  static Side side(const Axis& axis, Tile at, int by) {
    const Tile giver = (at + axis.tiles + static_cast<Tile>(by)) % axis.tiles;
    const std::uint64_t own = axis.part(at).size(), its = axis.part(giver).size();
    if (by == 0) return {giver, 1, 1, own};
    return by < 0 ? Side{giver, 0, its, 1} : Side{giver, own + 1, 1, 1};
  }
  static bool ends(const Axis& axis, Tile at, int by) {
    return by < 0 ? at == 0 : by > 0 && at + 1 == axis.tiles;
  }
  /// Pulls the ring's cells in a direction; nothing at the grid's edge with boundary zero.
  static void pull(const Geometry& g, Tile tile, int down, int across, BufferId cells,
                   Pulls& pulls) {
    const Tile row = tile / g.columns.tiles, column = tile % g.columns.tiles;
    if (g.problem->options.boundary == Boundary::zero &&
        (ends(g.rows, row, down) || ends(g.columns, column, across)))
      return;
    const Side rows = side(g.rows, row, down), columns = side(g.columns, column, across);
    const Tile from = rows.tile * g.columns.tiles + columns.tile;
    const auto place = [&](const Block& block, std::uint64_t y, std::uint64_t x) {
      return Place{cells, word((y * block.line() + x) * g.cell)};
    };
    for (std::uint64_t i = 0; i < rows.cells; ++i)
      pulls.push_back({place(g.block(tile), rows.into + i, columns.into), from,
                       place(g.block(from), rows.from + i, columns.from),
                       word(columns.cells * g.cell)});
  }

  /// Adds `count` steps that alternate between `first` and `second`; returns the one with the
  /// result.
  template <class Id, class Step>
  Id by_turns(std::uint32_t count, Id first, Id second, const Step& step) {
    if (count > 1)
      description_.repeat(count / 2, [&] {
        step(first, second);
        step(second, first);
      });
    if (count % 2 == 1) step(first, second);
    return count % 2 == 0 ? first : second;
  }

  void stream(OuterId given, OuterId made) {
    const BufferId ring = rings();
    const BufferId rows =
        cells("rows made", [](const Block& block) { return block.rows * block.columns; });
    by_turns(steps_, given, made, [&](OuterId from, OuterId to) {
      description_.rounds(
          rounds(from, to, ring, rows), [&](bool /*first*/) { stencil(ring, rows, true); }, [] {});
      description_.barrier("step");
    });
  }

  void stay(OuterId given, OuterId made) {
    const BufferId first = rings();
    const BufferId second = rings({.contents = plan::zeros});
    // The last step writes contiguous rows to the array that it does not read.
    description_.rounds(
        rounds(given, made, first, steps_ % 2 == 0 ? first : second),
        [&](bool /*first*/) {
          const BufferId last = by_turns(steps_ - 1, first, second,
                                         [this](BufferId from, BufferId to) { step(from, to); });
          step(last, last == first ? second : first, true);
        },
        [] {});
  }

  /// The rounds of all blocks, with the arrays that they load and store.
  [[nodiscard]] plan::Rounds rounds(OuterId from, OuterId to, BufferId ring, BufferId rows) const {
    plan::Rounds rounds;
    rounds.name = "cells";
    rounds.passes = geometry_->passes();
    rounds.tiles = geometry_->tiles();
    rounds.overlap = geometry_->rounds.loads == kernels::Loads::beside;
    rounds.loaded = {ring};
    rounds.radices[0] = rounds.pass_radices[0] = geometry_->columns.rounds;
    rounds.radices[1] = rounds.pass_radices[1] = geometry_->rows.rounds;
    rounds.in_place = true;
    // The transfer of a tile's block of the grid, `in` cells inside its ring's corner.
    const auto move = [g = geometry_, pitch = outer_.stride()](Tile tile, BufferId array,
                                                               OuterId outside, std::uint64_t in,
                                                               const Block& block) -> plan::Load {
      return {{array},
              outside,
              (g->rows_of(tile).begin + in) * pitch + (g->columns_of(tile).begin + in) * g->cell,
              word(block.columns * g->cell),
              word(block.rows),
              pitch,
              {g->columns.step() * g->cell, g->rows.step() * pitch, 0}};
    };
    rounds.loads = [=, g = geometry_](Tile tile, plan::Loads& all) {
      const Block block = g->block(tile);
      all.push_back(move(tile, ring, from, 0, {block.rows + 2, block.columns + 2}));
    };
    rounds.stores = [=, g = geometry_](Tile tile, plan::Loads& all) {
      all.push_back(move(tile, rows, to, 1, g->block(tile)));
    };
    return rounds;
  }

  std::shared_ptr<const Geometry> geometry_;
  std::uint32_t steps_;
  kernels::PanelFile outer_;  ///< an external grid in a ring of zeros, one panel per row
  plan::Description& description_;
  std::optional<BufferId> slices_;
};

/// Representative tiles: the fullest, and those with the most neighbours.
std::vector<Tile> corner(const Plan& p) {
  const Tile right = p.tile_columns > 1 ? 1 : 0;
  const Tile below = p.tile_rows > 1 ? p.tile_columns : 0;
  return {0, right, below, below + right};
}

}  // namespace

const plan::Function& stencil_of(const std::shared_ptr<const Geometry>& geometry,
                                 plan::Description& description, bool to_rows) {
  constexpr std::array<std::string_view, 3> kKinds{"", "compiled_", "elements_"};
  const Options& options = geometry->problem->options;
  return called(geometry, description,
                fmt::format("stencil_{}{}", kKinds[static_cast<std::size_t>(geometry->plan.code)],
                            config::name_of(data::kFloatTypes, options.dtype)),
                geometry->plan.slices == Slices::worker ? Cells::slices : Cells::ring,
                to_rows ? Cells::rows : Cells::ring);
}

plan::Described described(const std::shared_ptr<const Problem>& problem, const Plan& plan) {
  plan::Description description(problem->machine.tiles);
  Statement statement(std::make_shared<const Geometry>(Geometry{problem, plan}), description);
  plan.rounds ? statement.state_outside() : statement.state_on_tiles();
  description.tensor(data::tensor_of("x", problem->x, problem->options.dtype));
  return {std::move(description), corner(plan)};
}

}  // namespace tessera::stencil
