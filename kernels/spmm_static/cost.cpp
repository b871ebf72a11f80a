#include "kernels/spmm_static/cost.h"

#include <set>

#include "kernels/spmm_static/steps.h"
#include "kernels/spmm_static/work_list.h"

namespace tessera::spmm_static {

using sparse::Direction;

namespace {

// Sizes between which slopes are taken; loops run as they do for long from so many on.
constexpr std::int64_t kFew = 8, kMany = 40;
constexpr std::uint64_t kSettled = 4;
constexpr FittedCost::Axis kMeasured{1, std::uint64_t{1} << 32};

std::uint64_t common_count(const std::vector<std::uint32_t>& a,
                           const std::vector<std::uint32_t>& b) {
  std::uint64_t count = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) ++count;
    const bool first = a[i] <= b[j];
    if (b[j] <= a[i]) ++j;
    if (first) ++i;
  }
  return count;
}

/// Dense rows and values into tiles, each sent once from where it is given.
sparse::Traffic inputs_moved(const Partition& partition) {
  sparse::Traffic traffic(partition.tiles);
  for (std::uint32_t tile = 0; tile < partition.tiles; ++tile) {
    for (const DenseRows& rows : partition.x) traffic.send(tile, rows.storage.bytes_on(tile));
    if (partition.shares_values()) traffic.send(tile, partition.value_storage().bytes_on(tile));
  }
  for (const Part& part : partition.parts) {
    const Layer& layer = partition.layer(part);
    for (std::size_t s = 0; s < layer.shares.size(); ++s) {
      const Share& share = layer.shares[s];
      const std::uint32_t tile = part.first_tile + share.place;
      traffic.receive(tile, partition.x_bytes(part, share));
      if (partition.shares_values()) traffic.receive(tile, partition.value_bytes(share));
      if (s == 0 || tile % 2 == 0 || layer.shares[s - 1].place + 1 != share.place) continue;
      traffic.share(tile, common_count(share.columns, layer.shares[s - 1].columns) *
                              partition.shape.block * part.width() * partition.shape.bytes());
    }
  }
  return traffic;
}

sparse::Traffic partials_moved(const Partition& partition, const Reduction& reduction) {
  sparse::Traffic traffic(partition.tiles);
  for (const Destination& to : reduction.destinations()) {
    traffic.receive(to.tile,
                    reduction.direct() ? to.elements * partition.shape.bytes() : to.received);
  }
  for (const Part& part : partition.parts) {
    for (const Share& share : partition.layer(part).shares) {
      traffic.send(part.first_tile + share.place, share.rows.size() * partition.row_bytes(part));
    }
  }
  return traffic;
}

/// Sums that are made elsewhere to where they are wanted.
sparse::Traffic sums_moved(const Partition& partition, const Reduction& reduction) {
  sparse::Traffic traffic(partition.tiles);
  const std::uint64_t size = partition.shape.bytes();
  for (const Destination& from : reduction.destinations()) {
    if (from.home) continue;
    traffic.send(from.tile, from.elements * size);
    for (const Segment& segment : from.segments) {
      const std::uint64_t place = reduction.place(segment) * size;
      for (const auto& piece :
           partition.y_storage().pieces(place, place + segment.elements() * size))
        traffic.receive(piece.tile, piece.bytes);
    }
  }
  return traffic;
}

/// All tiles give and take what they hold of X or Y.
sparse::Traffic rows_moved(const Partition& partition, const EvenStorage& storage) {
  sparse::Traffic traffic(partition.tiles);
  traffic.send(0, storage.each());
  traffic.receive(0, storage.each());
  return traffic;
}

}  // namespace

Cost::Cost(const sparse::Shape& shape, std::uint64_t most_in_row, MachineCosts& costs)
    : shape_(shape),
      costs_(costs),
      steps_(costs),
      workers_(costs.machine().tile.contexts),
      blocks_({kMeasured, kMeasured, {workers_, kSettled}},
              [this](const auto& sizes) { return measure_blocks(sizes); }),
      rows_({kMeasured, {2, kFew}, kMeasured, kMeasured},
            [this](const auto& sizes) { return measure_elements(sizes); }),
      adding_({kMeasured, kMeasured, kMeasured, {1, kSettled}},
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

// --- what is measured: vertices of one tile
// -----------------------------------------------------

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
                                 assembly.list(0, std::move(list), "list"), buffer(rows * row)};
    return block_product(assembly, shape_, TileId{0}, buffers, word(rows), width);
  });
}

/// Rows of every worker, nonzeros of each, passes, words of a pass.
std::uint64_t Cost::measure_elements(const FittedCost::Sizes& sizes) {
  const std::uint32_t rows = word(sizes[0]);
  const std::uint32_t nonzeros = word(sizes[1] - 1);
  const std::uint32_t passes = word(sizes[2]);
  const std::uint32_t words = word(sizes[3]);
  const std::uint32_t all = rows * workers_;
  const std::uint32_t padded = round_up(nonzeros, 2U);
  std::vector<std::uint16_t> list(std::size_t{all} * (1 + nonzeros), 0);
  std::vector<ElementPart> parts;
  for (std::uint32_t w = 0; w < workers_; ++w) {
    const std::uint32_t first = w * rows;
    for (std::uint32_t i = 0; i < rows; ++i)
      list[std::size_t{first + i} * (1 + nonzeros)] = static_cast<std::uint16_t>(nonzeros);
    parts.push_back({first * (1 + nonzeros), first * padded, {first, rows, 0, passes}});
  }
  const std::uint32_t width = passes * words * shape_.lanes();
  return vertex([&](Assembly& assembly, const auto& buffer) {
    const ProductBuffers buffers{buffer(std::uint64_t{all} * padded * shape_.bytes()),
                                 buffer(std::uint64_t{width} * shape_.bytes()),
                                 assembly.list(0, std::move(list), "list"),
                                 buffer(std::uint64_t{all} * width * shape_.partial_bytes())};
    return element_product(assembly, shape_, TileId{0}, buffers, width, words, parts);
  });
}

/// Segments of every worker, chunks and units of each, partials; sizes are one more.
std::uint64_t Cost::measure_adding(const FittedCost::Sizes& sizes) {
  const std::uint64_t segments = sizes[0];
  const std::uint64_t chunks = sizes[1] - 1;
  const std::uint64_t units = sizes[2] - 1;
  const std::uint32_t partials = word(sizes[3] - 1);
  const std::uint64_t bytes = chunks * 64 + units * 16;
  ReducingWorker worker;
  for (std::uint64_t s = 0; s < segments; ++s) {
    worker.parts.push_back(
        {0, bytes, partials, word(chunks), word(units), bytes / shape_.output_runs()});
  }
  return vertex([&](Assembly& assembly, const auto& buffer) {
    return adding_vertex(assembly, shape_, TileId{0}, {buffer(bytes * (partials + 1))},
                         {buffer(segments * bytes * 2)}, std::vector(workers_, worker));
  });
}

/// One tile's squares of X or Y, whatever the cuts.
std::uint64_t Cost::turning(const Partition& partition, Direction direction) {
  std::uint64_t& cycles = turning_[direction];
  if (cycles > 0) return cycles;
  const bool x = direction == Direction::to_blocks;
  const EvenStorage storage = x ? partition.x_storage() : partition.y_storage();
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

// --- what follows from it
// -------------------------------------------------------------------------

ElementWork Cost::element_work(std::uint32_t words, std::uint64_t most_in_row) {
  constexpr std::uint64_t kRows = 4, kMoreRows = 12;
  const auto cycles = [&](std::uint64_t rows, std::uint64_t nonzeros, std::uint64_t passes) {
    return rows_({rows, nonzeros + 1, passes, words});
  };
  ElementWork work;
  for (std::uint64_t k = 0; k <= most_in_row; ++k)
    work.row.push_back((cycles(kMoreRows, k, 1) - cycles(kRows, k, 1)) / (kMoreRows - kRows));
  const std::uint64_t rows = kRows * work.row.front();
  work.pass = cycles(kRows, 0, 2) - cycles(kRows, 0, 1) - rows;
  work.once = cycles(kRows, 0, 1) - work.pass - rows;
  return work;
}

std::uint64_t Cost::product(std::uint64_t rows, std::uint64_t blocks, std::uint32_t width) {
  if (shape_.block == 1) {
    const std::uint32_t words = width * shape_.bytes() / 8;
    const std::uint64_t in_row = ceil_div(blocks, rows);
    std::uint64_t cycles = 0;
    for (const auto& [work, passes] :
         {std::pair(&elements_->wide, words / 2), {&elements_->narrow, words % 2}}) {
      const std::uint64_t row = work->row[std::min(in_row, work->row.size() - 1)];
      if (passes > 0) cycles += work->cycles(ceil_div<std::uint64_t>(rows, workers_) * row, passes);
    }
    return cycles;
  }
  auto found = by_width_.find(width);
  if (found == by_width_.end()) {
    const auto at = [&](std::int64_t r, std::int64_t more) {
      return static_cast<std::int64_t>(
          blocks_({static_cast<std::uint64_t>(r), static_cast<std::uint64_t>(more) + 1,
                   width / shape_.unroll()}));
    };
    const std::int64_t few = at(kFew, kFew);
    found = by_width_.emplace(width, BlockCost{few, at(kMany, kFew) - few, at(kFew, kMany) - few})
                .first;
  }
  const BlockCost& cost = found->second;
  const auto r = static_cast<std::int64_t>(rows);
  const auto more = static_cast<std::int64_t>(blocks) - r;
  const std::int64_t cycles =
      cost.few + ((r - kFew) * cost.rows + (more - kFew) * cost.blocks) / (kMany - kFew);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(cycles, 0));
}

const Cost::Adding& Cost::adding(std::uint64_t partials) {
  const auto found = by_partials_.find(partials);
  if (found != by_partials_.end()) return found->second;
  const auto at = [&](std::uint64_t segments, std::uint64_t chunks, std::uint64_t units) {
    return adding_({segments, chunks + 1, units + 1, partials + 1});
  };
  const std::uint64_t one = at(1, 0, 0);
  const Adding cost{2 * one - at(2, 0, 0), at(2, 0, 0) - one, (at(1, 40, 0) - at(1, 8, 0)) / 32,
                    (at(1, 0, 40) - at(1, 0, 8)) / 32};
  return by_partials_.emplace(partials, cost).first->second;
}

std::uint64_t Cost::adding(std::uint64_t words, std::uint64_t partials) {
  const Adding& cost = adding(partials);
  const std::uint64_t chunks = ceil_div<std::uint64_t>(ceil_div<std::uint64_t>(words, workers_), 4);
  return cost.once + cost.segment + chunks * cost.chunk;
}

/// The longest computing of any tile.
std::uint64_t Cost::products(const Partition& partition) {
  std::uint64_t most = 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> done;  // layer and width
  for (const Part& part : partition.parts) {
    if (!done.insert({part.layer, part.width()}).second) continue;
    for (const Share& share : partition.layer(part).shares)
      most = std::max(most, product(part, share));
  }
  return most;
}

std::uint64_t Cost::product(const Part& part, const Share& share) {
  if (shape_.block > 1) return product(share.rows.size(), share.blocks(), part.width());
  const std::uint32_t words = part.width() * shape_.bytes() / 8;
  std::uint64_t cycles = 0;
  for (const auto& [work, passes] :
       {std::pair(&elements_->wide, words / 2), {&elements_->narrow, words % 2}}) {
    std::uint64_t most = 0;
    if (passes == 0) continue;
    for (const WorkerShare& worker : divide(share, *work, passes, workers_))
      most = std::max(most, worker.cycles);
    cycles += most;
  }
  return cycles;
}

/// The longest adding of any tile.
std::uint64_t Cost::additions(const Partition& partition, const Reduction& reduction) {
  std::vector<std::uint64_t> cycles(partition.tiles, 0);
  for (const Destination& to : reduction.destinations()) {
    std::uint64_t most = 0;
    for (const ReducingWorker& worker : reduction.workers(to, workers_)) {
      std::uint64_t sum = 0;
      for (const SegmentPart& part : worker.parts) {
        const Adding& cost = adding(part.sources);
        sum += cost.segment + part.chunks * cost.chunk + part.units * cost.unit;
      }
      most = std::max(most, sum);
    }
    cycles[to.tile] += adding(1).once + most;
  }
  return *std::max_element(cycles.begin(), cycles.end());
}

Prediction Cost::predict(const Partition& partition) {
  const Reduction reduction(partition);
  const bool blocks = partition.deal.blocks() > 0;
  const bool turns = partition.shape.relayouts() && blocks;
  Prediction sum;
  const auto add = [&](const sparse::Traffic& traffic, std::uint64_t vertices) {
    steps_.add(sum, {traffic.most(costs_), vertices});
  };
  if (turns)
    add(rows_moved(partition, partition.x_storage()), turning(partition, Direction::to_blocks));
  if (blocks) add(inputs_moved(partition), products(partition));
  const std::uint64_t added = reduction.direct() ? 0 : additions(partition, reduction);
  if (blocks) add(partials_moved(partition, reduction), added);
  if (!blocks) steps_.add(sum, {std::nullopt, added});
  if (reduction.spreads()) add(sums_moved(partition, reduction), 0);
  if (turns) {
    steps_.add(sum, {std::nullopt, turning(partition, Direction::to_rows)});
    add(rows_moved(partition, partition.y_storage()), 0);
  }
  return sum;
}

}  // namespace tessera::spmm_static
