#include "kernels/pixelfly/squares.h"

#include "kernels/sparse/code/relayout.h"
#include "kernels/sparse/plan/traffic.h"

namespace tessera::pixelfly {

using kernels::EvenStorage;
using program::BufferId;
using sparse::Assembly;

namespace {

/// Bytes of a row of blocks beside a row of squares: whole squares whatever x_depth() is.
std::uint64_t grain(const sparse::Shape& shape) {
  return std::uint64_t{shape.block} * square_columns(shape) * shape.bytes();
}

EvenStorage squares_of(const sparse::Shape& shape, const EvenStorage& rows, std::uint32_t tiles) {
  return {rows.bytes(), grain(shape), tiles};
}

bool lies_in_squares(const EvenStorage& rows, const EvenStorage& squares) {
  return rows.each() == squares.each();
}

void add_turning(Assembly& assembly, program::ComputeSet& set, const sparse::Shape& shape,
                 TileId tile, std::uint64_t bytes, BufferId from, BufferId to) {
  const std::uint64_t elements = bytes / shape.bytes();
  const std::uint32_t columns = square_columns(shape);
  sparse::add_transposition(assembly, set, shape, tile,
                            {{0, elements}, shape.x_depth(), columns, {0, elements}, 0, columns},
                            {from}, {to}, sparse::Direction::to_rows);
}

}  // namespace

EvenStorage square_storage(const sparse::Shape& shape, std::uint64_t rows, std::uint32_t columns,
                           std::uint32_t tiles) {
  return {rows * columns * shape.bytes(), grain(shape), tiles};
}

std::vector<std::vector<BufferId>> add_squares(Assembly& assembly, const sparse::Shape& shape,
                                               const std::vector<RowsInBlocks>& rows,
                                               std::uint32_t tiles) {
  program::Exchange exchange{"squares", {}};
  program::ComputeSet set{"squares", {}};
  std::vector<std::vector<BufferId>> made;
  for (const RowsInBlocks& of : rows) {
    const EvenStorage squares = squares_of(shape, of.storage, tiles);
    std::vector<BufferId> blocks = of.buffers;
    if (!lies_in_squares(of.storage, squares)) {
      blocks = assembly.stored(squares, "in squares");
      for (std::uint32_t t = 0; t < squares.tiles(); ++t)
        sparse::gather(exchange, of.storage, of.buffers, squares.begin(t), squares.begin(t + 1),
                       [&](std::uint32_t offset) {
                         return std::vector<program::Place>{{blocks[t], offset}};
                       });
    }
    made.push_back(assembly.stored(squares, "squares"));
    for (std::uint32_t t = 0; t < squares.tiles(); ++t)
      add_turning(assembly, set, shape, TileId(t), squares.bytes_on(t), blocks[t], made.back()[t]);
  }
  if (!exchange.copies.empty()) assembly.add_step(std::move(exchange));
  assembly.add_step(std::move(set));
  return made;
}

Prediction predict_squares(const sparse::Shape& shape, const std::vector<EvenStorage>& rows,
                           MachineCosts& costs) {
  const std::uint32_t tiles = costs.machine().tiles;
  const StepCosts steps(costs);
  const sparse::TileCode code;
  sparse::Traffic moved(tiles);
  StepCosts::Superstep step;
  for (const EvenStorage& of : rows) {
    const EvenStorage squares = squares_of(shape, of, tiles);
    step.vertex_cycles += steps.vertex([&](program::Program& sample) {
      Assembly assembly(code, sample, costs.machine().tile.contexts);
      program::ComputeSet set;
      const std::uint64_t bytes = squares.each();
      add_turning(assembly, set, shape, TileId{0}, bytes, assembly.buffer(0, bytes, "sample"),
                  assembly.buffer(0, bytes, "sample"));
      return set.vertices.front();
    });
    if (lies_in_squares(of, squares)) continue;
    moved.send(0, of.each());
    moved.receive(0, squares.each());
    step.exchange = moved.most(costs);
  }
  Prediction sum;
  steps.add(sum, step);
  return sum;
}

}  // namespace tessera::pixelfly
