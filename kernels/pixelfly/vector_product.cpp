#include <algorithm>

#include "kernels/pixelfly/sampled.h"
#include "kernels/sparse/code/relayout.h"

namespace tessera::pixelfly {

using sparse::Codelet;

namespace {

/// A worker's block rows, the rows of each block, what lies before them in the list (u16) and in
/// the values (blocks), and its own blocks.
struct Worker {
  std::uint32_t rows, first, passes, list, blocks, own;
};

/// Rows of A and of B, partial blocks, lists.
struct Places {
  Place a, b, partial, list;
};
program::Vertex gradient_product(Codelet code, const sparse::Shape& shape, const Places& places,
                                 std::uint32_t width, const std::vector<Worker>& workers) {
  const std::uint32_t row = width * shape.bytes();
  const std::uint32_t block = shape.block * shape.block * std::uint32_t{sizeof(float)};
  std::vector<program::Argument> arguments{places.b, places.a, row / 8 - 1, row, shape.block, 0U};
  // A pass is a row of a block of results, which is a row of A and all rows of one of B's.
  for (const Worker& worker : workers) {
    arguments.emplace_back(Place{places.list.buffer, 2 * worker.list});
    arguments.emplace_back(Place{places.partial.buffer, worker.blocks * block});
    arguments.emplace_back(worker.passes == 0 ? 0 : worker.rows);
    arguments.emplace_back(worker.first);
    arguments.emplace_back(worker.passes);
    arguments.emplace_back(0U);
  }
  return code.all(std::move(arguments));
}

Codelet gradient_codelet(const Statement& statement, const sparse::Shape& shape) {
  return statement.codelet(fmt::format("block_gradient_{}", kernels::type_name(shape.type)));
}

/// Some workers do the same, the others nothing. Sizes: block rows of a worker, further blocks of
/// the last one (one more), rows of a block, words of a row, workers that have some.
plan::Function gradient_function(const Statement& statement, const sparse::Shape& shape) {
  using plan::Sizes;
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
            std::vector<Worker> workers(sizes[4], {word(sizes[0]), 0, word(sizes[2]), 0, 0, 0});
            workers.resize(code.contexts);
            return gradient_product(code, shape, {at[0], at[1], at[2], at[3]},
                                    word(sizes[3] * shape.lanes()), workers);
          },
          // All write the same: what they take is asked, not what comes out.
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

/// The first row of each part when the rows of a share are cut after equal numbers of blocks.
std::vector<std::size_t> cut_rows(const Share& share, std::uint32_t parts) {
  std::vector<std::size_t> at{0};
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < share.rows.size(); ++i) {
    const std::uint64_t blocks = share.rows[i].last - share.rows[i].first;
    while (at.size() < parts && (done + blocks / 2) * parts >= share.blocks() * at.size())
      at.push_back(i);
    done += blocks;
  }
  at.resize(parts + std::size_t{1}, share.rows.size());
  return at;
}

std::vector<Worker> divided(const Share& share, std::uint32_t block, std::uint32_t contexts,
                            std::uint32_t pass_parts) {
  const kernels::EvenSplit passes{block, pass_parts};
  const std::vector<std::size_t> at = cut_rows(share, contexts / pass_parts);
  std::vector<Worker> workers;
  std::uint32_t list = 0;
  std::uint32_t blocks = 0;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const auto rows = static_cast<std::uint32_t>(at[i + 1] - at[i]);
    std::uint32_t own = 0;
    for (std::size_t row = at[i]; row < at[i + 1]; ++row)
      own += static_cast<std::uint32_t>(share.rows[row].last - share.rows[row].first);
    for (std::uint32_t j = 0; j < pass_parts; ++j)
      workers.push_back(
          {rows, word(passes.begin(j)), word(passes.part(j).size()), list, blocks, own});
    list += 2 * rows + own;
    blocks += own;
  }
  workers.resize(contexts);
  return workers;
}

/// The worker with most blocks x rows.
const Worker& busiest(const std::vector<Worker>& workers) {
  return *std::ranges::max_element(
      workers, {}, [](const Worker& worker) { return std::uint64_t{worker.own} * worker.passes; });
}

std::uint64_t busy(const std::vector<Worker>& workers) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      workers, [](const Worker& worker) { return worker.own > 0 && worker.passes > 0; }));
}

/// Workers share block rows, and rows of blocks where there are few.
std::vector<Worker> divide(const Share& share, std::uint32_t block, std::uint32_t contexts) {
  std::vector<Worker> best;
  for (std::uint32_t parts = 1; parts <= std::min(contexts, block); ++parts) {
    std::vector<Worker> one = divided(share, block, contexts, parts);
    const auto work = [](const std::vector<Worker>& of) {
      return std::uint64_t{busiest(of).own} * busiest(of).passes;
    };
    if (parts == 1 || work(one) < work(best)) best = std::move(one);
  }
  return best;
}

/// For each block row the place of its rows of A, its blocks, the place of each one's rows of B.
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

/// Turns rows of `bytes(tile)` bytes in blocks to rows of words.
sparse::Transposition turning(const Statement& statement,
                              const std::shared_ptr<const SampledWork>& work,
                              SampledWork::Bytes bytes) {
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

}  // namespace

BufferId state_vector_product(const Statement& statement,
                              const std::shared_ptr<const SampledWork>& work,
                              const std::string& name, const Arrays& a, const Arrays& b) {
  const Sampled& plan = work->plan;
  const auto array = [&](std::string_view what, SampledWork::Bytes bytes) {
    return SampledWork::array(work, statement, what, bytes);
  };
  const BufferId left = array("left needed", &SampledWork::a_bytes);
  const BufferId right = array("right needed", &SampledWork::b_bytes);
  const BufferId left_rows = plan.turns() ? array("left rows", &SampledWork::a_bytes) : left;
  const BufferId right_rows = plan.turns() ? array("right rows", &SampledWork::b_bytes) : right;
  const BufferId partials = array("partial blocks", &SampledWork::partial_bytes);
  statement.description.exchange(
      name + "inputs", plan.partition.tiles,
      [work, a, b, left, right](Tile tile, plan::Pulls& pulls) {
        const auto& [part, share] = work->cells[tile];
        if (share == nullptr) return;
        std::vector<std::uint32_t> rows;
        for (const spmm_static::RowRun& run : share->rows) rows.push_back(run.row);
        const Partition& partition = work->plan.partition;
        pull_dense_rows(partition, *part, work->plan.a, a, rows, left, pulls);
        pull_dense_rows(partition, *part, partition.x, b, share->columns, right, pulls);
      });
  std::optional<std::pair<sparse::Transposition, sparse::Transposition>> turns;
  if (plan.turns())
    turns.emplace(turning(statement, work, &SampledWork::a_bytes),
                  turning(statement, work, &SampledWork::b_bytes));
  const BufferId list = statement.list(
      "list",
      [work](Tile tile) -> std::uint64_t {
        const Share* const share = work->cells[tile].share;
        return share == nullptr ? 0 : 2 * share->rows.size() + share->blocks();
      },
      [work](Tile tile) {
        return list_of(work->plan.partition, *work->cells[tile].part, *work->cells[tile].share);
      });
  const sparse::Shape& shape = plan.partition.shape;
  const plan::Function& function =
      statement.description.function(gradient_function(statement, shape));
  statement.description.compute(
      name + "multiply", plan.partition.tiles,
      [=, &function, code = gradient_codelet(statement, shape)](Tile tile, plan::Calls& calls) {
        const auto& [part, share] = work->cells[tile];
        if (share == nullptr) return;
        if (turns) turns->first.add(calls, tile, {left}, {left_rows});
        if (turns) turns->second.add(calls, tile, {right}, {right_rows});
        const sparse::Shape& of = work->plan.partition.shape;
        const std::vector<Worker> workers = divide(*share, of.block, code.contexts);
        const Worker& most = busiest(workers);
        calls.add_held(gradient_product(code, of, {{left_rows}, {right_rows}, {partials}, {list}},
                                        part->width(), workers),
                       function,
                       {most.rows, most.own - most.rows + std::uint64_t{1}, most.passes,
                        part->width() / of.lanes(), busy(workers)});
      });
  return partials;
}

}  // namespace tessera::pixelfly
