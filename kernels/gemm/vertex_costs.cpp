#include "kernels/gemm/vertex_costs.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::gemm {

using Sizes = FittedCost::Sizes;
using program::BufferId;
using program::Program;

namespace {

constexpr TileId kTile{0};  // of samples

BufferId add_buffer(Program& program, std::uint64_t bytes) {
  return program.add_buffer({kTile,
                             std::max<std::uint64_t>(bytes, 16),
                             8,
                             false,
                             program::Category::tensors,
                             {},
                             "sample"});
}

}  // namespace

VertexCosts::VertexCosts(MachineCosts& costs) : code_("gemm"), steps_(costs) {}

template <class Make>
FittedCost& VertexCosts::fitted(const std::string& name, std::vector<FittedCost::Axis> axes,
                                Make make) {
  const auto found = fitted_.find(name);
  if (found != fitted_.end()) return found->second;
  const auto measure = [this, make](const Sizes& sizes) {
    return steps_.vertex([&](Program& sample) {
      Vertices vertices(code_, sample, machine().tile.contexts);
      return make(sample, vertices, sizes);
    });
  };
  return fitted_.emplace(name, FittedCost(std::move(axes), measure)).first->second;
}

std::uint64_t VertexCosts::product(const BlockShape& block, const Vertices::Part& part) {
  const std::uint32_t contexts = machine().tile.contexts;
  const auto name =
      fmt::format("product {} {} {}", block.input_bytes, block.partial_bytes, part.adds);
  const auto make = [block, adds = part.adds](Program& sample, Vertices& vertices,
                                              const Sizes& sizes) {
    const auto [rows, columns, depth] = std::array{sizes[0], sizes[1], sizes[2]};
    const BufferId w = add_buffer(sample, columns * depth * block.w_bytes());
    const BufferId x = add_buffer(sample, rows * depth * block.x_bytes());
    const BufferId y = add_buffer(sample, rows * columns * block.y_bytes());
    return vertices.product(kTile, block, {rows, columns, depth, adds}, w, x, y);
  };
  return fitted(name, {FittedCost::Axis::shared(contexts), {1, 1}, {1, 2}},
                make)({part.rows, part.columns, part.depth});
}

std::uint64_t VertexCosts::adding(Type type, std::uint64_t bytes, std::uint32_t arrays) {
  const std::uint64_t pairs = machine().tile.contexts;
  const auto make = [type](Program& sample, Vertices& vertices, const Sizes& sizes) {
    const std::uint64_t each = sizes[0] * Vertices::kPair;
    const auto count = word(sizes[1]);
    const BufferId first = add_buffer(sample, each);
    const BufferId further = add_buffer(sample, each * count);
    return vertices.adding(kTile, type, each, count, {first}, {further}, {first});
  };
  return fitted(type == Type::f32 ? "adding f32" : "adding f16",
                {FittedCost::Axis::shared(pairs), {1, 1}}, make)({bytes / Vertices::kPair, arrays});
}

std::uint64_t VertexCosts::packing(std::uint64_t bytes) {
  const std::uint64_t pairs = machine().tile.contexts;
  const auto make = [](Program& sample, Vertices& vertices, const Sizes& sizes) {
    const std::uint64_t each = sizes[0] * Vertices::kPair;
    return vertices.packing(kTile, each, {add_buffer(sample, each)}, {add_buffer(sample, each)});
  };
  return fitted("packing", {FittedCost::Axis::shared(pairs)}, make)({bytes / Vertices::kPair});
}

std::uint64_t VertexCosts::regrouping(const Vertices::Chunks& chunks, bool to_blocks) {
  const std::uint64_t rows = machine().tile.contexts;
  const auto make = [bytes = chunks.bytes, to_blocks](Program& sample, Vertices& vertices,
                                                      const Sizes& sizes) {
    const std::uint64_t all = sizes[0] * sizes[1] * bytes;
    return vertices.regrouping(kTile, {sizes[0], sizes[1], bytes}, to_blocks,
                               {add_buffer(sample, all)}, {add_buffer(sample, all)});
  };
  return fitted(fmt::format("regrouping {} {}", chunks.bytes, to_blocks),
                {FittedCost::Axis::shared(rows), {1, 1}}, make)({chunks.rows, chunks.chunks});
}

}  // namespace tessera::gemm
