#include "kernels/spmm_dynamic/multiply.h"

#include "sim/elf/codelet.h"

namespace tessera::spmm_dynamic {

using gemm::EvenSplit;
using program::Argument;
using program::ComputeSet;
using program::Executor;
using program::Place;
using program::Vertex;

namespace {

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

std::string codelet_name(const Shape& shape) {
  const char* type = shape.f16() ? "f16" : "f32";
  if (shape.values) return fmt::format("dynamic_values_{}", type);
  const bool mixed = shape.packs() && shape.block > 1;
  return fmt::format("dynamic_{}_{}{}", shape.block, type, mixed ? "_f32" : "");
}

std::uint32_t add_codelet(program::Program& program, const std::string& name) {
  return program.add_codelet(elf::embedded_codelet("spmm_dynamic", name));
}

/// The columns of each worker of a block codelet.
void add_columns(const PoolShape& pool, const Cell& one, Vertex& vertex) {
  const Shape& shape = pool.shape;
  const std::uint32_t columns = pool.grid.columns;
  const std::uint32_t unroll = shape.unroll();
  const EvenSplit loops{columns / unroll, pool.contexts};
  const std::uint32_t half =
      shape.result_chunk() < shape.block ? shape.result_chunk() * columns * shape.sum_bytes() : 0;
  for (std::uint32_t w = 0; w < pool.contexts; ++w) {
    const std::uint32_t first = word(loops.begin(w)) * unroll;
    vertex.arguments.insert(vertex.arguments.end(),
                            {first * shape.x_chunk() * shape.element_bytes(),
                             Place{one.y_rows, first * shape.result_chunk() * shape.sum_bytes()},
                             word(loops.part(w).size()) - (unroll == 1 ? 3U : 2U), half});
  }
}

Vertex product(const Multiply& multiply, std::uint32_t codelet, const Cell& one, int side) {
  const PoolShape& pool_shape = multiply.pool;
  const Shape& shape = pool_shape.shape;
  const program::BufferId pool = one.pool[side];
  const std::uint32_t row = pool_shape.grid.columns * shape.element_bytes();
  const bool two_halves = shape.x_chunk() < shape.block && !shape.shares_rows();
  const Argument fourth = shape.shares_rows() ? Argument{Place{one.y_rows}}
                                              : Argument{two_halves ? shape.x_chunk() * row : 0};
  Vertex vertex{one.tile, codelet, Executor::supervisor, 0, {}};
  vertex.arguments = {Place{pool, 2 * pool_shape.pool_head_words()},
                      Place{one.x_rows},
                      1 + one.x + one.y * pool_shape.grid.x,
                      Place{pool, multiply.bytes.meta},
                      fourth,
                      Place{pool},
                      Place{pool, 2 * (kPoolHeadWords + one.x)},
                      Place{one.flags}};
  if (shape.values) {
    vertex.arguments.insert(vertex.arguments.end(), {row / kWord - 1, row, shape.block, 0U});
  } else if (!shape.shares_rows()) {
    add_columns(pool_shape, one, vertex);
  }
  return vertex;
}

}  // namespace

ComputeSet products(const Multiply& multiply, const std::string& name, int side) {
  const std::uint32_t codelet = add_codelet(multiply.program, codelet_name(multiply.pool.shape));
  ComputeSet set{name, {}};
  for (const Cell& one : multiply.cells)
    set.vertices.push_back(product(multiply, codelet, one, side));
  return set;
}

ComputeSet zeros(const Multiply& multiply, const std::string& name) {
  const std::uint32_t codelet = add_codelet(multiply.program, "dynamic_zero");
  const std::uint32_t contexts = multiply.pool.contexts;
  const EvenSplit words{multiply.bytes.y / kWord, contexts};
  ComputeSet set{name, {}};
  for (const Cell& one : multiply.cells) {
    Vertex vertex{one.tile, codelet, Executor::all_workers, 0, {Place{one.y_rows}, 0U}};
    for (std::uint32_t w = 0; w < contexts; ++w) {
      vertex.arguments.emplace_back(word(words.begin(w)) * kWord);
      vertex.arguments.emplace_back(word(words.part(w).size()));
    }
    set.vertices.push_back(std::move(vertex));
  }
  return set;
}

}  // namespace tessera::spmm_dynamic
