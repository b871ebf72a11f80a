#include "kernels/spmm_static/program.h"

namespace tessera::spmm_static {

using sparse::Chunked;
using sparse::Direction;

namespace {

Chunked part_of(const DenseEnd& end, std::uint32_t depth, Tile tile) {
  return sparse::chunks_on(end.storage, tile, end.shape.bytes(), depth, end.columns);
}

Chunked in_operand(const DenseEnd& end, std::uint32_t depth, Tile tile) {
  Chunked part = part_of(end, depth, tile);
  part.column = end.column;
  return part;
}

/// Adds the step that converts each tile's part of `from` to `to`.
void turn(const Statement& statement, const DenseEnd& end, std::uint32_t depth, BufferId from,
          BufferId to, Direction direction) {
  sparse::add_turning(
      statement, fmt::format("relayout {}", end.name), end.storage.tiles(), end.shape.type,
      [end, depth](Tile tile) { return part_of(end, depth, tile); }, direction, from, to);
}

/// Converts rows to panels, and panels to blocks.
BufferId rows_in(const Statement& statement, const DenseEnd& end, BufferId rows) {
  const BufferId panels = statement.stored(end.storage, "in rows");
  const BufferId blocks = statement.stored(end.storage, "in blocks");
  statement.description.exchange(fmt::format("relayout {}", end.name), end.storage.tiles(),
                                 [end, rows, panels](Tile tile, Pulls& pulls) {
                                   sparse::pull_panels({end.storage, end.shape.bytes(), rows},
                                                       part_of(end, end.shape.x_depth(), tile),
                                                       panels, pulls);
                                 });
  turn(statement, end, end.shape.x_depth(), panels, blocks, Direction::to_blocks);
  return blocks;
}

/// The tile that holds an element's column of a chunk of rows.
sparse::Holder holder_of(const DenseEnd& end, std::uint64_t row, std::uint64_t column) {
  const std::uint64_t depth = end.shape.block;
  const std::uint64_t in_chunks = (row / depth * end.columns + column) * depth;
  const auto tile = static_cast<Tile>(in_chunks * end.shape.bytes() / end.storage.each());
  return {tile, part_of(end, end.shape.block, tile)};
}

}  // namespace

BufferId given(const Statement& statement, const DenseEnd& end, const data::DenseOperand* operand) {
  const std::uint32_t depth = end.shape.relayouts() ? 1 : end.shape.x_depth();
  const auto part = [end, depth](Tile tile) { return in_operand(end, depth, tile); };
  const BufferId given =
      statement.stored(end.storage, end.name, sparse::contents_of(end.shape.type, operand, part));
  return end.shape.relayouts() ? rows_in(statement, end, given) : given;
}

void add_tensor(const Statement& statement, program::Tensor matrix, const DenseEnd& end,
                BufferId wanted) {
  const auto chunks = [end, depth = end.shape.relayouts() ? 1 : end.shape.block](std::size_t tile) {
    return in_operand(end, depth, static_cast<Tile>(tile));
  };
  const auto runs = sparse::runs_of(matrix.shape[0], matrix.shape[1], chunks);
  statement.description.tensor({std::move(matrix), wanted, runs});
}

void add_rows_out(const Statement& statement, const DenseEnd& end, BufferId made, BufferId wanted) {
  if (made == wanted) return;
  const BufferId panels = statement.stored(end.storage, "results in rows");
  turn(statement, end, end.shape.block, made, panels, Direction::to_rows);
  statement.description.exchange(
      fmt::format("relayout {}", end.name), end.storage.tiles(),
      [end, panels, wanted](Tile tile, Pulls& pulls) {
        sparse::pull_rows(
            {end.storage, end.shape.bytes(), wanted}, end.columns, tile, panels,
            [&](std::uint64_t row, std::uint64_t column) { return holder_of(end, row, column); },
            pulls);
      });
}

Described describe_program(const Partition& partition, const sparse::BlockMatrix& w,
                           const data::DenseOperand* x, const sparse::TileCode& code,
                           std::uint32_t contexts, Region region) {
  const bool any = partition.deal.blocks() > 0;  // else zeros, which need no X
  Described program(partition.tiles);
  const Statement statement{program.description, code, contexts};
  const DenseEnd from{partition.shape, partition.x_storage(), partition.columns, "x"};
  const DenseEnd to{partition.shape, partition.y_storage(), partition.columns, "y"};
  program.description.measure(region == Region::all);
  const BufferId y = wanted(statement, to);
  const BufferId results = any ? made(statement, to, y) : y;
  std::vector<BufferId> rows;
  if (any) rows.push_back(given(statement, from, x));
  for (std::size_t i = 1; i < partition.x.size(); ++i)
    rows.push_back(statement.stored(partition.x[i].storage, "rows made before"));
  program.description.measure(true);
  Product product(statement, partition, w, "", region);
  product.add_steps(rows, results);
  program.description.measure(region == Region::all);
  add_rows_out(statement, to, results, y);
  program.tiles = product.representatives();
  if (x == nullptr) return program;
  const Type type = partition.shape.type;
  add_tensor(statement, {"Y", program::Role::result, type, {w.rows, x->columns()}}, to, y);
  program.description.tensor(data::tensor_of("X", *x, type));
  sparse::add_given(program.description, {"W", program::Role::weights, type, {}}, w);
  return program;
}

}  // namespace tessera::spmm_static
