#include <bit>

#include "kernels/codelet.h"
#include "kernels/stencil/geometry.h"

namespace tessera::stencil {

using plan::OuterId;
using plan::Sizes;
using program::Place;

namespace {

constexpr std::uint32_t kWordBytes = 8;

using Words = kernels::Arguments;

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
/// written. Functions of the geometry keep it; they are the description's.
class Functions {
 public:
  Functions(std::shared_ptr<const Geometry> geometry, plan::Description& description)
      : geometry_(std::move(geometry)), description_(description) {}

  /// From the block's ring, or from slices, to a ring, or to rows one behind the other.
  const plan::Function& stencil(bool to_rows = false) {
    constexpr std::array<std::string_view, 3> kKinds{"", "compiled_", "elements_"};
    const bool sliced = geometry_->sliced();
    return called(
        fmt::format("stencil_{}{}", kKinds[static_cast<std::size_t>(geometry_->plan().code)],
                    geometry_->options().dtype == program::Type::f16 ? "f16" : "f32"),
        weights_of(geometry_->problem()),
        [sliced, to_rows](const Block& block, const Block& slice, std::size_t worker,
                          Share& share) {
          if (to_rows && share.lines == 0)
            share.out = 0;
          else if (to_rows)
            share.out = share.out - 1 - block.line() - 2 * (share.in / block.line());
          if (sliced) share.in = worker * slice.size();
          return Lines{sliced ? slice.line() : block.line(),
                       to_rows ? block.columns : block.line()};
        },
        to_rows ? " to rows" : "");
  }

  /// From the block's ring to slices.
  const plan::Function& copy() {
    return called(
        "stencil_copy", {},
        [](const Block& block, const Block& slice, std::size_t worker, Share& share) {
          share.out = worker * slice.size();
          if (share.lines > 0) share.lines += 2;
          share.cells += 2;
          return Lines{block.line(), slice.line()};
        },
        "");
  }

 private:
  /// Cells from line to line of what is read and what is written.
  struct Lines {
    std::uint64_t in, out;
  };

  /// `adapt` changes a worker's share and gives the lines.
  template <class Adapt>
  const plan::Function& called(const std::string& name, const Words& weights, const Adapt& adapt,
                               const char* form) {
    const std::uint64_t across = geometry_->plan().worker_columns;
    const std::uint64_t down = geometry_->contexts() / across;
    const auto codelet =
        kernels::Codelet::of(geometry_->problem().code, description_, name, geometry_->contexts());
    const auto vertex = [=, g = geometry_](const Sizes& sizes, std::span<const Place> operands) {
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
      return codelet.all(std::move(words));
    };
    return description_.function(
        {fmt::format("{} {} {}{}", name, across, geometry_->sliced(), form),
         {{down, 2 * down}, {across, 8 * across, 32}},
         vertex,
         [g = geometry_](const Sizes& sizes) {
           const Block block{sizes[0], sizes[1]};
           return std::vector(2, std::max(block.size(), g->slices(block)) * g->cell());
         }});
  }

  std::shared_ptr<const Geometry> geometry_;
  plan::Description& description_;
};

/// States the arrays and steps of a plan.
class Statement {
 public:
  Statement(const std::shared_ptr<const Problem>& problem, const Plan& plan,
            plan::Description& description)
      : geometry_(std::make_shared<const Geometry>(problem, plan)),
        steps_(problem->options.steps),
        cell_(problem->cell_bytes()),
        outer_{(problem->options.columns + std::uint64_t{2}) * cell_,
               problem->options.rows + std::uint64_t{2}},
        description_(description),
        functions_(geometry_, description) {}

  /// The grid lies on the tiles.
  void state_on_tiles() {
    const BufferId first = rings(true, steps_ % 2 == 0);
    const BufferId second = rings(false, steps_ % 2 == 1);
    const BufferId last =
        by_turns(steps_, first, second, [this](BufferId from, BufferId to) { step(from, to); });
    const auto runs = [g = geometry_](Tile tile, program::Runs& all) {
      const Interval rows = g->rows(tile);
      for (std::uint64_t y = 0; y < rows.size(); ++y)
        add_runs(g->problem(), g->block(tile).place(y, 0), rows.begin + y, g->columns(tile), all);
    };
    description_.tensor({result(), last, runs});
  }

  /// It lies outside: in each step every block of it is brought and goes, or once in all.
  void state_outside() {
    const bool odd = geometry_->streams() ? steps_ % 2 == 1 : true;
    const auto contents = [g = geometry_](std::uint64_t row, std::uint64_t at,
                                          std::span<std::byte> into) {
      g->problem().store(row, at / data::element_bytes(g->options().dtype), into);
    };
    const OuterId given =
        description_.outside({"cells", outer_.bytes(), !odd, outer_.contents(contents)});
    const OuterId made = description_.outside({"cells made", outer_.bytes(), odd, {}});
    geometry_->streams() ? stream(given, made) : stay(given, made);
    description_.tensor(outer_result(odd ? made : given));
  }

 private:
  /// Blocks in rings: the grid, or zeros.
  BufferId rings(bool given, bool keep) {
    // Rings stay zero where no neighbour gives anything.
    const auto contents = [g = geometry_, given](Tile tile, std::span<std::byte> into) {
      plan::zeros(tile, into);
      const Block block = g->block(tile);
      for (std::uint64_t y = 0; given && y < block.rows; ++y)
        g->problem().store(g->rows(tile).begin + y + 1,
                           (g->columns(tile).begin + 1) * g->problem().cell_numbers(),
                           into.subspan(block.place(y, 0) * g->cell(), block.columns * g->cell()));
    };
    return cells("cells", {.keep = keep, .contents = contents}, &Block::size);
  }
  /// The same of which a transfer brings all.
  BufferId loaded_rings() { return cells("cells", {}, &Block::size); }

  /// An array of as many cells as a block has by `count`.
  template <class Count>
  BufferId cells(std::string_view name, plan::Array of, const Count& count) {
    of.name = name;
    of.bytes = [g = geometry_, count](Tile tile) {
      return std::invoke(count, g->block(tile)) * g->cell();
    };
    of.tiles = geometry_->tiles();
    return description_.array(std::move(of));
  }

  void compute(const char* name, const plan::Function& function, BufferId from, BufferId to) {
    description_.compute(
        name, geometry_->tiles(), [=, &function, g = geometry_](Tile tile, plan::Calls& calls) {
          calls.add(function, {g->block(tile).rows, g->block(tile).columns}, {{from}, {to}});
        });
  }

  /// The stencil where rings are complete.
  void stencil(BufferId from, BufferId to, bool to_rows) {
    const plan::Function& stencil = functions_.stencil(to_rows);
    if (!geometry_->sliced()) return compute("stencil", stencil, from, to);
    if (!slices_)
      slices_ =
          cells("slices", {}, [g = geometry_](const Block& block) { return g->slices(block); });
    compute("slices", functions_.copy(), from, *slices_);
    compute("stencil", stencil, *slices_, to);
  }

  /// Neighbours' cells, then the stencil.
  void step(BufferId from, BufferId to, bool to_rows = false) {
    description_.exchange("neighbours", geometry_->tiles(),
                          [=, g = geometry_](Tile tile, plan::Pulls& pulls) {
                            for (int down = -1; down <= 1; ++down)
                              for (int across = -1; across <= 1; ++across)
                                if (down != 0 || across != 0)
                                  g->pull(tile, down, across, from, pulls);
                          });
    stencil(from, to, to_rows);
  }

  /// `count` steps from one to the other and back; returns which holds what the last one makes.
  template <class Cells, class Step>
  Cells by_turns(std::uint32_t count, Cells first, Cells second, const Step& step) {
    if (count > 1)
      description_.repeat(count / 2, [&] {
        step(first, second);
        step(second, first);
      });
    if (count % 2 == 1) step(first, second);
    return count % 2 == 0 ? first : second;
  }

  void stream(OuterId given, OuterId made) {
    const BufferId ring = loaded_rings();
    const BufferId rows =
        cells("rows made", {}, [](const Block& block) { return block.rows * block.columns; });
    by_turns(steps_, given, made, [&](OuterId from, OuterId to) {
      description_.rounds(
          rounds(from, to, ring, rows), [&](bool /*first*/) { stencil(ring, rows, true); }, [] {});
      description_.barrier("step");
    });
  }

  void stay(OuterId given, OuterId made) {
    const BufferId first = loaded_rings();
    const BufferId second = rings(false, false);
    // The last step makes rows in the array that it does not read.
    description_.rounds(
        rounds(given, made, first, steps_ % 2 == 0 ? first : second),
        [&](bool /*first*/) {
          const BufferId last = by_turns(steps_ - 1, first, second,
                                         [this](BufferId from, BufferId to) { step(from, to); });
          step(last, last == first ? second : first, true);
        },
        [] {});
  }

  /// What all blocks of a step need and make.
  [[nodiscard]] plan::Rounds rounds(OuterId from, OuterId to, BufferId ring, BufferId rows) const {
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
    // A tile's block of the grid, so many cells from its ring.
    const auto move = [g = geometry_, grid = outer_](Tile tile, plan::Load load, std::uint64_t in,
                                                     const Block& block) {
      const Options& o = g->options();
      load.offset =
          (g->rows(tile).begin + in) * grid.stride() + (g->columns(tile).begin + in) * g->cell();
      load.row_bytes = word(block.columns * g->cell());
      load.rows = word(block.rows);
      load.pitch = grid.stride();
      load.steps[0] = RoundSplit{o.columns, g->rounds().columns}.step() * g->cell();
      load.steps[1] = RoundSplit{o.rows, g->rounds().rows}.step() * grid.stride();
      return load;
    };
    rounds.loads = [=, g = geometry_](Tile tile, plan::Loads& all) {
      const Block block = g->block(tile);
      all.push_back(move(tile, {{ring}, from}, 0, {block.rows + 2, block.columns + 2}));
    };
    rounds.stores = [=, g = geometry_](Tile tile, plan::Loads& all) {
      all.push_back(move(tile, {{rows}, to}, 1, g->block(tile)));
    };
    return rounds;
  }

  [[nodiscard]] program::Tensor result() const {
    const Options& o = geometry_->options();
    return {"Y", program::Role::result, o.dtype, {o.rows, o.columns, o.channels}};
  }
  /// A part a row.
  [[nodiscard]] program::Tensor outer_result(OuterId outside) const {
    const Options& o = geometry_->options();
    program::Tensor tensor = result();
    for (std::uint64_t row = 0; row < o.rows; ++row)
      tensor.parts.push_back({program::OuterPlace{outside, (row + 1) * outer_.stride() + cell_},
                              word(o.columns * cell_)});
    tensor.runs = [g = geometry_](std::size_t row, program::Runs& runs) {
      add_runs(g->problem(), 0, row, {0, g->options().columns}, runs);
    };
    return tensor;
  }
  /// Cells of a row of the grid, which lie from cell number `at` of a part on.
  static void add_runs(const Problem& problem, std::uint64_t at, std::uint64_t row,
                       Interval columns, program::Runs& runs) {
    const Options& o = problem.options;
    for (std::uint64_t x = 0; x < columns.size(); ++x)
      runs.add({(at + x) * problem.cell_numbers(),
                (row * o.columns + columns.begin + x) * o.channels, o.channels, 1});
  }

  std::shared_ptr<const Geometry> geometry_;
  std::uint32_t steps_;
  std::uint64_t cell_;
  kernels::PanelFile outer_;  ///< a grid outside in a ring of zeros, a row a panel
  plan::Description& description_;
  Functions functions_;
  std::optional<BufferId> slices_;
};

}  // namespace

std::uint64_t least_steps(const std::shared_ptr<const Problem>& problem, const Plan& plan,
                          plan::Description& shell, plan::Pricing& pricing) {
  const auto g = std::make_shared<const Geometry>(problem, plan);
  const Block block = g->block(0);
  const std::uint64_t steps = problem->options.steps;
  const std::uint64_t call =
      pricing.call(shell, Functions(g, shell).stencil(g->streams()), {block.rows, block.columns});
  if (g->streams()) return steps * g->rounds().rows * g->rounds().columns * call;
  const auto sides = [&](std::uint64_t tiles) {
    return problem->options.boundary == Boundary::periodic ? 2
                                                           : std::min(tiles - 1, std::uint64_t{2});
  };
  const std::uint64_t bytes =
      (sides(plan.tile_rows) * block.columns + sides(plan.tile_columns) * block.rows) * g->cell();
  const std::uint64_t exchange =
      bytes == 0 ? 0 : pricing.costs().exchange({bytes, bytes, 0, g->tiles()});
  const std::uint64_t exchanges = plan.rounds ? steps - 1 : steps;  // what is brought has a ring
  return steps * (pricing.costs().barrier() + call) + exchanges * exchange;
}

std::uint64_t least_bytes(const std::shared_ptr<const Problem>& problem, const Plan& plan) {
  const Geometry g(problem, plan);
  const Block block = g.block(0);
  const bool beside = g.rounds().loads == kernels::Loads::beside;
  const std::uint64_t made = g.streams() ? block.rows * block.columns : block.size();
  return ((beside ? 2 : 1) * block.size() + made) * g.cell();
}

std::uint64_t moved_bytes(const Problem& problem, const Plan& plan) {
  const Rounds parts = plan.rounds.value_or(Rounds{});
  const Options& o = problem.options;
  const std::uint64_t rows = RoundSplit{o.rows, parts.rows}.size();
  const std::uint64_t columns = RoundSplit{o.columns, parts.columns}.size();
  const std::uint64_t rings =
      (rows + std::uint64_t{2} * plan.tile_rows) * (columns + std::uint64_t{2} * plan.tile_columns);
  const std::uint64_t passes = std::uint64_t{parts.rows} * parts.columns;
  return passes * (passes > 1 ? o.steps : 1) * (rings + rows * columns) * problem.cell_bytes();
}

plan::Description describe_program(const std::shared_ptr<const Problem>& problem,
                                   const Plan& plan) {
  plan::Description description(problem->machine.tiles);
  Statement statement(problem, plan, description);
  plan.rounds ? statement.state_outside() : statement.state_on_tiles();
  description.tensor(data::tensor_of("x", problem->x, problem->options.dtype));
  return description;
}

}  // namespace tessera::stencil
