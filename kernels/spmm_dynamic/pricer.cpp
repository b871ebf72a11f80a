#include "kernels/spmm_dynamic/pricer.h"

#include <algorithm>
#include <tuple>

#include "sim/base/errors.h"

namespace tessera::spmm_dynamic {

Pricer::Pricer(const Shape& shape, MachineCosts& costs)
    : pricing_(costs), products_(shape, code_.sparse, pricing_) {}

std::optional<PoolShape> Pricer::pool(const Problem& problem, const Grid& grid) {
  if (grid.partitions() > kMostPartitions) return std::nullopt;
  PoolShape pool = pool_of(problem, grid, machine().tile.contexts);
  const Buffers bytes(problem, pool);
  if (bytes.x / kWord > kMostPlace || bytes.y / kWord > kMostPlace) return std::nullopt;
  pool.row_units = products_.row_units(grid.columns);
  return pool;
}

Decided Pricer::decided(const PoolShape& pool, const Load& load) {
  Decided decided{products_(pool, load.own), 0, load.y_steps, load.x_steps};
  const std::uint32_t steps = load.y_steps + load.x_steps;
  if (steps == 0) return decided;
  const std::uint64_t walks = products_(pool, {});
  decided.spilled = walks + (products_(pool, load.steps) - walks) / steps;
  return decided;
}

plan::Description Pricer::describe(const Problem& problem, const PoolShape& pool, const Load& load,
                                   std::uint64_t further_cycles) {
  plan::Description description(machine().tiles);
  Decided times = decided(pool, load);
  times.own += further_cycles;
  state_program(description, Parts(problem, pool), code_, times, nullptr);
  return description;
}

std::uint64_t Pricer::bound(const Problem& problem, const PoolShape& pool, const Load& load) {
  const Buffers bytes(problem, pool);
  const Grid& grid = pool.grid;
  const auto exchange = [&](std::uint64_t shared) {
    return pricing_.costs().exchange({0, 0, shared, grid.tiles()});
  };
  std::uint64_t in = 0;
  if (grid.x > 1) in += bytes.x;
  if (grid.z > 1) in += std::uint64_t{bytes.pool_slice} * grid.z;
  if (problem.shape.gradient && grid.y > 1) in += bytes.y;
  const std::uint64_t sums = std::uint64_t{bytes.part_chunks()} * kChunkBytes * (bytes.parts - 1);
  const std::uint64_t steps = load.y_steps + load.x_steps;
  return products_(pool, load.own) + exchange(in) + exchange(sums) + steps * exchange(bytes.pool);
}

Prediction Pricer::predict(const Problem& problem, const PoolShape& pool, const Load& load) {
  return pricing_.time(describe(problem, pool, load), representatives(pool.grid));
}

std::uint64_t Pricer::bytes(const Problem& problem, const PoolShape& pool, const Load& load) {
  const auto placed = pricing_.memory(describe(problem, pool, load), representatives(pool.grid));
  return placed ? program::total(*placed) : UINT64_MAX;
}

std::optional<Prediction> Pricer::predict(const Problem& problem, const PoolShape& pool,
                                          const std::vector<sparse::BlockMatrix>& patterns) {
  Prediction sum;
  try {
    for (const sparse::BlockMatrix& w : patterns) sum += predict(problem, pool, pack(w, pool).load);
  } catch (const UserError&) {
    return std::nullopt;
  }
  return sum;
}

/// The tiles of the partitions that have most to do with their own pools. How workers of unequal
/// work share a tile is the machine's to say.
std::vector<Tile> Pricer::fullest(const PoolShape& pool, const Packing& packing) {
  constexpr std::size_t kAsked = 4;
  struct Home {
    std::uint64_t cycles;
    std::uint32_t partition;
  };
  std::vector<Home> homes;
  for (std::uint32_t i = 0; i < packing.pools.size(); ++i) {
    Portion own;
    for (const SubGroup& group : packing.pools[i].groups)
      if (group.x + group.y * pool.grid.x == i) own += portion_of(pool, group);
    homes.push_back({products_(pool, own), i});
  }
  const std::size_t asked = std::min(kAsked, homes.size());
  std::partial_sort(homes.begin(), homes.begin() + static_cast<std::ptrdiff_t>(asked), homes.end(),
                    [](const Home& a, const Home& b) {
                      return std::tie(b.cycles, a.partition) < std::tie(a.cycles, b.partition);
                    });
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < asked; ++i)
    tiles.push_back(
        pool.grid.tile({homes[i].partition % pool.grid.x, homes[i].partition / pool.grid.x, 0}));
  return tiles;
}

Prediction Pricer::predict(const Problem& problem, const PoolShape& pool,
                           const sparse::BlockMatrix& w, const Packing& packing) {
  const Parts parts(problem, pool);
  const auto given = std::make_shared<Given>();
  given->held = 0;
  given->pool = [&](std::uint32_t /*run*/, std::uint32_t x, std::uint32_t y) {
    return pool_bytes(parts.bytes, pool, w, packing, x, y);
  };
  plan::Description description(machine().tiles);
  state_program(description, parts, code_, decided(pool, packing.load), given);
  std::vector<Tile> tiles = fullest(pool, packing);
  for (const Tile tile : representatives(pool.grid)) tiles.push_back(tile);
  return pricing_.time(description, tiles);
}

void Plans::add(const Grid& grid, const Load& expected) {
  const std::optional<PoolShape> pool = pricer_.pool(problem_, grid);
  if (!pool) return;
  options_.push_back({*pool, expected});
  bounds_.push_back(pricer_.bound(problem_, *pool, expected) +
                    (beside_.bound ? beside_.bound(grid) : 0));
}

std::optional<Plan> Plans::best(const std::vector<sparse::BlockMatrix>* patterns,
                                std::size_t judged) {
  const auto further = [this](Option& option) {
    if (!option.further) option.further = beside_.cycles ? beside_.cycles(option.pool.grid) : 0;
    return *option.further;
  };
  const double room = pricer_.machine().tile.sram_kib * 1024.0;
  plan::Space space;
  space.bounds = bounds_;
  space.least_bytes = [this](std::size_t i) -> std::uint64_t {
    const Buffers bytes(problem_, options_[i].pool);
    const std::uint64_t held = std::uint64_t{bytes.pool} + bytes.x + bytes.y;
    return beside_.bytes ? std::max(held, beside_.bytes(options_[i].pool.grid)) : held;
  };
  space.describe = [&](std::size_t i, std::uint32_t) {
    Option& option = options_[i];
    return pricer_.describe(problem_, option.pool, option.load, further(option));
  };
  space.tiles = [this](std::size_t i, std::uint32_t) {
    return representatives(options_[i].pool.grid);
  };
  space.reserved = static_cast<std::uint64_t>((1 - problem_.memory) * room);
  space.schedules = false;
  space.finalists = judged;
  if (patterns != nullptr)
    space.predict = [&](std::size_t i, std::uint32_t) {
      return pricer_.predict(problem_, options_[i].pool, *patterns);
    };
  const plan::Found found = plan::search(space, pricer_.pricing());
  if (!found.fits) return std::nullopt;
  const PoolShape& pool = options_[found.option].pool;
  return Plan{pool, bucket_blocks(problem_, pool.grid), found.prediction};
}

}  // namespace tessera::spmm_dynamic
