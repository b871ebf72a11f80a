#include "kernels/spmm_tilewise/assign.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace tessera::spmm_tilewise {

namespace {

/// Machine tiles that each group needs to end by a time.
class Allotment {
 public:
  Allotment(const std::vector<GroupCost>& costs, std::uint32_t panels, std::uint32_t grain)
      : costs_(costs), panels_(panels), grain_(grain) {}

  /// Tiles of group `g`; more than there are panels if the time is too short for one.
  [[nodiscard]] std::uint64_t tiles(std::size_t g, std::uint64_t time) const {
    const GroupCost& cost = costs_[g];
    if (time < cost.fixed + cost.panel) return std::uint64_t{panels_} + 1;
    const std::uint64_t each = (time - cost.fixed) / std::max<std::uint64_t>(cost.panel, 1);
    return ceil_div<std::uint64_t>(panels_, each);
  }
  /// Together, those of a group rounded up to the grain.
  [[nodiscard]] std::uint64_t total(std::uint64_t time) const {
    std::uint64_t sum = 0;
    for (std::size_t g = 0; g < costs_.size(); ++g) {
      const std::uint64_t wanted = tiles(g, time);
      if (wanted > panels_) return ~std::uint64_t{0};
      sum += round_up<std::uint64_t>(wanted, grain_);
    }
    return sum;
  }
  /// The least time at which `most` tiles are enough.
  [[nodiscard]] std::uint64_t least_time(std::uint32_t most) const {
    std::uint64_t low = 0;
    std::uint64_t high = 1;
    for (const GroupCost& cost : costs_) high = std::max(high, cost.fixed + panels_ * cost.panel);
    while (low + 1 < high) {
      const std::uint64_t middle = (low + high) / 2;
      (total(middle) <= most ? high : low) = middle;
    }
    return high;
  }

 private:
  const std::vector<GroupCost>& costs_;
  std::uint32_t panels_;
  std::uint32_t grain_;
};

std::vector<Job> own_tiles(const std::vector<GroupCost>& costs, std::uint32_t panels,
                           std::uint32_t tiles, std::uint32_t grain) {
  const Allotment allotment(costs, panels, grain);
  const std::uint64_t time = allotment.least_time(tiles);
  std::vector<Job> jobs;
  std::uint32_t first = 0;
  for (std::uint32_t g = 0; g < costs.size(); ++g) {
    const auto wanted = static_cast<std::uint32_t>(allotment.tiles(g, time));
    const gemm::EvenSplit split{panels, wanted};
    for (std::uint32_t i = 0; i < wanted; ++i) jobs.push_back({g, first + i, split.part(i)});
    first += round_up(wanted, grain);
  }
  return jobs;
}

/// The longest group goes to the tile that has least to do, and so on.
std::vector<Job> several_groups(const std::vector<GroupCost>& costs, std::uint32_t panels,
                                std::uint32_t tiles) {
  std::vector<std::uint32_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto cost = [&](std::uint32_t g) { return costs[g].fixed + panels * costs[g].panel; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return cost(a) > cost(b); });
  std::set<std::pair<std::uint64_t, std::uint32_t>> loads;  // each with its tile
  for (std::uint32_t tile = 0; tile < tiles; ++tile) loads.emplace_hint(loads.end(), 0, tile);
  std::vector<Job> jobs;
  for (const std::uint32_t g : order) {
    auto least = loads.extract(loads.begin());
    least.value().first += cost(g);
    jobs.push_back({g, least.value().second, {0, panels}});
    loads.insert(std::move(least));
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.machine < b.machine; });
  return jobs;
}

}  // namespace

std::vector<Job> assign(const std::vector<GroupCost>& costs, std::uint32_t panels,
                        std::uint32_t tiles) {
  if (costs.size() > tiles) return several_groups(costs, panels, tiles);
  constexpr std::uint32_t kPair = 2;
  const bool pairs = kPair * costs.size() <= tiles && panels > 1;
  return own_tiles(costs, panels, tiles, pairs ? kPair : 1);
}

}  // namespace tessera::spmm_tilewise
