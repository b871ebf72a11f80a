#include "kernels/spmm_static/cost.h"

#include <array>
#include <set>

#include "kernels/spmm_static/moved.h"

namespace tessera::spmm_static {

using sparse::Direction;

namespace {

// Sizes between which slopes are taken; loops run as they do for long from so many on.
constexpr std::int64_t kFew = 8, kMany = 40;

}  // namespace

std::uint64_t Cost::product(std::uint64_t rows, std::uint64_t blocks, std::uint32_t width) {
  if (shape_.block == 1) {
    const std::uint32_t words = width * shape_.bytes() / 8;
    const std::uint64_t in_row = ceil_div(blocks, rows);
    std::uint64_t cycles = 0;
    for (const auto& [work, passes] :
         {std::pair(&elements_->wide, words / 2), {&elements_->narrow, words % 2}}) {
      const WorkerCycles& row = work->row[std::min(in_row, work->row.size() - 1)];
      std::vector<WorkerCycles> shares;
      for (std::uint32_t w = 0; w < workers_; ++w)
        shares.push_back(passes * (work->pass + (rows + w) / workers_ * row));
      if (passes > 0) cycles += work->once + together(shares);
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
  const auto slopes = [&](std::uint32_t busy) {
    const auto at = [&](std::uint64_t segments, std::uint64_t chunks, std::uint64_t units) {
      return adding_({busy, segments, chunks + 1, units + 1, partials + 1});
    };
    const std::uint64_t one = at(1, 0, 0);
    return std::array{2 * one - at(2, 0, 0), at(2, 0, 0) - one, (at(1, 40, 0) - at(1, 8, 0)) / 32,
                      (at(1, 0, 40) - at(1, 0, 8)) / 32};
  };
  const auto full = slopes(workers_);
  const auto alone = slopes(1);
  const Adding cost{full[0], {full[1], alone[1]}, {full[2], alone[2]}, {full[3], alone[3]}};
  return by_partials_.emplace(partials, cost).first->second;
}

std::uint64_t Cost::adding(std::uint64_t words, std::uint64_t partials) {
  const Adding& cost = adding(partials);
  const std::uint64_t chunks = ceil_div<std::uint64_t>(ceil_div<std::uint64_t>(words, workers_), 4);
  return cost.once + (cost.segment + chunks * cost.chunk).full;
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
    if (passes > 0) cycles += tile_cycles(*work, divide(share, *work, passes, workers_));
  }
  return cycles;
}

/// The longest adding of any tile.
std::uint64_t Cost::additions(const Partition& partition, const Reduction& reduction) {
  std::vector<std::uint64_t> cycles(partition.tiles, 0);
  for (const Destination& to : reduction.destinations()) {
    std::vector<WorkerCycles> workers;
    for (const ReducingWorker& worker : reduction.workers(to, workers_)) {
      WorkerCycles& sum = workers.emplace_back();
      for (const SegmentPart& part : worker.parts) {
        const Adding& cost = adding(part.sources);
        sum += cost.segment + part.chunks * cost.chunk + part.units * cost.unit;
      }
    }
    cycles[to.tile] += adding(1).once + together(workers);
  }
  return *std::max_element(cycles.begin(), cycles.end());
}

void Cost::add_rows_in(Prediction& sum, const Partition& partition, const EvenStorage& storage) {
  steps_.add(sum, {rows_moved(partition, storage).most(costs_),
                   turning(partition, storage, Direction::to_blocks)});
}

Prediction Cost::predict(const Partition& partition) {
  const Reduction reduction(partition);
  const bool blocks = partition.deal.blocks() > 0;
  const bool turns = partition.shape.relayouts() && blocks;
  Prediction sum;
  const auto add = [&](const sparse::Traffic& traffic, std::uint64_t vertices) {
    steps_.add(sum, {traffic.most(costs_), vertices});
  };
  if (turns) add_rows_in(sum, partition, partition.x_storage());
  if (blocks) add(inputs_moved(partition), products(partition));
  const EvenStorage y = partition.y_storage();
  const std::uint64_t turned = turns ? turning(partition, y, Direction::to_rows) : 0;
  const std::uint64_t added = reduction.direct() ? turned : additions(partition, reduction);
  if (blocks) add(partials_moved(partition, reduction), added);
  if (!blocks) steps_.add(sum, {std::nullopt, added});
  if (reduction.spreads()) add(sums_moved(partition, reduction), turned);
  if (turns) {
    // Behind an exchange rows are turned in its superstep, behind sums in one of their own.
    if (!reduction.direct() && !reduction.spreads()) steps_.add(sum, {std::nullopt, turned});
    add(rows_moved(partition, y), 0);
  }
  return sum;
}

}  // namespace tessera::spmm_static
