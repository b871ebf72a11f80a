#include "kernels/gemm/vertices.h"
#include "kernels/pixelfly/sampled.h"
#include "kernels/sparse/code/relayout.h"

namespace tessera::pixelfly {

using spmm_static::RowRun;

namespace {

/// How rows of A become weights: where the unit gives other outputs at once than it takes inputs
/// of a block, pieces of the block rows that are weights together are regrouped.
struct Weights {
  std::uint64_t pieces;  ///< 0: they are as they lie
  struct {
    std::uint64_t rows, chunks;
    std::uint32_t bytes;  ///< of a chunk
  } chunks;
  bool to_blocks;
};
Weights weights_of(const Sampled& plan, std::uint64_t columns) {
  const sparse::Shape& shape = plan.partition.shape;
  const std::uint32_t inputs = shape.x_depth();
  const std::uint32_t outputs = shape.unit.columns;
  if (inputs == outputs) return {0, {}, false};
  if (inputs > outputs)
    return {shape.block / inputs, {columns, inputs / outputs, outputs * shape.bytes()}, true};
  return {shape.block * plan.together / outputs,
          {columns, outputs / inputs, inputs * shape.bytes()},
          false};
}

/// Pulls block rows of A, and squares of B: the rows of B of a row's blocks lie beside each other.
void pull_operands(const SampledWork& work, Tile tile, const Arrays& a, const Arrays& b,
                   BufferId left, BufferId positions, plan::Pulls& pulls) {
  const auto& [part, share] = work.cells[tile];
  if (share == nullptr) return;
  const Partition& partition = work.plan.partition;
  const sparse::Shape& shape = partition.shape;
  std::vector<std::uint32_t> rows;
  for (const RowRun& run : share->rows)
    for (std::uint32_t i = 0; i < work.plan.together; ++i)
      if (run.row * work.plan.together + i < work.plan.block_rows)
        rows.push_back(run.row * work.plan.together + i);
  pull_dense_rows(partition, *part, work.plan.a, a, rows, left, pulls);
  const std::uint64_t depth = shape.x_depth();
  const std::uint64_t square = depth * square_columns(shape) * shape.bytes();
  const std::uint64_t chunks = shape.block / depth;
  std::uint64_t into = 0;
  for (const RowRun& run : share->rows) {
    for (std::uint64_t g = 0; g < part->width() / square_columns(shape); ++g) {
      for (std::uint64_t i = 0; i < (run.last - run.first) * chunks; ++i, into += square) {
        const std::uint64_t row =
            (partition.deal.column[run.first + i / chunks] * chunks + i % chunks) * depth;
        pull_chunk(partition, *part, partition.x, b, row, {g * square, (g + 1) * square},
                   {positions, word(into)}, pulls);
      }
    }
  }
}

}  // namespace

BufferId state_unit_product(const Statement& statement,
                            const std::shared_ptr<const SampledWork>& work, const std::string& name,
                            const Arrays& a, const Arrays& b) {
  const Sampled& plan = work->plan;
  const auto array = [&](std::string_view what, SampledWork::Bytes bytes) {
    return SampledWork::array(work, statement, what, bytes);
  };
  const bool regroups = weights_of(plan, 0).pieces > 0;
  const BufferId left = array("left needed", &SampledWork::a_bytes);
  const BufferId weights = regroups ? array("left regrouped", &SampledWork::a_bytes) : left;
  const BufferId positions = array("positions", &SampledWork::b_bytes);
  const BufferId partials = array("partial blocks", &SampledWork::partial_bytes);
  statement.description.exchange(name + "inputs", plan.partition.tiles,
                                 [=](Tile tile, plan::Pulls& pulls) {
                                   pull_operands(*work, tile, a, b, left, positions, pulls);
                                 });
  gemm::Functions functions(statement.code.gemm, statement.description, statement.contexts);
  const Weights any = weights_of(plan, 0);
  const plan::Function* const regrouping =
      regroups ? &functions.regrouping(any.chunks.bytes, any.to_blocks) : nullptr;
  const plan::Function& product = functions.product(plan.partition.shape.unit, false);
  statement.description.compute(
      name + "multiply", plan.partition.tiles, [=, &product](Tile tile, plan::Calls& calls) {
        const auto& [part, share] = work->cells[tile];
        if (share == nullptr) return;
        const Sampled& of = work->plan;
        const kernels::BlockShape& unit = of.partition.shape.unit;
        const std::uint64_t block = of.partition.block_bytes(*part);
        const Weights how = weights_of(of, part->width());
        for (std::uint64_t i = 0; i < how.pieces * share->rows.size(); ++i) {
          const std::uint32_t at = word(i * of.together * block / how.pieces);
          calls.add(*regrouping, {how.chunks.rows, how.chunks.chunks}, {{left, at}, {weights, at}});
        }
        for (std::uint64_t i = 0; i < share->rows.size(); ++i) {
          const RowRun& run = share->rows[i];
          const std::uint64_t before = run.first - share->first;
          // Block rows that are weights together times the rows of B of its blocks.
          calls.add(product,
                    {(run.last - run.first) * of.partition.shape.block,
                     of.partition.shape.block * of.together / unit.columns,
                     part->width() / square_columns(of.partition.shape)},
                    {{weights, word(i * of.together * block)},
                     {positions, word(before * block)},
                     {partials, word(before * of.together * of.area() * unit.partial_bytes)}});
        }
      });
  return partials;
}

using kernels::EvenStorage;
using program::BufferId;
using sparse::Tile;

namespace {

/// Bytes of a row of blocks beside a row of squares: whole squares whatever x_depth() is.
std::uint64_t grain(const sparse::Shape& shape) {
  return std::uint64_t{shape.block} * square_columns(shape) * shape.bytes();
}

/// Where squares are made, and of what.
struct Turning {
  EvenStorage rows, squares;
  BufferId given, blocks, made;
  sparse::Transposition turning;

  [[nodiscard]] bool moves() const { return rows.each() != squares.each(); }
};

}  // namespace

EvenStorage square_storage(const sparse::Shape& shape, std::uint64_t rows, std::uint32_t columns,
                           std::uint32_t tiles) {
  return {rows * columns * shape.bytes(), grain(shape), tiles};
}

std::vector<BufferId> make_squares(const sparse::Statement& statement, const sparse::Shape& shape,
                                   const std::vector<EvenStorage>& rows,
                                   const std::vector<BufferId>& blocks, std::uint32_t tiles) {
  std::vector<Turning> all;
  std::vector<BufferId> made;
  bool moves = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const EvenStorage squares(rows[i].bytes(), grain(shape), tiles);
    const std::uint64_t columns = square_columns(shape);
    const auto part = [shape, squares, columns](Tile tile) -> sparse::Chunked {
      const std::uint64_t elements = squares.bytes_on(tile) / shape.bytes();
      return {{0, elements}, shape.x_depth(), columns, {0, elements}, 0, columns};
    };
    Turning one{
        rows[i],   squares,
        blocks[i], blocks[i],
        {},        sparse::Transposition(statement, shape.type, part, sparse::Direction::to_rows)};
    if (one.moves()) one.blocks = statement.stored(squares, "in squares");
    one.made = statement.stored(squares, "squares");
    moves = moves || one.moves();
    made.push_back(one.made);
    all.push_back(one);
  }
  if (moves)
    statement.description.exchange("squares", tiles, [all](Tile tile, plan::Pulls& pulls) {
      for (const Turning& one : all)
        if (one.moves())
          sparse::pull(pulls, {one.blocks}, one.rows, one.given, one.squares.begin(tile),
                       one.squares.begin(tile + std::uint64_t{1}));
    });
  statement.description.compute("squares", tiles, [all](Tile tile, plan::Calls& calls) {
    for (const Turning& one : all)
      if (one.squares.bytes_on(tile) > 0) one.turning.add(calls, tile, {one.blocks}, {one.made});
  });
  return made;
}

}  // namespace tessera::pixelfly
