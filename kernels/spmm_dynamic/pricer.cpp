#include "kernels/spmm_dynamic/pricer.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tessera::spmm_dynamic {

namespace {

/// A tile's traffic before the products. Both tiles of a pair receive the data that does not depend
/// on the coordinate in which they differ; an odd number of parts in it splits one pair.
ExchangeLoad operands_of(const Buffers& bytes, const Grid& grid) {
  ExchangeLoad load{0, 0, 0, grid.tiles()};
  const auto take = [&](Axis whatever, std::uint64_t all, std::uint64_t slice) {
    if (grid.sizes().*whatever == 1) return;
    const bool shared = grid.paired() == whatever && grid.alike() % 2 == 0;
    (shared ? load.shared : load.received) += all;
    load.sent += slice;
  };
  take(&Cell::z, std::uint64_t{bytes.pool_slice} * grid.z, bytes.pool_slice);
  take(&Cell::x, bytes.x, bytes.x_slice);
  if (bytes.values) take(&Cell::y, bytes.y, bytes.y_slice);
  return load;
}

/// A partition's work between two steps of the pools.
struct Turn {
  std::uint64_t cycles;  ///< approximate
  std::uint32_t partition, home;
};

/// The pools of a pattern after any number of steps.
class TravellingPools {
 public:
  TravellingPools(const Parts& parts, const sparse::BlockMatrix& w, const Packing& packing)
      : parts_(parts), w_(w), packing_(packing), travel_(travel(parts.pool, packing.pools)) {
    for (const std::vector<Visit>& visits : travel_.visits)
      for (const Visit& visit : visits) steps_[visit.group] = visit.step;
  }

  [[nodiscard]] std::uint32_t steps() const { return travel_.load.y_steps + travel_.load.x_steps; }

  /// [step]: the partitions that have work.
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

  /// The pool's contents at this step: sub-groups computed before it are marked done.
  [[nodiscard]] std::vector<std::byte> pool(std::uint32_t home, std::uint32_t step) const {
    std::vector<std::byte> bytes = pool_bytes(parts_.bytes, parts_.pool, w_, packing_, home);
    std::size_t at = sizeof(std::uint16_t) * parts_.pool.pool_head_words();
    for (const SubGroup& group : packing_.pools[home].groups) {
      if (steps_.at(&group) < step)
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), sizeof(std::uint16_t),
                    std::byte{0xff});
      at += sizeof(std::uint16_t) * group.meta_words;
    }
    return bytes;
  }

  /// The pool with the most sub-groups.
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
  TravelWork travel_;
  std::map<const SubGroup*, std::uint32_t> steps_;  ///< step after which each sub-group is computed
};

}  // namespace

Pricer::Pricer(const Shape& shape, MachineCosts& costs)
    : pricing_(costs),
      products_(shape, code_.sparse, pricing_),
      zeroing_(zeroing({shell_, code_, machine().tile.contexts})),
      dense_(code_.gemm, shell_, machine().tile.contexts) {}

std::optional<PoolShape> Pricer::pool(const Problem& problem, const Grid& grid) {
  if (grid.partitions() > kMostPartitions) return std::nullopt;
  PoolShape pool = pool_of(problem, grid, machine().tile.contexts);
  const Buffers bytes(problem, pool);
  if (bytes.x / kWord > kMostPlace || bytes.y / kWord > kMostPlace) return std::nullopt;
  pool.row_units = products_.row_units(grid.columns);
  return pool;
}

DataTimes Pricer::decided(const PoolShape& pool, const Load& load) {
  DataTimes decided{products_(pool, load.own), 0, load.y_steps, load.x_steps};
  const std::uint32_t steps = load.y_steps + load.x_steps;
  if (steps == 0) return decided;
  const std::uint64_t walks = products_(pool, {});
  decided.spilled = walks + (products_(pool, load.steps) - walks) / steps;
  return decided;
}

plan::Described Pricer::describe(const Problem& problem, const PoolShape& pool, const Load& load,
                                 std::uint64_t further_cycles) {
  DataTimes times = decided(pool, load);
  times.own += further_cycles;
  return describe(Parts(problem, pool), times);
}

plan::Described Pricer::describe(const Parts& parts, const DataTimes& decided) {
  plan::Described program(machine().tiles);
  state_program(program.description, parts, code_, decided, nullptr);
  program.tiles = representatives(parts.grid());
  return program;
}

std::uint64_t Pricer::operand_cycles(const Buffers& bytes, const Grid& grid) const {
  return pricing_.costs().exchange(operands_of(bytes, grid));
}

std::uint64_t Pricer::bound(const Problem& problem, const PoolShape& pool, const Load& load) {
  const Buffers bytes(problem, pool);
  const Grid& grid = pool.grid;
  const DataTimes times = decided(pool, load);
  Prediction sum;
  const auto superstep = [&](ExchangeLoad moved, std::uint64_t cycles, std::uint64_t count = 1) {
    moved.tiles = grid.tiles();
    const bool moves = moved.sent + moved.received + moved.shared > 0;
    pricing_.steps().add(sum, {moves ? std::optional(moved) : std::nullopt, cycles}, count);
  };
  const std::uint64_t clearing =
      problem.shape.gradient ? 0 : pricing_.call(shell_, zeroing_, {bytes.y / kWord});
  superstep(operands_of(bytes, grid), clearing + times.own);
  const std::uint64_t steps = times.y_steps + times.x_steps;
  superstep({bytes.pool, bytes.pool}, times.spilled, steps);
  if (grid.partitions() > 1) superstep({kFlagWord, kFlagWord}, 0, 1 + steps / 2);
  if (grid.partitions() > 1 && problem.shape.gradient) {
    const std::uint32_t y_turns = turns_home(times.y_steps, grid.y);
    const std::uint32_t x_turns = turns_home(times.x_steps, grid.x);
    superstep({bytes.pool, bytes.pool}, 0, 2 * std::uint64_t{y_turns + x_turns});
    superstep({kFlagWord, kFlagWord}, 0, (grid.y > 1) + (grid.x > 1) + y_turns + x_turns);
  }
  const std::uint64_t chunks = bytes.part_chunks();
  const std::uint64_t others = chunks * kChunkBytes * (bytes.parts - 1);
  std::uint64_t adding = 0;
  if (others > 0)
    adding =
        pricing_.call(shell_, dense_.adding(problem.shape.partials), {chunks, bytes.parts - 1});
  if (problem.shape.mixed()) adding += pricing_.call(shell_, dense_.packing(), {chunks});
  superstep({others, others}, adding);
  return sum.cycles;
}

Prediction Pricer::predict(const Problem& problem, const PoolShape& pool, const Load& load) {
  const plan::Described program = describe(problem, pool, load);
  return pricing_.time(program.description, program.tiles);
}

std::uint64_t Pricer::bytes(const Problem& problem, const PoolShape& pool, const Load& load) {
  const plan::Described program = describe(problem, pool, load);
  const auto placed = pricing_.memory(program.description, program.tiles);
  return placed ? program::total(*placed) : UINT64_MAX;
}

Prediction Pricer::predict(const Problem& problem, const PoolShape& pool,
                           const sparse::BlockMatrix& w, const Packing& packing) {
  const Parts parts(problem, pool);
  return plan::priced(describe(parts, decided(parts, w, packing)), true, pricing_).prediction;
}

std::uint64_t Pricer::product_cycles(const Parts& parts, std::uint32_t partition,
                                     const std::vector<std::byte>& pool) {
  plan::Description probe(1);
  const auto array = [&](std::uint64_t bytes) {
    return probe.array({"sample", [bytes](Tile) { return bytes; }});
  };
  const BufferId held = probe.array({"sample", [&pool](Tile) { return pool.size(); }, false,
                                     [&pool](Tile, std::span<std::byte> into) {
                                       std::copy(pool.begin(), pool.end(), into.begin());
                                     }});
  const PoolPlaces places{held, array(parts.bytes.x), array(parts.bytes.y), array(kFlagBytes)};
  const auto code = sparse::Codelet::of(code_.sparse, probe, product_codelet(parts.shape()),
                                        machine().tile.contexts);
  const Cell cell{partition % parts.grid().x, partition / parts.grid().x, 0};
  probe.compute("multiply", 1, [&](Tile, Calls& calls) {
    calls.add(product(code, parts.pool, parts.bytes.meta, cell, places));
  });
  return pricing_.calls(probe, 0);
}

/// Runs the busiest cells of each step: the effect of unequal work of workers depends on the
/// machine.
DataTimes Pricer::decided(const Parts& parts, const sparse::BlockMatrix& w,
                          const Packing& packing) {
  constexpr std::size_t kAsked = 4;
  const TravellingPools pools(parts, w, packing);
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
  DataTimes decided{cycles.front(), 0, packing.load.y_steps, packing.load.x_steps};
  if (steps > 0)
    decided.spilled =
        (std::accumulate(cycles.begin() + 1, cycles.end(), std::uint64_t{0}) + steps / 2) / steps;
  return decided;
}

}  // namespace tessera::spmm_dynamic
