#include "kernels/spmm_dynamic/plans.h"

#include <algorithm>

#include "sim/machine/nodes.h"
#include "sim/plan/search.h"

namespace tessera::spmm_dynamic {

Grid grid_of(const Problem& problem, std::uint32_t x, std::uint32_t y, std::uint32_t most_z) {
  const std::uint32_t grains = ceil_div(problem.n, column_grain(problem.shape));
  const std::uint32_t each = ceil_div(grains, std::min(most_z, grains));
  return {x, y, ceil_div(grains, each), each * column_grain(problem.shape)};
}

void for_all_parts(
    const Problem& problem, const Pinned& pinned, std::uint32_t tiles,
    const std::function<void(std::uint32_t x, std::uint32_t y, std::uint32_t most_z)>& visit) {
  const std::uint32_t least_z = std::max(1U, pinned.z);
  for (std::uint32_t x = 1; x <= std::min(tiles / least_z, problem.block_rows); ++x) {
    if (pinned.x != 0 && x != pinned.x) continue;
    const std::uint32_t most_y = std::min(tiles / (x * least_z), problem.block_columns);
    for (std::uint32_t y = 1; y <= most_y; ++y) {
      if (pinned.y != 0 && y != pinned.y) continue;
      visit(x, y, pinned.z != 0 ? pinned.z : tiles / (x * y));
    }
  }
}

void Plans::add(Grid grid, std::span<const Neighbours> numberings, const Least& least) {
  grid.neighbours = numberings.front();
  std::optional<PoolShape> pool = pricer_.pool(problem_, grid);
  if (!pool) return;
  const Buffers bytes(problem_, *pool);
  const auto cycles = [&](Neighbours pairs) {
    grid.neighbours = pairs;
    return pricer_.operand_cycles(bytes, grid);
  };
  pool->grid.neighbours =
      *std::min_element(numberings.begin(), numberings.end(),
                        [&](Neighbours a, Neighbours b) { return cycles(a) < cycles(b); });
  bounds_.push_back(pricer_.bound(problem_, *pool, least(*pool)) +
                    (beside_.bound ? beside_.bound(pool->grid) : 0));
  options_.push_back(*pool);
}

const std::optional<Load>& Plans::load(std::size_t option) {
  if (in_hand_.option != option) in_hand_ = {option, loads_(options_[option])};
  return in_hand_.load;
}

std::optional<Plan> Plans::best() {
  const std::uint64_t room = sram_bytes(pricer_.machine().tile);
  plan::Space space;
  space.reserved = static_cast<std::uint64_t>((1 - problem_.memory) * static_cast<double>(room));
  space.bounds = bounds_;
  space.least_bytes = [&](std::size_t i) -> std::uint64_t {
    const Buffers bytes(problem_, options_[i]);
    const std::uint64_t held = std::uint64_t{bytes.pool} + bytes.x + bytes.y;
    if (held + space.reserved > room) return held;
    if (!load(i)) return UINT64_MAX / 2;  // patterns do not fit: more than any memory
    return beside_.bytes ? std::max(held, beside_.bytes(options_[i].grid)) : held;
  };
  space.describe = [&](std::size_t i, std::uint32_t) {
    return pricer_.describe(problem_, options_[i], load(i).value_or(Load{}),
                            beside_.cycles ? beside_.cycles(options_[i].grid) : 0);
  };
  space.schedules = false;
  space.finalists = 1;
  const plan::Found found = plan::search(space, pricer_.pricing());
  if (!found.fits) return std::nullopt;
  const PoolShape& pool = options_[found.option];
  return Plan{pool, bucket_blocks(problem_, pool.grid), found.prediction};
}

}  // namespace tessera::spmm_dynamic
