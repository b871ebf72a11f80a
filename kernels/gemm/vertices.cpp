#include "kernels/gemm/vertices.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::gemm {

using program::Executor;

namespace {

constexpr TileId kAnyTile{0};  ///< whoever reads a description puts its own

}  // namespace

program::Vertex Vertices::product(TileId tile, const BlockShape& block, const Part& part,
                                  BufferId w, BufferId x, BufferId y) {
  return product(tile, block, part, {part.rows * block.x_bytes(), part.rows * block.y_bytes()},
                 Place{w}, Place{x}, Place{y});
}

program::Vertex Vertices::product(TileId tile, const BlockShape& block, const Part& part,
                                  const Steps& steps, Place w, Place x, Place y) {
  Vertex vertex{
      tile,
      code_.in(program_, "gemm_" + block.name()),
      block.on_unit() ? Executor::supervisor : Executor::all_workers,
      0,
      {w, x, word(steps.x), word(part.depth), word(part.columns), part.adds ? 1U : 0U, 0U, 0U}};
  const EvenSplit positions{part.rows, contexts_};
  for (std::uint32_t i = 0; i < contexts_; ++i) {
    const Interval mine = positions.part(i);
    const std::uint64_t first = mine.size() == 0 ? 0 : mine.begin;
    vertex.arguments.emplace_back(word(first * block.x_bytes()));
    vertex.arguments.emplace_back(Place{y.buffer, y.offset + word(first * block.y_bytes())});
    vertex.arguments.emplace_back(word(mine.size()) - 3);
    vertex.arguments.emplace_back(word(steps.y));
  }
  return vertex;
}

program::Vertex Vertices::adding(TileId tile, Type type, std::uint64_t bytes, std::uint32_t arrays,
                                 Place first, Place further, Place sum) {
  Vertex vertex{tile,
                code_.in(program_, type == Type::f32 ? "gemm_add_f32" : "gemm_add_f16"),
                Executor::all_workers,
                0,
                {first, further, word(bytes), arrays, sum, 0U, 0U, 0U}};
  add_worker_parts(vertex, bytes);
  return vertex;
}

program::Vertex Vertices::packing(TileId tile, std::uint64_t bytes, Place partials, Place result) {
  Vertex vertex{tile,
                code_.in(program_, "gemm_pack"),
                Executor::all_workers,
                0,
                {partials, result, 0U, 0U, 0U, 0U, 0U, 0U}};
  add_worker_parts(vertex, bytes);
  return vertex;
}

void Vertices::add_worker_parts(Vertex& vertex, std::uint64_t bytes) const {
  const EvenSplit pairs{bytes / kPair, contexts_};
  for (std::uint32_t w = 0; w < contexts_; ++w) {
    vertex.arguments.emplace_back(word(pairs.begin(w) * kPair));
    vertex.arguments.emplace_back(word(pairs.part(w).size()));
  }
}

std::uint32_t Vertices::regrouping_code(std::uint32_t chunk_bytes, bool to_blocks) {
  return code_.in(program_,
                  fmt::format("gemm_to_{}_{}", to_blocks ? "blocks" : "rows", chunk_bytes / 8));
}

program::Vertex Vertices::regrouping(TileId tile, const Chunks& chunks, bool to_blocks,
                                     Place source, Place destination) {
  const std::uint32_t in_row = chunks.bytes;
  const std::uint32_t in_blocks = word(chunks.rows * chunks.bytes);
  const std::uint32_t row = word(chunks.chunks * chunks.bytes);
  Vertex vertex{tile,
                regrouping_code(chunks.bytes, to_blocks),
                Executor::all_workers,
                0,
                {source, destination, word(chunks.chunks), to_blocks ? in_row : in_blocks,
                 to_blocks ? in_blocks : in_row, row - chunks.bytes, 0U, 0U}};
  const EvenSplit rows{chunks.rows, contexts_};
  for (std::uint32_t w = 0; w < contexts_; ++w) {
    const std::uint32_t first = word(rows.begin(w));
    vertex.arguments.emplace_back(first * (to_blocks ? row : in_row));
    vertex.arguments.emplace_back(first * (to_blocks ? in_row : row));
    vertex.arguments.emplace_back(word(rows.part(w).size()) - 1);
    vertex.arguments.emplace_back(0U);
  }
  return vertex;
}

using plan::Function;
using plan::Sizes;
using Operands = std::span<const program::Place>;

const Function& Functions::product(const BlockShape& block, bool adds) {
  return description_.function(
      {fmt::format("gemm product {} {}", block.name(), adds),
       {FittedCost::Axis::shared(contexts_), {1, 1}, {1, 2}},
       [v = vertices_, block, adds](const Sizes& sizes, Operands operands) {
         return v->product(kAnyTile, block, {sizes[0], sizes[1], sizes[2], adds},
                           operands[0].buffer, operands[1].buffer, operands[2].buffer);
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
                                  return v->adding(kAnyTile, type, sizes[0] * Vertices::kPair,
                                                   word(sizes[1]), operands[0], operands[1],
                                                   operands[2]);
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
                                  return v->packing(kAnyTile, sizes[0] * Vertices::kPair,
                                                    operands[0], operands[1]);
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
         return v->regrouping(kAnyTile, {sizes[0], sizes[1], chunk_bytes}, to_blocks, operands[0],
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
