#include "kernels/spmm_dynamic/steps.h"

namespace tessera::spmm_dynamic {

using program::Argument;
using program::ComputeSet;
using program::Executor;
using program::Vertex;

namespace {

std::string codelet_name(const Shape& shape) {
  const char* type = shape.type == Type::f16 ? "f16" : "f32";
  if (shape.in_blocks()) return "pool_blocks_" + shape.name();
  return fmt::format("pool_{}_{}", shape.gradient ? "gradient" : "rows", type);
}

/// The columns of each worker of a block codelet.
void add_columns(const PoolShape& pool, const Cell& one, Vertex& vertex) {
  const Shape& shape = pool.shape;
  const std::uint32_t unroll = shape.unroll();
  const EvenSplit loops{pool.grid.columns / unroll, pool.contexts};
  const std::uint32_t next_run = shape.y_depth() * pool.grid.columns * shape.partial_bytes();
  for (std::uint32_t w = 0; w < pool.contexts; ++w) {
    const std::uint32_t first = word(loops.begin(w)) * unroll;
    vertex.arguments.insert(vertex.arguments.end(),
                            {first * shape.x_depth() * shape.bytes(),
                             Place{one.y_rows, first * shape.y_depth() * shape.partial_bytes()},
                             word(loops.part(w).size()) - (unroll == 1 ? 3U : 2U), next_run});
  }
}

}  // namespace

Vertex product(sparse::Assembly& assembly, const PoolShape& pool_shape, std::uint32_t meta,
               const Cell& one, int side) {
  const Shape& shape = pool_shape.shape;
  const BufferId pool = one.pool[side];
  const std::uint32_t row = pool_shape.grid.columns * shape.bytes();
  const Argument fourth =
      !shape.in_blocks() ? Argument{Place{one.y_rows}} : Argument{shape.x_depth() * row};
  Vertex vertex{one.tile, assembly.codelet(codelet_name(shape)), Executor::supervisor, 0, {}};
  vertex.arguments = {Place{pool, 2 * pool_shape.pool_head_words()},
                      Place{one.x_rows},
                      1 + one.x + one.y * pool_shape.grid.x,
                      Place{pool, meta},
                      fourth,
                      Place{pool},
                      Place{pool, 2 * (kPoolHeadWords + one.x)},
                      Place{one.flags}};
  if (shape.gradient) {
    vertex.arguments.insert(vertex.arguments.end(), {row / kWord - 1, row, shape.block, 0U});
  } else if (shape.in_blocks()) {
    add_columns(pool_shape, one, vertex);
  }
  return vertex;
}

Vertex zeroing(sparse::Assembly& assembly, TileId tile, Place from, std::uint64_t bytes) {
  const EvenSplit words{bytes / kWord, assembly.contexts()};
  Vertex vertex{tile, assembly.codelet("pool_zero"), Executor::all_workers, 0, {from, 0U}};
  for (std::uint32_t w = 0; w < words.parts; ++w) {
    vertex.arguments.emplace_back(word(words.begin(w)) * kWord);
    vertex.arguments.emplace_back(word(words.part(w).size()));
  }
  return vertex;
}

ComputeSet products(Work& work, const std::string& name, int side) {
  ComputeSet set{name, {}};
  for (const Cell& one : work.cells)
    set.vertices.push_back(product(work.assembly, work.pool, work.bytes.meta, one, side));
  return set;
}

ComputeSet zeros(Work& work, const std::string& name) {
  ComputeSet set{name, {}};
  for (const Cell& one : work.cells)
    set.vertices.push_back(zeroing(work.assembly, one.tile, {one.y_rows}, work.bytes.y));
  return set;
}

}  // namespace tessera::spmm_dynamic
