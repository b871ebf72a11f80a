#include <algorithm>

#include "kernels/spmm_static/steps.h"

namespace tessera::spmm_static {

namespace {

Takers takers_of(const Partition& partition, const Part& part,
                 const std::vector<TileBuffers>& tiles) {
  const Layer& layer = partition.layer(part);
  Takers takers(partition.block_columns);
  for (std::uint32_t s = 0; s < layer.shares.size(); ++s) {
    const auto& columns = layer.shares[s].columns;
    for (std::uint32_t i = 0; i < columns.size(); ++i)
      takers[columns[i]].push_back({tiles[s].x, i});
  }
  return takers;
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

void add_dense_rows(program::Exchange& exchange, const Partition& partition, const Part& part,
                    const std::vector<DenseRows>& from, const BuffersOfRows& x,
                    const Takers& takers) {
  const sparse::Shape& shape = partition.shape;
  const std::uint64_t depth = shape.x_depth();
  const std::uint64_t bytes = part.width() * depth * shape.bytes();
  const std::uint64_t runs = shape.block / depth;
  for (std::uint64_t row = 0; row < takers.size() * runs; ++row) {
    const auto& wanted = takers[row / runs];
    if (wanted.empty()) continue;
    std::size_t operand = from.size() - 1;
    while (from[operand].first > row * depth) --operand;
    const auto& [before, storage] = from[operand];
    const std::uint64_t first =
        ((row * depth - before) * partition.columns + part.begin * depth) * shape.bytes();
    sparse::gather(exchange, storage, x[operand], first, first + bytes, [&](std::uint32_t offset) {
      std::vector<Place> to;
      for (const Taker& taker : wanted) {
        const std::uint64_t place = taker.place * runs + row % runs;
        to.push_back({taker.buffer, word(place * bytes + offset)});
      }
      return to;
    });
  }
}

program::Exchange inputs(const Partition& partition, const BuffersOfRows& x,
                         const std::vector<BufferId>& values, const TilesOfParts& tiles) {
  program::Exchange exchange{values.empty() ? "x" : "x and w", {}};
  for (std::uint32_t p = 0; p < partition.parts.size(); ++p) {
    const Part& part = partition.parts[p];
    add_dense_rows(exchange, partition, part, partition.x, x, takers_of(partition, part, tiles[p]));
  }
  if (!values.empty()) add_values(exchange, partition, values, tiles);
  return exchange;
}

}  // namespace tessera::spmm_static
