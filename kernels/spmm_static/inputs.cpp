#include <algorithm>

#include "kernels/spmm_static/steps.h"

namespace tessera::spmm_static {

namespace {

/// Tiles of a part (by share) that need a block column, and where it lies in what they need.
struct Taker {
  std::uint32_t share;
  std::uint32_t place;
};

/// By block column.
std::vector<std::vector<Taker>> takers_of(const Partition& partition, const Part& part) {
  const Layer& layer = partition.layer(part);
  std::vector<std::vector<Taker>> takers(partition.block_columns);
  for (std::uint32_t s = 0; s < layer.shares.size(); ++s) {
    const auto& columns = layer.shares[s].columns;
    for (std::uint32_t i = 0; i < columns.size(); ++i) takers[columns[i]].push_back({s, i});
  }
  return takers;
}

void add_dense_rows(program::Exchange& exchange, const Partition& partition, const BuffersOfRows& x,
                    const TilesOfParts& tiles, std::uint32_t p) {
  const sparse::Shape& shape = partition.shape;
  const Part& part = partition.parts[p];
  const auto takers = takers_of(partition, part);
  const std::uint64_t depth = shape.x_depth();
  const std::uint64_t bytes = part.width() * depth * shape.bytes();
  const std::uint64_t runs = shape.block / depth;
  for (std::uint64_t row = 0; row < takers.size() * runs; ++row) {
    const auto& wanted = takers[row / runs];
    if (wanted.empty()) continue;
    std::size_t from = partition.x.size() - 1;
    while (partition.x[from].first > row * depth) --from;
    const auto& [before, storage] = partition.x[from];
    const std::uint64_t first =
        ((row * depth - before) * partition.columns + part.begin * depth) * shape.bytes();
    sparse::gather(exchange, storage, x[from], first, first + bytes, [&](std::uint32_t offset) {
      std::vector<Place> to;
      for (const Taker& taker : wanted) {
        const std::uint64_t place = taker.place * runs + row % runs;
        to.push_back({tiles[p][taker.share].x, word(place * bytes + offset)});
      }
      return to;
    });
  }
}

/// The values of W go to the tiles of all parts; where parts have layers of their own they are cut
/// at the bounds of all shares.
void add_values(program::Exchange& exchange, const Partition& partition,
                const std::vector<BufferId>& values, const TilesOfParts& tiles) {
  const EvenStorage storage = partition.value_storage();
  const std::uint64_t size = partition.shape.bytes();
  const auto value = [&](std::uint64_t block) { return partition.deal.value_begin[block] * size; };
  std::vector<std::uint64_t> bounds;
  for (const Layer& layer : partition.layers) {
    for (const Share& share : layer.shares) bounds.push_back(value(share.first));
  }
  bounds.push_back(storage.bytes());
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  std::vector<std::size_t> at(partition.parts.size(), 0);  // share of each part
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    std::vector<Place> to;
    for (std::size_t p = 0; p < at.size(); ++p) {
      const auto& shares = partition.layer(partition.parts[p]).shares;
      while (value(shares[at[p]].last) <= bounds[i]) ++at[p];
      const std::uint64_t skipped = bounds[i] - value(shares[at[p]].first);
      to.push_back({tiles[p][at[p]].values, word(skipped)});
    }
    sparse::gather(exchange, storage, values, bounds[i], bounds[i + 1], [&](std::uint32_t offset) {
      std::vector<Place> moved = to;
      for (Place& place : moved) place.offset += offset;
      return moved;
    });
  }
}

}  // namespace

program::Exchange inputs(const Partition& partition, const BuffersOfRows& x,
                         const std::vector<BufferId>& values, const TilesOfParts& tiles) {
  program::Exchange exchange{partition.shares_values() ? "x and w" : "x", {}};
  for (std::uint32_t p = 0; p < partition.parts.size(); ++p) {
    add_dense_rows(exchange, partition, x, tiles, p);
  }
  if (partition.shares_values()) add_values(exchange, partition, values, tiles);
  return exchange;
}

}  // namespace tessera::spmm_static
