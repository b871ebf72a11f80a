#include "kernels/spmm_dynamic/steps.h"

namespace tessera::spmm_dynamic {

using program::Argument;
using program::ComputeSet;
using program::Executor;
using program::Vertex;

namespace {

std::string codelet_name(const Shape& shape) {
  const char* type = shape.type == Type::f16 ? "f16" : "f32";
  if (shape.on_unit()) return "pool_blocks_" + shape.name();
  return fmt::format("pool_{}_{}", shape.gradient ? "gradient" : "rows", type);
}

/// The columns of each worker of a block codelet.
void add_columns(const PoolShape& pool, const Cell& one, Vertex& vertex) {
  const Shape& shape = pool.shape;
  const std::uint32_t unroll = shape.unroll();
  const EvenSplit loops{pool.grid.columns / unroll, pool.contexts};
  const std::uint32_t half =
      shape.halves_outputs() ? shape.y_depth() * pool.grid.columns * shape.partial_bytes() : 0;
  for (std::uint32_t w = 0; w < pool.contexts; ++w) {
    const std::uint32_t first = word(loops.begin(w)) * unroll;
    vertex.arguments.insert(vertex.arguments.end(),
                            {first * shape.x_depth() * shape.bytes(),
                             Place{one.y_rows, first * shape.y_depth() * shape.partial_bytes()},
                             word(loops.part(w).size()) - (unroll == 1 ? 3U : 2U), half});
  }
}

Vertex product(const Work& work, std::uint32_t codelet, const Cell& one, int side) {
  const Shape& shape = work.shape();
  const BufferId pool = one.pool[side];
  const std::uint32_t row = work.grid().columns * shape.bytes();
  const Argument fourth = !shape.on_unit()
                              ? Argument{Place{one.y_rows}}
                              : Argument{shape.halves_inputs() ? shape.x_depth() * row : 0};
  Vertex vertex{one.tile, codelet, Executor::supervisor, 0, {}};
  vertex.arguments = {Place{pool, 2 * work.pool.pool_head_words()},
                      Place{one.x_rows},
                      1 + one.x + one.y * work.grid().x,
                      Place{pool, work.bytes.meta},
                      fourth,
                      Place{pool},
                      Place{pool, 2 * (kPoolHeadWords + one.x)},
                      Place{one.flags}};
  if (shape.gradient) {
    vertex.arguments.insert(vertex.arguments.end(), {row / kWord - 1, row, shape.block, 0U});
  } else if (shape.on_unit()) {
    add_columns(work.pool, one, vertex);
  }
  return vertex;
}

}  // namespace

ComputeSet products(Work& work, const std::string& name, int side) {
  const std::uint32_t codelet = work.assembly.codelet(codelet_name(work.shape()));
  ComputeSet set{name, {}};
  for (const Cell& one : work.cells) set.vertices.push_back(product(work, codelet, one, side));
  return set;
}

ComputeSet zeros(Work& work, const std::string& name) {
  const std::uint32_t codelet = work.assembly.codelet("pool_zero");
  const EvenSplit words{work.bytes.y / kWord, work.pool.contexts};
  ComputeSet set{name, {}};
  for (const Cell& one : work.cells) {
    Vertex vertex{one.tile, codelet, Executor::all_workers, 0, {Place{one.y_rows}, 0U}};
    for (std::uint32_t w = 0; w < words.parts; ++w) {
      vertex.arguments.emplace_back(word(words.begin(w)) * kWord);
      vertex.arguments.emplace_back(word(words.part(w).size()));
    }
    set.vertices.push_back(std::move(vertex));
  }
  return set;
}

}  // namespace tessera::spmm_dynamic
