#include <algorithm>

#include "kernels/gemm/vertices.h"
#include "kernels/pixelfly/sampled.h"
#include "kernels/sparse/code/relayout.h"
#include "kernels/sparse/code/shape.h"
#include "sim/base/ranges.h"

namespace tessera::pixelfly {

using sparse::Codelet;
using sparse::Tile;
using spmm_static::RowRun;

namespace {

/// A worker's block rows and the rows of each block (passes), their start in the list (u16) and in
/// the values (blocks), and its number of blocks.
struct Worker {
  sparse::WorkerRows part;
  std::uint32_t list = 0, blocks = 0, own = 0;
};

/// Places of rows of A and of B, partial blocks, lists.
struct Places {
  Place a, b, partial, list;
};
program::Vertex gradient_product(Codelet code, const sparse::Shape& shape, const Places& places,
                                 std::uint32_t width, const std::vector<Worker>& workers) {
  const std::uint32_t row = width * shape.bytes();
  const std::uint32_t block = shape.block * shape.block * std::uint32_t{sizeof(float)};
  std::vector<program::Argument> arguments{places.b, places.a, row / 8 - 1, row, shape.block, 0U};
  // A pass is a row of a result block: a row of A times all rows of a block row of B.
  for (const Worker& worker : workers)
    arguments.insert(arguments.end(),
                     {Place{places.list.buffer, 2 * worker.list},
                      Place{places.partial.buffer, worker.blocks * block}, worker.part.rows,
                      worker.part.first_pass, worker.part.passes, 0U});
  return code.all(std::move(arguments));
}

Codelet gradient_codelet(const Statement& statement, const sparse::Shape& shape) {
  return statement.codelet(fmt::format("block_gradient_{}", kernels::type_name(shape.type)));
}

/// Sample calls in which busy workers have equal work. Sizes: block rows of a worker, blocks of the
/// last one, rows of a block, words of a row, busy workers.
plan::Function gradient_function(const Statement& statement, const sparse::Shape& shape) {
  const Codelet code = gradient_codelet(statement, shape);
  const auto list = [](const Sizes& sizes) {
    std::vector<std::uint16_t> all;
    for (std::uint64_t row = 1; row <= sizes[0]; ++row) {
      all.insert(all.end(), {0, static_cast<std::uint16_t>(row < sizes[0] ? 1 : sizes[1])});
      all.resize(all.size() + all.back());
    }
    return all;
  };
  return {"sampled " + shape.name(),
          {FittedCost::Axis::turns(),
           FittedCost::Axis::turns(),
           {1, 1},
           {1, 2},
           FittedCost::Axis::measured()},
          [code, shape](const Sizes& sizes, std::span<const Place> at) {
            std::vector<Worker> workers(sizes[4], {{0, word(sizes[0]), 0, word(sizes[2])}});
            workers.resize(code.contexts);
            return gradient_product(code, shape, {at[0], at[1], at[2], at[3]},
                                    word(sizes[3] * shape.lanes()), workers);
          },
          // All workers write the same place: only time is measured, not results.
          [shape, list](const Sizes& sizes) {
            const std::uint64_t rows = sizes[3] * 8 * shape.block;
            const std::uint64_t blocks = sizes[0] + sizes[1] - 1;
            return std::vector{rows, rows, blocks * shape.block * shape.block * sizeof(float),
                               list(sizes).size() * 2};
          },
          [list](const Sizes& sizes, std::size_t operand, std::span<std::byte> into) {
            if (operand != 3) return;
            const std::vector<std::uint16_t> all = list(sizes);
            std::memcpy(into.data(), all.data(), all.size() * 2);
          }};
}

std::uint64_t work_of(const Worker& worker) {
  return std::uint64_t{worker.own} * worker.part.passes;
}

/// Divides block rows among workers, and rows of blocks if block rows are few.
std::vector<Worker> divide(const Share& share, std::uint32_t block, std::uint32_t contexts) {
  std::vector<std::uint64_t> before{0};  // blocks before each block row
  for (const spmm_static::RowRun& run : share.rows)
    before.push_back(before.back() + run.last - run.first);
  const auto worker = [&](const sparse::WorkerRows& part) -> Worker {
    const std::uint64_t first = before[part.first_row];
    return {part, word(std::uint64_t{2} * part.first_row + first), word(first),
            word(before[part.first_row + part.rows] - first)};
  };
  const auto most = [&](const std::vector<sparse::WorkerRows>& all) {
    return std::ranges::max(mapped(mapped(all, worker), work_of));
  };
  return mapped(sparse::divide_rows(before, block, contexts, std::min(contexts, block), most),
                worker);
}

/// For each block row: place of its rows of A, number of blocks, place of each block's rows of B.
std::vector<std::uint16_t> list_of(const Partition& partition, const Part& part,
                                   const Share& share) {
  std::vector<std::uint16_t> list;
  for (std::size_t i = 0; i < share.rows.size(); ++i) {
    const spmm_static::RowRun& run = share.rows[i];
    list.push_back(static_cast<std::uint16_t>(i * partition.block_bytes(part) / 8));
    list.push_back(static_cast<std::uint16_t>(run.last - run.first));
    for (std::uint64_t e = run.first; e < run.last; ++e)
      list.push_back(static_cast<std::uint16_t>(partition.place(part, share, e)));
  }
  return list;
}

/// Transposes `bytes(tile)` bytes of rows in blocks to rows of words.
sparse::Transposition turning(const Statement& statement,
                              const std::shared_ptr<const SampledWork>& work,
                              std::uint64_t (SampledWork::*bytes)(Tile) const) {
  return {statement, work->plan.partition.shape.type,
          [work, bytes](Tile tile) -> sparse::Chunked {
            const sparse::Shape& shape = work->plan.partition.shape;
            const Part* const part = work->cells[tile].part;
            const std::uint64_t width = part == nullptr ? 1 : part->width();
            const std::uint64_t elements = ((*work).*bytes)(tile) / shape.bytes();
            return {{0, elements}, shape.x_depth(), width, {0, elements}, 0, width};
          },
          sparse::Direction::to_rows};
}

/// Conversion of rows of A to weights: if the unit's outputs differ from the inputs it takes of a
/// block, pieces of the block rows that form the weights are regrouped.
struct Weights {
  std::uint64_t pieces;  ///< 0: no conversion
  struct {
    std::uint64_t rows, chunks;
    std::uint32_t bytes;  ///< bytes per chunk
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

/// Pulls block rows of A, and rows (on the unit squares) of B: the rows of B for a row's blocks are
/// contiguous.
void pull_operands(const SampledWork& work, Tile tile, const Arrays& a, const Arrays& b,
                   BufferId left, BufferId right, Pulls& pulls) {
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
  if (!work.plan.on_unit)
    return pull_dense_rows(partition, *part, partition.x, b, share->columns, right, pulls);
  const std::uint64_t depth = shape.x_depth();
  const std::uint64_t square = depth * square_columns(shape) * shape.bytes();
  const std::uint64_t chunks = shape.block / depth;
  std::uint64_t into = 0;
  for (const RowRun& run : share->rows)
    for (std::uint64_t g = 0; g < part->width() / square_columns(shape); ++g)
      for (std::uint64_t i = 0; i < (run.last - run.first) * chunks; ++i, into += square) {
        const std::uint64_t row =
            (partition.deal.column[run.first + i / chunks] * chunks + i % chunks) * depth;
        pull_chunk(partition, *part, partition.x, b, row, {g * square, (g + 1) * square},
                   {right, word(into)}, pulls);
      }
}

/// Granularity of storage in bytes: a block row by the columns of a square, whole squares for any
/// x_depth().
std::uint64_t grain(const sparse::Shape& shape) {
  return std::uint64_t{shape.block} * square_columns(shape) * shape.bytes();
}

struct Turning {
  EvenStorage rows, squares;
  BufferId given, blocks, made;
  sparse::Transposition turning;

  [[nodiscard]] bool moves() const { return rows.each() != squares.each(); }
};

using Work = std::shared_ptr<const SampledWork>;

BufferId array(const Work& work, const Statement& statement, std::string_view name,
               std::uint64_t (SampledWork::*bytes)(Tile) const) {
  return statement.description.array(
      {name, [work, bytes](Tile tile) -> std::uint64_t { return ((*work).*bytes)(tile); }});
}

/// In vector code: converts both operands to rows of words and multiplies them row by row.
void multiply_rows(const Statement& statement, const Work& work, const std::string& name,
                   const Places& given) {
  Places places = given;
  const Sampled& plan = work->plan;
  std::optional<std::pair<sparse::Transposition, sparse::Transposition>> turns;
  if (plan.turns()) {
    places.a = {array(work, statement, "left rows", &SampledWork::a_bytes)};
    places.b = {array(work, statement, "right rows", &SampledWork::b_bytes)};
    turns.emplace(turning(statement, work, &SampledWork::a_bytes),
                  turning(statement, work, &SampledWork::b_bytes));
  }
  places.list = {statement.list(
      "list",
      [work](Tile tile) -> std::uint64_t {
        const Share* const share = work->cells[tile].share;
        return share == nullptr ? 0 : 2 * share->rows.size() + share->blocks();
      },
      [work](Tile tile) {
        return list_of(work->plan.partition, *work->cells[tile].part, *work->cells[tile].share);
      })};
  const sparse::Shape& shape = plan.partition.shape;
  const plan::Function& function =
      statement.description.function(gradient_function(statement, shape));
  statement.description.compute(
      name + "multiply", plan.partition.tiles,
      [=, &function, code = gradient_codelet(statement, shape)](Tile tile, Calls& calls) {
        const auto& [part, share] = work->cells[tile];
        if (share == nullptr) return;
        if (turns) turns->first.add(calls, tile, given.a, places.a);
        if (turns) turns->second.add(calls, tile, given.b, places.b);
        const sparse::Shape& of = work->plan.partition.shape;
        const std::vector<Worker> workers = divide(*share, of.block, code.contexts);
        const Worker& most = *std::ranges::max_element(workers, {}, work_of);
        const auto idle = std::ranges::count(mapped(workers, work_of), 0U);
        calls.add_held(
            gradient_product(code, of, places, part->width(), workers), function,
            {most.part.rows, most.own - most.part.rows + std::uint64_t{1}, most.part.passes,
             part->width() / of.lanes(), workers.size() - static_cast<std::size_t>(idle)});
      });
}

/// On the unit each block row of A (or several together) is the weights, in the unit's order, and
/// the rows of B of all its blocks are consecutive activation rows: gemm's product, with the batch
/// as its depth.
void multiply_on_unit(const Statement& statement, const Work& work, const std::string& name,
                      const Places& places) {
  const Sampled& plan = work->plan;
  const BufferId left = places.a.buffer;
  const BufferId positions = places.b.buffer;
  const BufferId partials = places.partial.buffer;
  const Weights any = weights_of(plan, 0);
  const bool regroups = any.pieces > 0;
  const BufferId weights =
      regroups ? array(work, statement, "left regrouped", &SampledWork::a_bytes) : left;
  gemm::Functions functions(statement.code.gemm, statement.description, statement.contexts);
  const plan::Function* const regrouping =
      regroups ? &functions.regrouping(any.chunks.bytes, any.to_blocks) : nullptr;
  const plan::Function& product = functions.product(plan.partition.shape.unit, false);
  statement.description.compute(
      name + "multiply", plan.partition.tiles, [=, &product](Tile tile, Calls& calls) {
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
          // The block rows that form the weights, times the rows of B of their blocks.
          calls.add(product,
                    {(run.last - run.first) * of.partition.shape.block,
                     of.partition.shape.block * of.together / unit.columns,
                     part->width() / square_columns(of.partition.shape)},
                    {{weights, word(i * of.together * block)},
                     {positions, word(before * block)},
                     {partials, word(before * of.together * of.area() * unit.partial_bytes)}});
        }
      });
}

}  // namespace

BufferId state_partial_blocks(const Statement& statement, const Work& work, const std::string& name,
                              const Arrays& a, const Arrays& b) {
  const bool on_unit = work->plan.on_unit;
  const BufferId left = array(work, statement, "left needed", &SampledWork::a_bytes);
  const BufferId right =
      array(work, statement, on_unit ? "positions" : "right needed", &SampledWork::b_bytes);
  const BufferId partials = array(work, statement, "partial blocks", &SampledWork::partial_bytes);
  statement.description.exchange(
      name + "inputs", work->plan.partition.tiles,
      [=](Tile tile, Pulls& pulls) { pull_operands(*work, tile, a, b, left, right, pulls); });
  const auto multiply = on_unit ? multiply_on_unit : multiply_rows;
  multiply(statement, work, name, {{left}, {right}, {partials}, {}});
  return partials;
}

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
    statement.description.exchange("squares", tiles, [all](Tile tile, Pulls& pulls) {
      for (const Turning& one : all)
        if (one.moves())
          sparse::pull(pulls, {one.blocks}, one.rows, one.given, one.squares.begin(tile),
                       one.squares.begin(tile + std::uint64_t{1}));
    });
  statement.description.compute("squares", tiles, [all](Tile tile, Calls& calls) {
    for (const Turning& one : all)
      if (one.squares.bytes_on(tile) > 0) one.turning.add(calls, tile, {one.blocks}, {one.made});
  });
  return made;
}

}  // namespace tessera::pixelfly
