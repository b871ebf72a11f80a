#include "kernels/butterfly/block_layout.h"

#include <cstring>

#include "sim/data/element.h"

namespace tessera::butterfly {

void BlockCuts::fill(const Problem& problem, const Twiddles& twiddles, const Of& of,
                     Interval groups, std::span<std::byte> into) const {
  const std::uint32_t stage = of.pass.stages.front();
  const std::uint32_t padded = problem.padded();
  std::size_t at = 0;
  const auto value = [&](std::uint32_t pair, std::uint32_t row, std::uint32_t column) {
    const std::uint32_t b = problem.block;
    if (row % padded >= b || column % padded >= b) return 0.0;
    const std::uint32_t i = row / padded * b + row % padded;
    const std::uint32_t j = column / padded * b + column % padded;
    return of.adjoint ? twiddles.element(stage, pair, j, i) : twiddles.element(stage, pair, i, j);
  };
  for (std::uint64_t group = groups.begin; group < groups.end; ++group) {
    const std::uint32_t row = of.pass.first_row(problem, word(group));
    const std::uint32_t pair = problem.pair(stage, of.pass.rows.feature(of.part, row));
    for (std::uint32_t to = 0; to < out.calls; ++to)
      for (std::uint32_t from = 0; from < in.calls; ++from)
        for (std::uint32_t o = 0; o < out.blocks; ++o)
          for (std::uint32_t d = 0; d < in.blocks; ++d)
            for (std::uint32_t i = 0; i < in.features; ++i)
              for (std::uint32_t j = 0; j < out.features; ++j)
                data::store_element(problem.type(), into, at++,
                                    value(pair, out.feature(to, o, j), in.feature(from, d, i)));
  }
}

std::uint64_t Turning::count(plan::Tile tile) const {
  const Problem& p = geometry.problem;
  const std::uint64_t columns = geometry.units(tile).size() * p.unit_columns();
  return std::uint64_t{2} * pass.groups() * p.lines() * (columns / p.outer.depth) *
         (p.shape.depth / (kWordBytes / p.outer.input_bytes));
}

std::vector<sparse::SquareRun> Turning::squares(plan::Tile tile) const {
  const Problem& p = geometry.problem;
  const std::uint64_t size = p.outer.input_bytes;
  const std::uint64_t lanes = kWordBytes / size;
  const std::uint64_t depth = p.shape.depth;
  const std::uint64_t columns = geometry.units(tile).size() * p.unit_columns();
  const std::uint64_t row = columns * p.padded() * size;
  const std::uint64_t square = depth * p.outer.depth * size;
  const auto half = [](std::uint64_t value) { return static_cast<std::uint16_t>(value); };
  std::vector<sparse::SquareRun> runs;
  runs.reserve(count(tile));
  const auto add_line = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t first = 0; first < depth; first += lanes)
      runs.push_back({word(from + first * size), word(to + first * p.outer.depth * size),
                      half(p.outer.depth / lanes), half(depth * size), half(lanes * depth * size),
                      half(p.outer.depth * size), kWordBytes, 0});
  };
  for (std::uint32_t group = 0; group < pass.groups(); ++group)
    for (std::uint64_t leg = 0; leg < 2; ++leg) {
      const std::uint64_t from = pass.first_row(p, group) + (leg << pass.first_place(p));
      for (std::uint64_t line = 0; line < p.lines(); ++line)
        for (std::uint64_t g = 0; g < columns / p.outer.depth; ++g)
          add_line(from * row + line * columns * depth * size + g * square,
                   std::uint64_t{2} * group * row + ((2 * g + leg) * p.lines() + line) * square);
    }
  return runs;
}

BufferId Turning::add_list(Statement& statement) const {
  return statement.array(
      "squares",
      [turning = *this](plan::Tile tile) {
        return turning.count(tile) * sizeof(sparse::SquareRun);
      },
      false,
      [turning = *this](plan::Tile tile, std::span<std::byte> into) {
        const std::vector<sparse::SquareRun> runs = turning.squares(tile);
        std::memcpy(into.data(), runs.data(), into.size());
      });
}

}  // namespace tessera::butterfly
