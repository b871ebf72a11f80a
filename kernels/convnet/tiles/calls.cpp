#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "kernels/convnet/tiles/program.h"

namespace tessera::convnet::tiles {

using kernels::Codelet;
using plan::Function;
using program::Vertex;
using Operands = std::span<const Place>;

namespace {

constexpr std::uint32_t kLane = 4;
constexpr std::uint32_t kLowest = 0xfc00, kZero = 0;  // f16

/// Name of the instance of tile code for a block shape.
std::string name_of(const char* code, const BlockShape& block) {
  return fmt::format("{}_{}x{}", code, block.depth, block.columns);
}

std::string sums_name(const BlockShape& block) {
  return block.on_unit() ? name_of("convolve", block) : "convolve_vector";
}

using Words = std::vector<std::uint32_t>;

/// Bytes of an offset in the list of `sums`.
std::uint64_t offset_bytes(const BlockShape& block) { return block.on_unit() ? 4 : 2; }

/// Packs offsets as 16-bit numbers of 64-bit words.
Words halves(const Words& offsets) {
  Words packed;
  for (std::size_t i = 0; i < offsets.size(); i += 2) {
    const std::uint32_t second = i + 1 < offsets.size() ? offsets[i + 1] / 8 : 0;
    packed.push_back(offsets[i] / 8 | second << 16);
  }
  return packed;
}

/// Operands: lists, W, X, Y. `runs`: one per worker; `block_bytes`: bytes of a column block of Y.
Vertex sums_vertex(const Codelet& codelet, const BlockShape& block,
                   const std::vector<Positions>& runs, std::uint64_t block_bytes,
                   std::uint64_t blocks, std::uint64_t steps, Operands operands) {
  kernels::Arguments arguments{operands[1], operands[2], word(blocks), word(steps),
                               operands[0], 0U,          0U,           0U};
  for (const Positions& run : runs)
    arguments.insert(arguments.end(), {word(run.begin * block.x_bytes()),
                                       kernels::behind(operands[3], run.begin * block.y_bytes()),
                                       word(run.size()) - 3, word(block_bytes)});
  return block.on_unit() ? codelet.supervised(std::move(arguments))
                         : codelet.all(std::move(arguments));
}

/// Operands: sums, bias, results. `gap`: bytes of sums between rows; `block_bytes`, `chunk_bytes`:
/// bytes of a column block of sums, of a chunk of results.
Vertex results_vertex(const Codelet& codelet, const Sizes& sizes, std::uint64_t gap, bool relu,
                      std::uint64_t block_bytes, std::uint64_t chunk_bytes, Operands operands) {
  return codelet.all({operands[0], operands[1], operands[2], word(sizes[0]), word(sizes[1]),
                      word(sizes[2] - 1), word(gap), relu ? kZero : kLowest, word(block_bytes),
                      word(chunk_bytes)});
}

/// Bytes per unit of a pool's last size.
std::uint64_t row_unit(bool maxima) { return maxima ? 16 : 8; }

/// Lists of a pool: each row's offsets in X and in the results, then the places of the window: byte
/// offsets for maxima, 16-bit numbers of 64-bit words for means.
Words pooling_lists(bool maxima, Words rows, const Words& taps) {
  const Words places = maxima ? taps : halves(taps);
  rows.insert(rows.end(), places.begin(), places.end());
  return rows;
}
std::uint64_t pooling_list_bytes(bool maxima, const Sizes& sizes) {
  return 8 * sizes[0] + 4 * (maxima ? sizes[1] : ceil_div(sizes[1], std::uint64_t{2}));
}

void store_words(const Words& words, std::span<std::byte> into) {
  std::memcpy(into.data(), words.data(), std::min(into.size(), 4 * words.size()));
}

Function pooling_function(std::string name, bool maxima, std::vector<FittedCost::Axis> axes,
                          std::function<Vertex(const Sizes&, Operands)> vertex) {
  return {std::move(name), std::move(axes), std::move(vertex),
          [maxima](const Sizes& sizes) {
            const std::uint64_t bytes = row_unit(maxima) * sizes[0] * sizes[2];
            return std::vector{pooling_list_bytes(maxima, sizes), bytes, bytes};
          },
          [maxima](const Sizes& sizes, std::size_t operand, std::span<std::byte> into) {
            if (operand != 0) return;
            Words rows;
            for (std::uint32_t i = 0; i < sizes[0]; ++i)
              rows.insert(rows.end(), 2, word(sizes[2] * row_unit(maxima) * i));
            store_words(pooling_lists(maxima, std::move(rows), Words(sizes[1])), into);
          }};
}

}  // namespace

const plan::Function& Functions::sums(const BlockShape& block) {
  return description_.function(
      {fmt::format("convnet sums {}", block.name()),
       {{block.positions_at_once(), 4}, {1, 1}, {1, 2}, FittedCost::Axis::measured()},
       [codelet = this->codelet(sums_name(block)), block](const Sizes& sizes, Operands operands) {
         std::vector<Positions> runs(codelet.contexts);
         for (std::uint32_t i = 0; i < sizes[3]; ++i) runs[i] = {i * sizes[0], (i + 1) * sizes[0]};
         return sums_vertex(codelet, block, runs, sizes[0] * sizes[3] * block.y_bytes(), sizes[1],
                            sizes[2], operands);
       },
       [block](const Sizes& sizes) {
         return std::vector<std::uint64_t>{offset_bytes(block) * sizes[1] * sizes[2],
                                           sizes[1] * sizes[2] * block.w_bytes(),
                                           sizes[0] * sizes[3] * block.x_bytes(),
                                           sizes[0] * sizes[3] * sizes[1] * block.y_bytes()};
       }});
}

const plan::Function& Functions::results(const BlockShape& block) {
  const auto bytes = [](const Sizes& sizes, std::uint32_t channels, std::uint32_t element) {
    return round_up(sizes[0] * kLane, std::uint64_t{channels}) * sizes[1] * sizes[2] * element;
  };
  return description_.function(
      {name_of("convnet results", block),
       {FittedCost::Axis::shared(contexts_), {1, 1}, {1, 2}},
       [codelet = this->codelet(name_of("results", block)), block](const Sizes& sizes,
                                                                   Operands operands) {
         const std::uint64_t positions = sizes[1] * sizes[2];
         return results_vertex(codelet, sizes, 0, true, positions * block.y_bytes(),
                               positions * block.x_bytes(), operands);
       },
       [block, bytes](const Sizes& sizes) {
         return std::vector{bytes(sizes, block.columns, block.partial_bytes),
                            sizes[0] * kLane * block.partial_bytes,
                            bytes(sizes, block.depth, block.input_bytes)};
       }});
}

const plan::Function& Functions::pooling(const Geometry& g) {
  if (g.shape().kind == Kind::maxima)
    return description_.function(pooling_function(
        "convnet maxima", true, {FittedCost::Axis::shared(contexts_), {1, 2}, {1, 2}},
        [codelet = codelet("maxima")](const Sizes& sizes, Operands operands) {
          return codelet.all({operands[1], operands[2], word(sizes[0]), word(sizes[2]) - 1,
                              word(sizes[1]), operands[0]});
        }));
  return description_.function(pooling_function(
      "convnet means", false, {{1, 1}, {2, 4}, FittedCost::Axis::shared(contexts_)},
      [codelet = codelet("means")](const Sizes& sizes, Operands operands) {
        return codelet.all({operands[1], operands[2], word(sizes[0]), word(sizes[2]),
                            word(sizes[1] / 2), word(sizes[1] % 2), operands[0],
                            std::bit_cast<std::uint32_t>(1 / static_cast<float>(sizes[1]))});
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
  const Planes x = g.x(cell);
  const std::uint64_t rows = g.rows(cell).size();
  const std::uint64_t row_bytes = g.columns(cell).size() * g.block().x_bytes();
  for (std::uint64_t slot = 0; slot < g.slots(cell).size(); ++slot)
    for (std::uint64_t row = 0; row < rows; ++row) {
      offsets.push_back(word(slot * x.bytes() + row * x.pitch * g.block().x_bytes()));
      offsets.push_back(word((slot * rows + row) * row_bytes));
    }
  store_words(pooling_lists(g.shape().kind == Kind::maxima, std::move(offsets), g.taps(cell)),
              into);
}

Vertex Functions::sums(const Geometry& g, const Cell& cell, Operands operands) const {
  return sums_vertex(codelet(sums_name(g.block())), g.block(), g.runs(cell, contexts_),
                     g.block_bytes(cell), g.blocks(cell), g.steps(cell), operands);
}

Vertex Functions::results(const Geometry& g, const Cell& cell, Operands operands) const {
  const Sizes sizes = results_sizes(g, cell);
  const std::uint64_t gap = (g.pitch(cell) - g.columns(cell).size()) * g.block().y_bytes();
  return results_vertex(codelet(name_of("results", g.block())), sizes, sizes[1] == 1 ? 0 : gap,
                        g.shape().relu, g.block_bytes(cell), g.chunk_bytes(cell), operands);
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
  if (g.pitch(cell) == width) return {lanes, 1, rows * width};  // rows are contiguous
  return {lanes, rows, width};
}

Sizes Functions::pooling_sizes(const Geometry& g, const Cell& cell) {
  return {g.slots(cell).size() * g.rows(cell).size(), g.shape().taps(),
          g.columns(cell).size() * g.block().x_bytes() / row_unit(g.shape().kind == Kind::maxima)};
}

}  // namespace tessera::convnet::tiles
