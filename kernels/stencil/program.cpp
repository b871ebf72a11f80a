#include <bit>

#include "kernels/codelet.h"
#include "kernels/stencil/geometry.h"

namespace tessera::stencil {

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

}  // namespace

const plan::Function& Functions::stencil(bool to_rows) {
  constexpr std::array<std::string_view, 3> kKinds{"", "compiled_", "elements_"};
  const bool sliced = geometry_->sliced();
  return called(
      fmt::format("stencil_{}{}", kKinds[static_cast<std::size_t>(geometry_->plan().code)],
                  geometry_->options().dtype == program::Type::f16 ? "f16" : "f32"),
      weights_of(geometry_->problem()),
      [sliced, to_rows](const Block& block, const Block& slice, std::size_t worker, Share& share) {
        if (to_rows && share.lines == 0)
          share.out = 0;
        else if (to_rows)
          share.out = share.out - 1 - block.line() - 2 * (share.in / block.line());
        if (sliced) share.in = worker * slice.size();
        return Lines{sliced ? slice.line() : block.line(), to_rows ? block.columns : block.line()};
      },
      to_rows ? " to rows" : "");
}

const plan::Function& Functions::copy() {
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

const plan::Function& Functions::called(const std::string& name, const Words& weights,
                                        const Adapt& adapt, const std::string& form) {
  const std::uint64_t across = geometry_->plan().worker_columns;
  const std::uint64_t down = geometry_->contexts() / across;
  plan::Function function{fmt::format("{} {} {}{}", name, across, geometry_->sliced(), form),
                          {{down, 2 * down}, {across, 8 * across, 32}},
                          {},
                          {}};
  const auto codelet =
      kernels::Codelet::of(geometry_->problem().code, description_, name, geometry_->contexts());
  function.vertex = [=, g = geometry_](const Sizes& sizes, std::span<const Place> operands) {
    const Block block{sizes[0], sizes[1]}, slice = g->part(block);
    std::vector<Share> shares = g->shares(block);
    Lines lines{};
    for (std::size_t w = 0; w < shares.size(); ++w) lines = adapt(block, slice, w, shares[w]);
    const auto bytes = [&](std::uint64_t cells) { return word(cells * g->cell()); };
    Words words = weights;
    words.insert(words.end(), {bytes(lines.in), bytes(lines.out), bytes(1), bytes(1) / kWordBytes});
    for (const Share& share : shares)
      words.insert(words.end(), {Place{operands[0].buffer, bytes(share.in)},
                                 Place{operands[1].buffer, bytes(share.out)}, word(share.lines),
                                 word(share.cells)});
    return codelet.all(std::move(words));
  };
  function.operand_bytes = [g = geometry_](const Sizes& sizes) -> std::vector<std::uint64_t> {
    const Block block{sizes[0], sizes[1]};
    const std::uint64_t most = std::max(block.size(), g->slices(block)) * g->cell();
    return {most, most};
  };
  return description_.function(std::move(function));
}

Steps::Steps(std::shared_ptr<const Geometry> geometry, plan::Description& description)
    : geometry_(std::move(geometry)),
      description_(description),
      functions_(geometry_, description) {}

BufferId Steps::rings(bool given, bool keep) {
  // Rings stay zero where no neighbour gives anything.
  return description_.array(
      {"cells", bytes(), keep, [g = geometry_, given](Tile tile, std::span<std::byte> into) {
         std::fill(into.begin(), into.end(), std::byte{});
         if (!given) return;
         const Problem& p = g->problem();
         g->for_cells(tile, [&](auto at, auto row, auto column) {
           for (std::uint32_t c = 0; c < p.options.channels; ++c)
             data::store_element(p.options.dtype, into, at + c,
                                 p.x.element(row, column * p.options.channels + c));
         });
       }});
}

void Steps::compute(const char* name, const plan::Function& function, BufferId from, BufferId to) {
  description_.compute(
      name, geometry_->tiles(), [=, &function, g = geometry_](Tile tile, plan::Calls& calls) {
        calls.add(function, {g->block(tile).rows, g->block(tile).columns}, {{from}, {to}});
      });
}

void Steps::stencil(BufferId from, BufferId to, bool to_rows) {
  const plan::Function& stencil = functions_.stencil(to_rows);
  if (!geometry_->sliced()) return compute("stencil", stencil, from, to);
  const plan::Function& copy = functions_.copy();
  if (!slices_)
    slices_ =
        description_.array({"slices", [g = geometry_](Tile tile) {
                              return tile < g->tiles() ? g->slices(g->block(tile)) * g->cell() : 0;
                            }});
  compute("slices", copy, from, *slices_);
  compute("stencil", stencil, *slices_, to);
}

void Steps::step(BufferId from, BufferId to, bool to_rows) {
  description_.exchange("neighbours", geometry_->tiles(),
                        [=, g = geometry_](Tile tile, plan::Pulls& pulls) {
                          for (int down = -1; down <= 1; ++down)
                            for (int across = -1; across <= 1; ++across)
                              if (down != 0 || across != 0)
                                g->pull(tile, down, across, from, pulls);
                        });
  stencil(from, to, to_rows);
}

BufferId Steps::steps(std::uint32_t count, BufferId first, BufferId second) {
  if (count > 1)
    description_.repeat(count / 2, [&] {
      step(first, second);
      step(second, first);
    });
  if (count % 2 == 1) step(first, second);
  return count % 2 == 0 ? first : second;
}

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
  if (g->streams())
    return pricing.call(shell, Functions(g, shell).stencil(true), {block.rows, block.columns});
  return 2 * pricing.costs().barrier() + exchange +
         pricing.call(shell, Functions(g, shell).stencil(), {block.rows, block.columns});
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
  if (plan.rounds) return describe_rounds(problem, plan);
  const Options& options = problem->options;
  const auto g = std::make_shared<const Geometry>(problem, plan);
  plan::Description d(problem->machine.tiles);
  Steps steps(g, d);
  const BufferId first = steps.rings(true, options.steps % 2 == 0);
  const BufferId second = steps.rings(false, options.steps % 2 == 1);
  const BufferId last = steps.steps(options.steps, first, second);
  d.tensor({{"Y",
             program::Role::result,
             options.dtype,
             {options.rows, options.columns, options.channels}},
            last,
            [g](Tile tile, program::Runs& runs) {
              const Options& o = g->options();
              g->for_cells(tile, [&](auto at, auto row, auto column) {
                runs.add({at, (row * o.columns + column) * o.channels, o.channels, 1});
              });
            }});
  return d;
}

}  // namespace tessera::stencil
