#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "kernels/spmm_dynamic/pricer.h"

namespace tessera::spmm_dynamic {

namespace {

/// What a cell computes between two steps of the pools.
struct Turn {
  std::uint64_t cycles;  ///< about
  std::uint32_t partition, home;
};

/// Pools of a pattern as they are after some steps.
class Travelled {
 public:
  Travelled(const Parts& parts, const sparse::BlockMatrix& w, const Packing& packing)
      : parts_(parts), w_(w), packing_(packing), travel_(travel(parts.pool, packing.pools)) {
    for (const std::vector<Visit>& visits : travel_.visits)
      for (const Visit& visit : visits) steps_[visit.group] = visit.step;
  }

  [[nodiscard]] std::uint32_t steps() const { return travel_.load.y_steps + travel_.load.x_steps; }

  /// By step those of the cells that have something to do.
  [[nodiscard]] std::vector<std::vector<Turn>> turns(ProductTimes& products) const {
    std::vector<std::vector<Turn>> turns(steps() + 1);
    for (std::uint32_t partition = 0; partition < travel_.visits.size(); ++partition) {
      const std::vector<Visit>& visits = travel_.visits[partition];
      for (std::size_t i = 0; i < visits.size();) {
        const Visit first = visits[i];
        Portion portion;
        for (; i < visits.size() && visits[i].step == first.step; ++i)
          portion += portion_of(parts_.pool, *visits[i].group);
        turns[first.step].push_back({products(parts_.pool, portion), partition, first.home});
      }
    }
    return turns;
  }

  /// Sub-groups that were computed before this step are done.
  [[nodiscard]] std::vector<std::byte> pool(std::uint32_t home, std::uint32_t step) const {
    const std::uint32_t parts_x = parts_.grid().x;
    std::vector<std::byte> bytes =
        pool_bytes(parts_.bytes, parts_.pool, w_, packing_, home % parts_x, home / parts_x);
    std::size_t at = sizeof(std::uint16_t) * parts_.pool.pool_head_words();
    for (const SubGroup& group : packing_.pools[home].groups) {
      if (steps_.at(&group) < step)
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), sizeof(std::uint16_t),
                    std::byte{0xff});
      at += sizeof(std::uint16_t) * group.meta_words;
    }
    return bytes;
  }

  /// The pool of the longest list.
  [[nodiscard]] std::uint32_t longest() const {
    const auto most = std::max_element(
        packing_.pools.begin(), packing_.pools.end(),
        [](const Pool& a, const Pool& b) { return a.groups.size() < b.groups.size(); });
    return static_cast<std::uint32_t>(most - packing_.pools.begin());
  }

 private:
  const Parts& parts_;
  const sparse::BlockMatrix& w_;
  const Packing& packing_;
  Travel travel_;
  std::map<const SubGroup*, std::uint32_t> steps_;  ///< after which each is computed
};

}  // namespace

std::uint64_t Pricer::product_cycles(const Parts& parts, std::uint32_t partition,
                                     const std::vector<std::byte>& pool) {
  plan::Description probe(1);
  const auto array = [&](std::uint64_t bytes) {
    return probe.array({"sample", [bytes](Tile) { return bytes; }});
  };
  const program::BufferId held =
      probe.array({"sample", [&pool](Tile) { return pool.size(); }, false,
                   [&pool](Tile, std::span<std::byte> into) {
                     std::copy(pool.begin(), pool.end(), into.begin());
                   }});
  const PoolPlaces places{held, array(parts.bytes.x), array(parts.bytes.y), array(kFlagBytes)};
  const std::uint32_t codelet = code_.sparse.in(*probe.code(), product_codelet(parts.shape()));
  const Cell cell{partition % parts.grid().x, partition / parts.grid().x, 0};
  probe.compute("multiply", 1, [&](Tile, plan::Calls& calls) {
    calls.add(product(codelet, parts.pool, parts.bytes.meta, cell, places));
  });
  return pricing_.calls(probe, 0);
}

/// How workers of unequal work share a tile is the machine's to say.
Decided Pricer::decided(const Parts& parts, const sparse::BlockMatrix& w, const Packing& packing) {
  constexpr std::size_t kAsked = 4;
  const Travelled pools(parts, w, packing);
  std::vector<std::uint64_t> cycles;  // by step
  for (std::vector<Turn>& turns : pools.turns(products_)) {
    const auto step = static_cast<std::uint32_t>(cycles.size());
    const std::size_t asked = std::min(kAsked, turns.size());
    std::partial_sort(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(asked),
                      turns.end(), [](const Turn& a, const Turn& b) {
                        return std::tie(b.cycles, a.partition) < std::tie(a.cycles, b.partition);
                      });
    turns.resize(asked);
    std::uint64_t& most = cycles.emplace_back(0);
    for (const Turn& turn : turns)
      most = std::max(most, product_cycles(parts, turn.partition, pools.pool(turn.home, step)));
  }
  const std::uint32_t steps = pools.steps();
  const std::uint64_t walk = product_cycles(parts, 0, pools.pool(pools.longest(), UINT32_MAX));
  for (std::uint64_t& step : cycles) step = std::max(step, walk);
  Decided decided{cycles.front(), 0, packing.load.y_steps, packing.load.x_steps};
  if (steps > 0)
    decided.spilled =
        (std::accumulate(cycles.begin() + 1, cycles.end(), std::uint64_t{0}) + steps / 2) / steps;
  return decided;
}

}  // namespace tessera::spmm_dynamic
