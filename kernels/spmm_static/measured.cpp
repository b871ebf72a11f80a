#include "kernels/spmm_static/cost.h"
#include "kernels/spmm_static/steps.h"

// What is measured: vertices of one tile.
namespace tessera::spmm_static {

using sparse::Direction;

namespace {

// Loops run as they do for long from so many on.
constexpr std::uint64_t kSettled = 4, kUnrolled = 8;
constexpr FittedCost::Axis kMeasured{1, std::uint64_t{1} << 32};

}  // namespace

Cost::Cost(const sparse::Shape& shape, std::uint64_t most_in_row, MachineCosts& costs)
    : shape_(shape),
      costs_(costs),
      steps_(costs),
      workers_(costs.machine().tile.contexts),
      blocks_({kMeasured, kMeasured,
               FittedCost::Axis::shared(std::uint64_t{workers_} * shape.unit.positions_at_once())},
              [this](const auto& sizes) { return measure_blocks(sizes); }),
      rows_({kMeasured, kMeasured, {2, kUnrolled}, kMeasured, kMeasured},
            [this](const auto& sizes) { return measure_elements(sizes); }),
      adding_({kMeasured, kMeasured, kMeasured, kMeasured, {1, kSettled}},
              [this](const auto& sizes) { return measure_adding(sizes); }) {
  if (shape.block > 1) return;
  elements_ = std::make_shared<ElementWorks>(
      ElementWorks{element_work(1, most_in_row), element_work(2, most_in_row)});
}

template <class Make>
std::uint64_t Cost::vertex(const Make& make) {
  return steps_.vertex([&](program::Program& program) {
    Assembly assembly(code_, program, workers_);
    return make(assembly, [&](std::uint64_t bytes) {
      return assembly.buffer(0, std::max<std::uint64_t>(bytes, 8), "sample");
    });
  });
}

/// Rows, blocks of them beyond the first of each (in the last one), loops of positions.
std::uint64_t Cost::measure_blocks(const FittedCost::Sizes& sizes) {
  const std::uint64_t rows = sizes[0];
  const std::uint64_t more = sizes[1] - 1;
  const std::uint32_t width = word(sizes[2]) * shape_.unroll();
  std::vector<std::uint16_t> list(2 * rows, 0);  // blocks less one, places
  list[2 * rows - 2] = static_cast<std::uint16_t>(more);
  list.resize(2 * rows + more, 0);
  const std::uint64_t area = std::uint64_t{shape_.block} * shape_.block;
  const std::uint64_t row = std::uint64_t{shape_.block} * width * shape_.partial_bytes();
  return vertex([&](Assembly& assembly, const auto& buffer) {
    const ProductBuffers buffers{buffer((rows + more) * area * shape_.bytes()),
                                 buffer(std::uint64_t{shape_.block} * width * shape_.bytes()),
                                 assembly.list(0, list, "list"), buffer(rows * row)};
    return block_product(assembly, shape_, TileId{0}, buffers, word(rows), width);
  });
}

/// Busy workers, rows of each, nonzeros of a row (one more), passes, words of a pass.
std::uint64_t Cost::measure_elements(const FittedCost::Sizes& sizes) {
  const std::uint32_t idle = workers_ - word(sizes[0]);
  const std::uint32_t rows = word(sizes[1]);
  const std::uint32_t nonzeros = word(sizes[2] - 1);
  const std::uint32_t passes = word(sizes[3]);
  const std::uint32_t words = word(sizes[4]);
  const std::uint32_t all = rows * workers_;
  const std::uint32_t padded = round_up(nonzeros, 2U);
  std::vector<std::uint16_t> list(std::size_t{all} * (1 + nonzeros), 0);
  std::vector<ElementPart> parts;
  for (std::uint32_t w = 0; w < workers_; ++w) {
    const std::uint32_t first = w * rows;
    for (std::uint32_t i = 0; i < rows; ++i)
      list[std::size_t{first + i} * (1 + nonzeros)] = static_cast<std::uint16_t>(nonzeros);
    parts.push_back({first * (1 + nonzeros), first * padded, {}});
    if (w >= idle) parts.back().share = {first, rows, 0, passes, {}};
  }
  const std::uint32_t width = passes * words * shape_.lanes();
  return vertex([&](Assembly& assembly, const auto& buffer) {
    const ProductBuffers buffers{buffer(std::uint64_t{all} * padded * shape_.bytes()),
                                 buffer(std::uint64_t{width} * shape_.bytes()),
                                 assembly.list(0, list, "list"),
                                 buffer(std::uint64_t{all} * width * shape_.partial_bytes())};
    return element_product(assembly, shape_, TileId{0}, buffers, width, words, parts);
  });
}

/// Busy workers, segments of each, chunks and units of a segment, partials; the last three are one
/// more.
std::uint64_t Cost::measure_adding(const FittedCost::Sizes& sizes) {
  const std::uint64_t segments = sizes[1];
  const std::uint64_t chunks = sizes[2] - 1;
  const std::uint64_t units = sizes[3] - 1;
  const std::uint32_t partials = word(sizes[4] - 1);
  const std::uint64_t bytes = chunks * 64 + units * 16;
  ReducingWorker worker;
  for (std::uint64_t s = 0; s < segments; ++s) {
    worker.parts.push_back(
        {0, bytes, partials, word(chunks), word(units), bytes / shape_.output_runs()});
  }
  std::vector<ReducingWorker> workers(workers_ - sizes[0]);
  workers.resize(workers_, worker);
  return vertex([&](Assembly& assembly, const auto& buffer) {
    return adding_vertex(assembly, shape_, TileId{0}, {buffer(bytes * (partials + 1))},
                         {buffer(segments * bytes * 2)}, workers);
  });
}

/// One tile's squares of X or Y, whatever the cuts.
std::uint64_t Cost::turning(const Partition& partition, const EvenStorage& storage,
                            Direction direction) {
  std::uint64_t& cycles = turning_[{direction, storage.each()}];
  if (cycles > 0) return cycles;
  const bool x = direction == Direction::to_blocks;
  cycles = vertex([&](Assembly& assembly, const auto& buffer) {
    program::ComputeSet set;
    const Place from{buffer(storage.each())};
    const Place to{buffer(storage.each())};
    sparse::add_transposition(
        assembly, set, shape_, TileId{0},
        chunks_of(storage, shape_, partition.columns, x ? shape_.x_depth() : shape_.block, 0), from,
        to, direction);
    return set.vertices.front();
  });
  return cycles;
}

ElementWork Cost::element_work(std::uint32_t words, std::uint64_t most_in_row) {
  constexpr std::uint64_t kRows = 4, kMoreRows = 12;
  const auto cycles = [&](std::uint64_t busy, std::uint64_t rows, std::uint64_t nonzeros,
                          std::uint64_t passes) {
    return rows_({busy, rows, nonzeros + 1, passes, words});
  };
  const auto row = [&](std::uint64_t busy, std::uint64_t nonzeros) {
    return (cycles(busy, kMoreRows, nonzeros, 1) - cycles(busy, kRows, nonzeros, 1)) /
           (kMoreRows - kRows);
  };
  const auto pass = [&](std::uint64_t busy) {
    return cycles(busy, kRows, 0, 2) - cycles(busy, kRows, 0, 1) - kRows * row(busy, 0);
  };
  ElementWork work;
  for (std::uint64_t k = 0; k <= most_in_row; ++k)
    work.row.push_back({row(workers_, k), row(1, k)});
  work.pass = {pass(workers_), pass(1)};
  work.once = cycles(workers_, kRows, 0, 1) - (work.pass + kRows * work.row.front()).full;
  return work;
}

}  // namespace tessera::spmm_static
