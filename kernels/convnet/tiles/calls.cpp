#include "kernels/convnet/tiles/calls.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "kernels/codelet.h"

namespace tessera::convnet::tiles {

using plan::Function;
using plan::Sizes;
using program::Argument;
using program::Executor;
using program::Place;
using program::Vertex;
using Operands = std::span<const Place>;

namespace {

constexpr TileId kAnyTile{0};  // whoever reads a description puts its own
constexpr std::uint32_t kLane = 4;
constexpr std::uint32_t kLowest = 0xfc00, kZero = 0;  // f16

/// Of the tile code that has an instance for each shape.
std::string name_of(const char* code, const BlockShape& block) {
  return fmt::format("{}_{}x{}", code, block.depth, block.columns);
}

std::string sums_name(const BlockShape& block) {
  return block.on_unit() ? name_of("convolve", block) : "convolve_vector";
}

using Words = std::vector<std::uint32_t>;

/// Of an offset in the list of sums.
std::uint64_t offset_bytes(const BlockShape& block) { return block.on_unit() ? 4 : 2; }

/// Offsets as 16-bit numbers of 64-bit words.
Words halves(const Words& offsets) {
  Words packed;
  for (std::size_t i = 0; i < offsets.size(); i += 2) {
    const std::uint32_t second = i + 1 < offsets.size() ? offsets[i + 1] / 8 : 0;
    packed.push_back(offsets[i] / 8 | second << 16);
  }
  return packed;
}

struct SumsCall {
  std::vector<Positions> runs;  ///< of each worker
  std::uint64_t block_bytes;    ///< of a column block of Y
  std::uint64_t blocks, steps;
};

Vertex sums_vertex(std::uint32_t codelet, const BlockShape& block, const SumsCall& call,
                   Operands operands) {
  const Place y = operands[3];
  Vertex vertex{
      kAnyTile,
      codelet,
      block.on_unit() ? Executor::supervisor : Executor::all_workers,
      0,
      {operands[1], operands[2], word(call.blocks), word(call.steps), operands[0], 0U, 0U, 0U}};
  for (const Positions& run : call.runs) {
    vertex.arguments.emplace_back(word(run.begin * block.x_bytes()));
    vertex.arguments.emplace_back(kernels::behind(y, run.begin * block.y_bytes()));
    vertex.arguments.emplace_back(word(run.size()) - 3);
    vertex.arguments.emplace_back(word(call.block_bytes));
  }
  return vertex;
}

struct ResultsCall {
  std::uint64_t lanes, rows, width;
  std::uint64_t gap = 0;      ///< bytes of sums between rows
  std::uint64_t block_bytes;  ///< of sums
  std::uint64_t chunk_bytes;  ///< of results
  bool relu = false;
};

Vertex results_vertex(std::uint32_t codelet, const ResultsCall& call, Operands operands) {
  return {kAnyTile,
          codelet,
          Executor::all_workers,
          0,
          {operands[0], operands[1], operands[2], word(call.lanes), word(call.rows),
           word(call.width - 1), word(call.gap), call.relu ? kZero : kLowest,
           word(call.block_bytes), word(call.chunk_bytes)}};
}

/// Sizes as of Functions::maxima.
Vertex maxima_vertex(std::uint32_t codelet, const Sizes& sizes, Operands operands) {
  return {
      kAnyTile,
      codelet,
      Executor::all_workers,
      0,
      {operands[1], operands[2], word(sizes[0]), word(sizes[2]) - 1, word(sizes[1]), operands[0]}};
}

/// Sizes as of Functions::means.
Vertex means_vertex(std::uint32_t codelet, const Sizes& sizes, Operands operands) {
  return {kAnyTile,
          codelet,
          Executor::all_workers,
          0,
          {operands[1], operands[2], word(sizes[0]), word(sizes[2]), word(sizes[1] / 2),
           word(sizes[1] % 2), operands[0],
           std::bit_cast<std::uint32_t>(1 / static_cast<float>(sizes[1]))}};
}

/// Lists of a pool: of each row its offsets in X and in the results, then the places of the window:
/// of maxima offsets in bytes, of means 16-bit numbers of 64-bit words.
Words pooling_lists(bool maxima, Words rows, const Words& taps) {
  if (maxima) {
    rows.insert(rows.end(), taps.begin(), taps.end());
    return rows;
  }
  const Words places = halves(taps);
  rows.insert(rows.end(), places.begin(), places.end());
  return rows;
}
std::uint64_t pooling_list_bytes(bool maxima, const Sizes& sizes) {
  return 8 * sizes[0] + 4 * (maxima ? sizes[1] : ceil_div(sizes[1], std::uint64_t{2}));
}

void store_words(const Words& words, std::span<std::byte> into) {
  std::memcpy(into.data(), words.data(), std::min(into.size(), 4 * words.size()));
}

/// `row_unit`: bytes that the last size counts.
Function pooling_function(std::string name, bool maxima, std::uint32_t row_unit,
                          std::vector<FittedCost::Axis> axes,
                          std::function<Vertex(const Sizes&, Operands)> vertex) {
  return {std::move(name), std::move(axes), std::move(vertex),
          [maxima, row_unit](const Sizes& sizes) {
            const std::uint64_t bytes = row_unit * sizes[0] * sizes[2];
            return std::vector{pooling_list_bytes(maxima, sizes), bytes, bytes};
          },
          [maxima, row_unit](const Sizes& sizes, std::size_t operand, std::span<std::byte> into) {
            if (operand != 0) return;
            Words rows;
            for (std::uint32_t i = 0; i < sizes[0]; ++i)
              rows.insert(rows.end(), 2, word(sizes[2] * row_unit * i));
            store_words(pooling_lists(maxima, std::move(rows), Words(sizes[1])), into);
          }};
}

}  // namespace

const plan::Function& Functions::sums(const BlockShape& block) {
  const std::uint32_t codelet = code_.in(program_, sums_name(block));
  return description_.function(
      {fmt::format("convnet sums {}", block.name()),
       {{block.positions_at_once(), 4}, {1, 1}, {1, 2}, FittedCost::Axis::measured()},
       [codelet, block, workers = contexts_](const Sizes& sizes, Operands operands) {
         SumsCall call{std::vector<Positions>(workers), sizes[0] * sizes[3] * block.y_bytes(),
                       sizes[1], sizes[2]};
         for (std::uint32_t i = 0; i < sizes[3]; ++i)
           call.runs[i] = {i * sizes[0], (i + 1) * sizes[0]};
         return sums_vertex(codelet, block, call, operands);
       },
       [block](const Sizes& sizes) {
         return std::vector<std::uint64_t>{offset_bytes(block) * sizes[1] * sizes[2],
                                           sizes[1] * sizes[2] * block.w_bytes(),
                                           sizes[0] * sizes[3] * block.x_bytes(),
                                           sizes[0] * sizes[3] * sizes[1] * block.y_bytes()};
       }});
}

const plan::Function& Functions::results(const BlockShape& block) {
  const std::uint32_t codelet = code_.in(program_, name_of("results", block));
  const auto bytes = [](const Sizes& sizes, std::uint32_t channels, std::uint32_t element) {
    return round_up(sizes[0] * kLane, std::uint64_t{channels}) * sizes[1] * sizes[2] * element;
  };
  return description_.function(
      {name_of("convnet results", block),
       {FittedCost::Axis::shared(contexts_), {1, 1}, {1, 2}},
       [codelet, block](const Sizes& sizes, Operands operands) {
         const std::uint64_t positions = sizes[1] * sizes[2];
         return results_vertex(codelet,
                               {sizes[0], sizes[1], sizes[2], 0, positions * block.y_bytes(),
                                positions * block.x_bytes(), true},
                               operands);
       },
       [block, bytes](const Sizes& sizes) {
         return std::vector{bytes(sizes, block.columns, block.partial_bytes),
                            sizes[0] * kLane * block.partial_bytes,
                            bytes(sizes, block.depth, block.input_bytes)};
       }});
}

const plan::Function& Functions::maxima() {
  const std::uint32_t codelet = code_.in(program_, "maxima");
  return description_.function(pooling_function(
      "convnet maxima", true, 16, {FittedCost::Axis::shared(contexts_), {1, 2}, {1, 2}},
      [codelet](const Sizes& sizes, Operands operands) {
        return maxima_vertex(codelet, sizes, operands);
      }));
}

const plan::Function& Functions::means() {
  const std::uint32_t codelet = code_.in(program_, "means");
  return description_.function(pooling_function(
      "convnet means", false, 8, {{1, 1}, {2, 4}, FittedCost::Axis::shared(contexts_)},
      [codelet](const Sizes& sizes, Operands operands) {
        return means_vertex(codelet, sizes, operands);
      }));
}

std::uint64_t Functions::list_bytes(const Geometry& g, const Cell& cell) {
  if (g.shape().has_sums()) return offset_bytes(g.block()) * g.steps(cell) * g.blocks(cell);
  return pooling_list_bytes(g.shape().kind == Kind::maxima, pooling_sizes(g, cell));
}

void Functions::fill_lists(const Geometry& g, const Cell& cell, std::span<std::byte> into) {
  if (g.shape().has_sums())
    return store_words(g.block().on_unit() ? g.offsets(cell) : halves(g.offsets(cell)), into);
  Words offsets;
  const std::uint64_t rows = g.rows(cell).size();
  const std::uint64_t row_bytes = g.columns(cell).size() * g.block().x_bytes();
  for (std::uint64_t slot = 0; slot < g.slots(cell).size(); ++slot)
    for (std::uint64_t row = 0; row < rows; ++row) {
      offsets.push_back(
          word(slot * g.slot_bytes(cell) + row * g.pitch(cell) * g.block().x_bytes()));
      offsets.push_back(word((slot * rows + row) * row_bytes));
    }
  store_words(pooling_lists(g.shape().kind == Kind::maxima, std::move(offsets), g.taps(cell)),
              into);
}

Vertex Functions::sums(const Geometry& g, const Cell& cell, Operands operands) const {
  return sums_vertex(code_.in(program_, sums_name(g.block())), g.block(),
                     {g.runs(cell, contexts_), g.block_bytes(cell), g.blocks(cell), g.steps(cell)},
                     operands);
}

Vertex Functions::pooling(const Geometry& g, const Cell& cell, Operands operands) const {
  const Sizes sizes = pooling_sizes(g, cell);
  if (g.shape().kind == Kind::maxima)
    return maxima_vertex(code_.in(program_, "maxima"), sizes, operands);
  return means_vertex(code_.in(program_, "means"), sizes, operands);
}

Vertex Functions::results(const Geometry& g, const Cell& cell, Operands operands) const {
  const Sizes sizes = results_sizes(g, cell);
  const std::uint64_t gap = (g.pitch(cell) - g.columns(cell).size()) * g.block().y_bytes();
  return results_vertex(code_.in(program_, name_of("results", g.block())),
                        {sizes[0], sizes[1], sizes[2], sizes[1] == 1 ? 0 : gap, g.block_bytes(cell),
                         g.chunk_bytes(cell), g.shape().relu},
                        operands);
}

Sizes Functions::sums_sizes(const Geometry& g, const Cell& cell) const {
  const std::vector<Positions> runs = g.runs(cell, contexts_);
  const auto working =
      std::ranges::count_if(runs, [](const Positions& run) { return run.size() > 0; });
  return {std::ranges::max(runs, {}, &Positions::size).size(), g.blocks(cell), g.steps(cell),
          static_cast<std::uint64_t>(working)};
}

Sizes Functions::results_sizes(const Geometry& g, const Cell& cell) {
  const std::uint64_t lanes = g.share(cell).size() * group_channels(g.block()) / kLane;
  const std::uint64_t width = g.columns(cell).size(), rows = g.rows(cell).size();
  if (g.pitch(cell) == width) return {lanes, 1, rows * width};  // no ends of rows between
  return {lanes, rows, width};
}

Sizes Functions::pooling_sizes(const Geometry& g, const Cell& cell) {
  const std::uint64_t unit = g.shape().kind == Kind::maxima ? 16 : 8;
  return {g.slots(cell).size() * g.rows(cell).size(), g.shape().taps(),
          g.columns(cell).size() * g.block().x_bytes() / unit};
}

}  // namespace tessera::convnet::tiles
