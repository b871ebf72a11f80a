#include "kernels/gemm/vertices.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::gemm {

program::Vertex Vertices::product(const BlockShape& block, const Part& part, BufferId w, BufferId x,
                                  BufferId y) const {
  return product(block, part, {part.rows * block.x_bytes(), part.rows * block.y_bytes()}, Place{w},
                 Place{x}, Place{y});
}

program::Vertex Vertices::product(const BlockShape& block, const Part& part, const Steps& steps,
                                  Place w, Place x, Place y) const {
  const kernels::Codelet code = codelet("gemm_" + block.name());
  kernels::Arguments arguments = code.dealt(
      {w, x, word(steps.x), word(part.depth), word(part.columns), part.adds ? 1U : 0U, 0U, 0U},
      part.rows, [&](Interval mine, kernels::Arguments& into) {
        into.insert(into.end(), {word(mine.begin * block.x_bytes()),
                                 kernels::behind(y, mine.begin * block.y_bytes()),
                                 word(mine.size()) - 3, word(steps.y)});
      });
  return block.on_unit() ? code.supervised(std::move(arguments)) : code.all(std::move(arguments));
}

program::Vertex Vertices::adding(Type type, std::uint64_t bytes, std::uint32_t arrays, Place first,
                                 Place further, Place sum) const {
  return codelet(type == Type::f32 ? "gemm_add_f32" : "gemm_add_f16")
      .all_over({first, further, word(bytes), arrays, sum, 0U, 0U, 0U}, bytes, kPair);
}

program::Vertex Vertices::packing(std::uint64_t bytes, Place partials, Place result) const {
  return codelet("gemm_pack").all_over({partials, result, 0U, 0U, 0U, 0U, 0U, 0U}, bytes, kPair);
}

program::Vertex Vertices::regrouping(const Chunks& chunks, bool to_blocks, Place source,
                                     Place destination) const {
  const std::uint32_t in_row = chunks.bytes;
  const std::uint32_t in_blocks = word(chunks.rows * chunks.bytes);
  const std::uint32_t row = word(chunks.chunks * chunks.bytes);
  const kernels::Codelet code =
      codelet(fmt::format("gemm_to_{}_{}", to_blocks ? "blocks" : "rows", chunks.bytes / 8));
  return code.all(code.dealt(
      {source, destination, word(chunks.chunks), to_blocks ? in_row : in_blocks,
       to_blocks ? in_blocks : in_row, row - chunks.bytes, 0U, 0U},
      chunks.rows, [&](Interval mine, kernels::Arguments& into) {
        const std::uint32_t first = word(mine.begin);
        into.insert(into.end(), {first * (to_blocks ? row : in_row),
                                 first * (to_blocks ? in_row : row), word(mine.size()) - 1, 0U});
      }));
}

using plan::Function;
using plan::Sizes;
using Operands = std::span<const program::Place>;

const Function& Functions::product(const BlockShape& block, bool adds) {
  return description_.function(
      {fmt::format("gemm product {} {}", block.name(), adds),
       {FittedCost::Axis::shared(contexts_), {1, 1}, {1, 2}},
       [v = vertices_, block, adds](const Sizes& sizes, Operands operands) {
         return v.product(block, {sizes[0], sizes[1], sizes[2], adds}, operands[0].buffer,
                          operands[1].buffer, operands[2].buffer);
       },
       [block](const Sizes& sizes) {
         return std::vector{sizes[1] * sizes[2] * block.w_bytes(),
                            sizes[0] * sizes[2] * block.x_bytes(),
                            sizes[0] * sizes[1] * block.y_bytes()};
       }});
}

const Function& Functions::adding(Type type) {
  return description_.function({fmt::format("gemm adding {}", type == Type::f32 ? "f32" : "f16"),
                                {FittedCost::Axis::shared(contexts_), {1, 1}},
                                [v = vertices_, type](const Sizes& sizes, Operands operands) {
                                  return v.adding(type, sizes[0] * Vertices::kPair, word(sizes[1]),
                                                  operands[0], operands[1], operands[2]);
                                },
                                [](const Sizes& sizes) {
                                  const std::uint64_t bytes = sizes[0] * Vertices::kPair;
                                  return std::vector{bytes, bytes * sizes[1], bytes};
                                }});
}

const Function& Functions::packing() {
  return description_.function({"gemm packing",
                                {FittedCost::Axis::shared(contexts_)},
                                [v = vertices_](const Sizes& sizes, Operands operands) {
                                  return v.packing(sizes[0] * Vertices::kPair, operands[0],
                                                   operands[1]);
                                },
                                [](const Sizes& sizes) {
                                  const std::uint64_t bytes = sizes[0] * Vertices::kPair;
                                  return std::vector{bytes, bytes};
                                }});
}

const Function& Functions::regrouping(std::uint32_t chunk_bytes, bool to_blocks) {
  return description_.function(
      {fmt::format("gemm regrouping {} {}", chunk_bytes, to_blocks),
       {FittedCost::Axis::shared(contexts_), {1, 1}},
       [v = vertices_, chunk_bytes, to_blocks](const Sizes& sizes, Operands operands) {
         return v.regrouping({sizes[0], sizes[1], chunk_bytes}, to_blocks, operands[0],
                             operands[1]);
       },
       [chunk_bytes](const Sizes& sizes) {
         const std::uint64_t bytes = sizes[0] * sizes[1] * chunk_bytes;
         return std::vector{bytes, bytes};
       }});
}

std::uint64_t least_run(plan::Pricing& pricing, const plan::Description& description,
                        const plan::Function& product, std::uint64_t rows) {
  const auto cycles = [&](std::uint64_t columns, std::uint64_t depth) {
    return pricing.call(description, product, {rows, columns, depth});
  };
  const std::uint64_t one = cycles(1, 1);
  return std::max(one, std::min(cycles(2, 1), cycles(1, 2))) - one;
}

}  // namespace tessera::gemm
