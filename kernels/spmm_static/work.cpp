#include "kernels/spmm_static/work.h"

#include <algorithm>
#include <set>

#include "sim/base/ranges.h"

namespace tessera::spmm_static {

std::vector<Cell> cells_of(const Partition& partition) {
  std::vector<Cell> cells(partition.tiles);
  for (const Part& part : partition.parts)
    for (const Share& share : partition.layer(part).shares)
      cells[part.first_tile + share.place] = {&part, &share};
  return cells;
}

void Representatives::add(std::size_t count, const std::function<std::uint64_t(Tile)>& measure) {
  std::vector<std::pair<std::uint64_t, Tile>> all;
  for (Tile tile = 0; tile < all_; ++tile)
    if (const std::uint64_t its = measure(tile); its > 0) all.emplace_back(its, tile);
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()));
  std::partial_sort(all.begin(), end, all.end(), [](const auto& a, const auto& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  });
  for (auto each = all.begin(); each != end; ++each) add_once(tiles_, each->second);
}

Work::Work(const Partition& of, const sparse::BlockMatrix& matrix)
    : partition(of),
      w(matrix),
      reduction(of),
      cells(cells_of(of)),
      destinations(of.tiles),
      sent(of.tiles) {
  for (const Destination& to : reduction.destinations()) destinations[to.tile].push_back(&to);
  find_value_bounds();
  if (reduction.spreads()) find_sent();
}

/// Finds the cuts of W's values with which tiles of several parts pull the same pieces.
void Work::find_value_bounds() {
  for (const Layer& layer : partition.layers)
    for (const Share& share : layer.shares)
      value_bounds.push_back(partition.deal.value_begin[share.first] * partition.shape.bytes());
  value_bounds.push_back(partition.value_storage().bytes());
  value_bounds = sorted_once(std::move(value_bounds));
}

void Work::find_sent() {
  const std::uint64_t size = partition.shape.bytes();
  for (Tile tile = 0; tile < partition.tiles; ++tile)
    for_destinations(tile, [&](const Destination& from, std::uint64_t, std::uint64_t before) {
      if (from.home) return;
      for (const Segment& segment : from.segments) {
        const std::uint64_t at = reduction.place(segment) * size;
        const std::uint64_t bytes = segment.elements() * size;
        for (const auto& piece : partition.y_storage().pieces(at, at + bytes))
          sent[piece.tile].push_back({tile, before + piece.at, piece.offset, piece.bytes});
        before += bytes;
      }
    });
}

std::uint64_t Work::x_bytes(Tile tile) const {
  const auto& [part, share] = cells[tile];
  return share == nullptr ? 0 : partition.x_bytes(*part, *share);
}

std::uint64_t Work::value_bytes(Tile tile) const {
  return round_up(values(tile).size() * partition.shape.bytes(), std::uint64_t{8});
}

std::uint64_t Work::partial_bytes(Tile tile) const {
  const auto& [part, share] = cells[tile];
  return share == nullptr ? 0 : share->rows.size() * partition.row_bytes(*part);
}

std::uint64_t Work::received_bytes(Tile tile) const {
  std::uint64_t sum = 0;
  for (const Destination* to : destinations[tile]) sum += to->received;
  return sum;
}

std::uint64_t Work::sum_bytes(Tile tile) const {
  std::uint64_t sum = 0;
  for (const Destination* to : destinations[tile])
    if (!to->home) sum += to->elements * partition.shape.bytes();
  return sum;
}

Interval Work::values(Tile tile) const {
  const Share* const share = cells[tile].share;
  if (share == nullptr) return {0, 0};
  return {partition.deal.value_begin[share->first], partition.deal.value_begin[share->last]};
}

std::vector<ElementShares> Work::element_shares(const Cell& cell, std::uint32_t workers) const {
  const std::uint32_t all = cell.part->width() * partition.shape.bytes() / 8;
  std::vector<ElementShares> shares;
  for (const auto& [words, passes] : {std::pair{2U, all / 2}, std::pair{1U, all % 2}})
    if (passes > 0)
      shares.push_back({words, divide(*cell.share, partition.work->of(words), passes, workers)});
  return shares;
}

/// Cycles of single elements; for blocks a measure that grows with their cycles.
std::uint64_t Work::multiplying(const Cell& cell, std::uint32_t workers) const {
  if (partition.work == nullptr)
    return (cell.share->blocks() + cell.share->rows.size()) * cell.part->width();
  std::uint64_t cycles = 0;
  for (const ElementShares& shares : element_shares(cell, workers)) cycles += shares.divided.cycles;
  return cycles;
}

/// Loop iterations of the busiest worker, summed over the tile's destinations.
std::uint64_t Work::adding(Tile tile, std::uint32_t workers) const {
  std::uint64_t sum = 0;
  for (const Destination* to : destinations[tile]) {
    std::uint64_t most = 0;
    for (const ReducingWorker& worker : reduction.workers(*to, workers)) {
      std::uint64_t turns = 1;
      for (const SegmentPart& part : worker.parts)
        turns += 1 + (part.sources + std::uint64_t{1}) * (part.chunks + part.units);
      most = std::max(most, turns);
    }
    sum += most;
  }
  return sum;
}

/// Twice the bytes that a tile receives, but once those that its pair's other tile receives too.
std::uint64_t Work::taking(Tile tile) const {
  const std::uint64_t values = partition.shares_values() ? value_bytes(tile) : 0;
  const std::uint64_t all = 2 * (x_bytes(tile) + values);
  const Tile other = tile ^ 1U;
  if (all == 0 || other >= partition.tiles || cells[other].part != cells[tile].part) return all;
  std::vector<std::uint32_t> common;
  std::ranges::set_intersection(cells[tile].share->columns, cells[other].share->columns,
                                std::back_inserter(common));
  return all - common.size() * partition.block_bytes(*cells[tile].part);
}

std::vector<Tile> Work::representatives(std::uint32_t workers) const {
  Representatives most(partition.tiles);
  std::set<std::pair<std::uint32_t, std::uint32_t>> alike;  // layer and width of parts
  std::set<const Part*> first;                              // one of each alike
  for (const Part& part : partition.parts)
    if (alike.insert({part.layer, part.width()}).second) first.insert(&part);
  // One per width: measures by blocks and width are not times, narrow parts take longer per column.
  std::set<std::uint32_t> widths;
  for (const Part& part : partition.parts)
    if (widths.insert(part.width()).second)
      most.add(1, [&](Tile tile) {
        const auto& [its, share] = cells[tile];
        return first.contains(its) && share != nullptr && its->width() == part.width()
                   ? multiplying(cells[tile], workers)
                   : 0;
      });
  most.add(1, [&](Tile tile) { return taking(tile); });
  most.add(1, [&](Tile tile) { return partial_bytes(tile); });
  most.add(1, [&](Tile tile) { return received_bytes(tile); });
  if (!reduction.direct()) most.add(1, [&](Tile tile) { return adding(tile, workers); });
  most.add(1, [&](Tile tile) { return sum_bytes(tile); });
  most.add(1, [&](Tile tile) {
    std::uint64_t bytes = 0;
    for (const Sent& piece : sent[tile]) bytes += piece.bytes;
    return bytes;
  });
  return most.tiles();
}

}  // namespace tessera::spmm_static
