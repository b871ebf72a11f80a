#include "kernels/spmm_tilewise/storage.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::spmm_tilewise {

namespace {

constexpr std::uint32_t kGrain = 64;  // bytes of W: less is not worth a descriptor

std::vector<std::uint64_t> group_begins(const Problem& problem, const Plan& plan) {
  std::vector<std::uint64_t> begins{0};
  for (const Group& group : plan.groups) {
    begins.push_back(begins.back() +
                     group.rows.size() * group.positions() * problem.block.input_bytes);
  }
  return begins;
}

}  // namespace

WeightStorage::WeightStorage(const Problem& problem, const Plan& plan, const TilePattern& pattern,
                             const DenseWeights& w, std::uint32_t tiles)
    : problem_(problem),
      plan_(plan),
      pattern_(pattern),
      w_(w),
      begin_(group_begins(problem, plan)),
      storage_(begin_.back(), kGrain, tiles) {}

std::uint64_t WeightStorage::block_bytes(const Group& group) const {
  return group.positions() * problem_.block.x_bytes();
}

Interval WeightStorage::bytes_of(std::uint32_t group, std::uint32_t cut) const {
  const Group& of = plan_.groups[group];
  const Interval depth = depth_blocks(of, problem_, plan_.cuts, cut);
  return {begin_[group] + depth.begin * block_bytes(of),
          begin_[group] + depth.end * block_bytes(of)};
}

double WeightStorage::value(std::uint32_t group, std::uint64_t element) const {
  const Group& of = plan_.groups[group];
  const ColumnTile& tile = pattern_.tiles[of.tile];
  const std::uint64_t depth = problem_.block.depth;
  const std::uint64_t vector = element / depth;
  const std::uint32_t row = of.rows[vector / of.positions() * depth + element % depth];
  const std::uint32_t column = tile.columns[of.columns.begin + vector % of.positions()];
  // Rows that fill a block, or have many single elements.
  const bool kept = std::binary_search(tile.rows.begin(), tile.rows.end(), row);
  if (!kept && (row >= w_.rows || !pattern_.is_single(row, column))) return 0;
  return static_cast<double>(w_.at(row, column));
}

void WeightStorage::fill(std::uint64_t first, std::span<std::byte> into) const {
  const std::uint64_t element = problem_.block.input_bytes;
  auto next = std::upper_bound(begin_.begin(), begin_.end(), first);
  for (std::uint64_t at = first; at < first + into.size(); at += element) {
    while (*next <= at) ++next;
    const auto group = static_cast<std::uint32_t>(next - begin_.begin()) - 1;
    data::store_element(problem_.block.input, into, (at - first) / element,
                        value(group, (at - begin_[group]) / element));
  }
}

}  // namespace tessera::spmm_tilewise
