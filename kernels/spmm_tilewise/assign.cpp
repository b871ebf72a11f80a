#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "kernels/spmm_tilewise/plan.h"

namespace tessera::spmm_tilewise {

namespace {

std::uint64_t cycles(const GroupCost& cost, std::uint32_t panels) {
  return cost.fixed + panels * cost.panel;
}

/// Machine tiles that a group needs to finish by `time`; panels + 1 if a single panel takes longer.
std::uint64_t tiles_for(const GroupCost& cost, std::uint32_t panels, std::uint64_t time) {
  if (time < cycles(cost, 1)) return std::uint64_t{panels} + 1;
  const std::uint64_t each = (time - cost.fixed) / std::max<std::uint64_t>(cost.panel, 1);
  return ceil_div<std::uint64_t>(panels, each);
}

/// Gives each group the tiles, rounded up to the grain, with which all groups finish at about the
/// same time.
std::vector<Job> own_tiles(const std::vector<GroupCost>& costs, std::uint32_t panels,
                           std::uint32_t tiles, std::uint32_t grain) {
  const auto is_enough = [&](std::uint64_t time) {
    std::uint64_t sum = 0;
    for (const GroupCost& cost : costs) {
      const std::uint64_t wanted = tiles_for(cost, panels, time);
      if (wanted > panels) return false;
      sum += round_up<std::uint64_t>(wanted, grain);
    }
    return sum <= tiles;
  };
  std::uint64_t low = 0;
  std::uint64_t high = 1;
  for (const GroupCost& cost : costs) high = std::max(high, cycles(cost, panels));
  while (low + 1 < high) {
    const std::uint64_t middle = (low + high) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  std::vector<Job> jobs;
  std::uint32_t first = 0;
  for (std::uint32_t g = 0; g < costs.size(); ++g) {
    const auto wanted = static_cast<std::uint32_t>(tiles_for(costs[g], panels, high));
    const EvenSplit split{panels, wanted};
    for (std::uint32_t i = 0; i < wanted; ++i) jobs.push_back({g, first + i, split.part(i)});
    first += round_up(wanted, grain);
  }
  return jobs;
}

/// Assigns groups to the least loaded tile, the longest group first.
std::vector<Job> several_groups(const std::vector<GroupCost>& costs, std::uint32_t panels,
                                std::uint32_t tiles) {
  std::vector<std::uint32_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::uint32_t g) { return cycles(costs[g], panels); });
  std::set<std::pair<std::uint64_t, std::uint32_t>> loads;  // (load, tile)
  for (std::uint32_t tile = 0; tile < tiles; ++tile) loads.emplace_hint(loads.end(), 0, tile);
  std::vector<Job> jobs;
  for (const std::uint32_t g : order) {
    auto least = loads.extract(loads.begin());
    least.value().first += cycles(costs[g], panels);
    jobs.push_back({g, least.value().second, {0, panels}});
    loads.insert(std::move(least));
  }
  std::ranges::stable_sort(jobs, {}, &Job::machine);
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
