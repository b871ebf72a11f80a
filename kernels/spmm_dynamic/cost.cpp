#include "kernels/spmm_dynamic/cost.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "kernels/spmm_dynamic/steps.h"
#include "kernels/spmm_dynamic/worker_parts.h"
#include "sim/program/any_flag.h"

namespace tessera::spmm_dynamic {

using Sizes = FittedCost::Sizes;

namespace {

// Loops run as they do for long from so many on.
constexpr std::uint64_t kSettled = 4;
constexpr FittedCost::Axis kMeasured{1, std::uint64_t{1} << 32};
constexpr std::uint64_t kMostUngrouped = 64;  // flags that are combined at once (any_flag.cpp)

std::uint64_t rounded(double cycles) { return static_cast<std::uint64_t>(std::llround(cycles)); }

/// Rows of so many blocks each, all in the first block column.
sparse::BlockMatrix even_rows(const Shape& shape, std::uint32_t rows, std::uint32_t blocks) {
  sparse::BlockMatrix w{rows * shape.block, shape.block, shape.block, {0}, {}, {}, 0};
  for (std::uint32_t row = 0; row < rows; ++row) {
    w.column.resize(w.column.size() + blocks, 0);
    w.row_begin.push_back(w.column.size());
  }
  return w;
}

}  // namespace

Cost::Cost(const Shape& shape, MachineCosts& costs)
    : shape_(shape),
      costs_(costs),
      steps_(costs),
      dense_(costs),
      workers_(costs.machine().tile.contexts),
      products_({kMeasured, kMeasured, kMeasured,
                 shape.in_blocks() ? FittedCost::Axis::shared(std::uint64_t{workers_} *
                                                              shape.unit.positions_at_once())
                                   : FittedCost::Axis{1, kSettled}},
                [this](const Sizes& sizes) { return measure_product(sizes); }),
      zeroing_({{1, kSettled}},
               [this](const Sizes& sizes) {
                 return vertex([&](sparse::Assembly& assembly, const auto& buffer) {
                   const std::uint64_t bytes = sizes[0] * workers_ * kWord;
                   return zeroing(assembly, TileId{0}, {buffer(bytes)}, bytes);
                 });
               }),
      turning_(shape, costs) {}

template <class Make>
std::uint64_t Cost::vertex(const Make& make) {
  return steps_.vertex([&](program::Program& program) {
    sparse::Assembly assembly(code_, program, workers_);
    return make(assembly, [&](std::uint64_t bytes) {
      return assembly.buffer(0, std::max<std::uint64_t>(bytes, kChunkBytes), "sample");
    });
  });
}

// --- what is measured: vertices of one tile ------------------------------------------------------

/// Busy workers, rows (of every worker, where workers share rows), units of each, columns in
/// grains.
std::uint64_t Cost::measure_product(const Sizes& sizes) {
  const std::uint32_t rows = word(sizes[1]) * (shape_.in_blocks() ? 1 : workers_);
  const std::uint32_t pair = unit_blocks(shape_);
  const std::uint32_t blocks = word(sizes[2]) * pair;
  // Lists name places in 16 bits: wider ones are taken in proportion.
  const std::uint32_t grain = column_grain(shape_);
  const std::uint64_t row_bytes = std::uint64_t{shape_.block} * grain * shape_.partial_bytes();
  const std::uint64_t most = std::max<std::uint64_t>(kMostPlace * kWord / (rows * row_bytes), 1);
  const std::uint64_t grains = std::min(sizes[3], most);
  PoolShape pool{shape_, {1, 1, 1, word(grains) * grain}, workers_, rows * word(sizes[2]), 0, 0};
  pool.meta_words =
      pool.pool_head_words() + kPoolEndWords + pool.group_head_words() + rows * (2 + blocks);
  const sparse::BlockMatrix w = even_rows(shape_, rows, blocks);
  std::vector<std::uint16_t> lists = pool_lists(w, pool, pack(w, pool), 0, 0);
  for (std::uint64_t idle = sizes[0]; idle < workers_; ++idle)  // no rows
    lists[pool.pool_head_words() + kGroupWords + kWorkerWords * idle] = 0;
  const std::uint64_t side = std::uint64_t{shape_.block} * pool.grid.columns;
  const std::uint64_t cycles = measure_lists(pool, Cell{}, std::move(lists), side * shape_.bytes(),
                                             side * rows * shape_.partial_bytes());
  return cycles * sizes[3] / grains;
}

/// The product of a tile whose pool has these lists.
std::uint64_t Cost::measure_lists(const PoolShape& pool, const Cell& at,
                                  std::vector<std::uint16_t> lists, std::uint64_t x_bytes,
                                  std::uint64_t y_bytes) {
  lists.resize(round_up<std::size_t>(lists.size(), kWord / sizeof(lists.front())), 0);
  const std::uint32_t meta = word(lists.size() * sizeof(lists.front()));
  lists.resize(lists.size() + std::size_t{pool.units} * unit_bytes(shape_) / 2 + kWord, 0);
  return vertex([&](sparse::Assembly& assembly, const auto& buffer) {
    Cell one = at;
    one.pool[0] = assembly.list(0, lists, "pool");
    one.flags = buffer(kFlagBytes);
    one.x_rows = buffer(x_bytes);
    one.y_rows = buffer(y_bytes);
    return spmm_dynamic::product(assembly, pool, meta, one, 0);
  });
}

/// The longest product of a tile with its own pool, of those that have most to do. How workers of
/// unequal work share a tile is the machine's to say.
std::uint64_t Cost::measure_own(const Problem& problem, const PoolShape& pool,
                                const sparse::BlockMatrix& w, const Packing& packing) {
  constexpr std::size_t kAsked = 4;
  struct Home {
    std::uint64_t cycles;
    std::uint32_t x, y;
  };
  std::vector<Home> homes;
  for (std::uint32_t y = 0; y < pool.grid.y; ++y)
    for (std::uint32_t x = 0; x < pool.grid.x; ++x) {
      Portion own;
      for (const SubGroup& group : packing.pools[x + std::size_t{y} * pool.grid.x].groups)
        if (group.x == x && group.y == y) own += portion_of(pool, group);
      homes.push_back({product(pool, own), x, y});
    }
  const std::size_t asked = std::min(kAsked, homes.size());
  std::partial_sort(homes.begin(), homes.begin() + static_cast<std::ptrdiff_t>(asked), homes.end(),
                    [](const Home& a, const Home& b) {
                      return std::tie(b.cycles, a.y, a.x) < std::tie(a.cycles, b.y, b.x);
                    });
  const Buffers bytes(problem, pool);
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < asked; ++i) {
    Cell at{};
    at.x = homes[i].x;
    at.y = homes[i].y;
    most = std::max(
        most, measure_lists(pool, at, pool_lists(w, pool, packing, at.x, at.y), bytes.x, bytes.y));
  }
  return most;
}

/// Combining so many flags of which none is set, and branching on it.
std::uint64_t Cost::measure_test(std::uint64_t flags) {
  program::Program sample(1);
  sparse::Assembly assembly(code_, sample, workers_);
  std::vector<Place> places;
  for (std::uint64_t i = 0; i < flags; ++i)
    places.push_back({assembly.buffer(0, 4, "flag", [](std::span<std::byte> into) {
      std::fill(into.begin(), into.end(), std::byte{});
    })});
  assembly.add_step(program::while_any(sample, "test", places, {}));
  return costs_.tile(sample).compute_cycles;
}

const Cost::Line& Cost::line(std::uint32_t columns) {
  const auto found = lines_.find(columns);
  if (found != lines_.end()) return found->second;
  // Gradients are long, and a sub-group holds no more than 240 KB of them.
  const std::uint64_t least = shape_.gradient ? 2 : 4;
  const std::uint64_t most = shape_.gradient ? 4 : 12;
  const std::uint64_t grains = columns / column_grain(shape_);
  const auto of_busy = [&](std::uint64_t busy, std::uint64_t rows, std::uint64_t units) {
    return static_cast<double>(products_({busy, rows, units, grains}));
  };
  const auto at = [&](std::uint64_t rows, std::uint64_t units) {
    return of_busy(workers_, rows, units);
  };
  const double rows = shape_.in_blocks() ? 1 : workers_;
  const double few = at(least, least);
  Line line{};
  const double between = rows * static_cast<double>(most - least);
  line.unit = (at(least, most) - few) / (between * static_cast<double>(least));
  line.row = (at(most, least) - few) / between - static_cast<double>(least) * line.unit;
  line.once = 2 * few - at(2 * least, least);
  if (!shape_.in_blocks())
    line.pace = (of_busy(1, least, most) - of_busy(1, least, least)) / (at(least, most) - few);
  return lines_.emplace(columns, line).first->second;
}

double Cost::row_units(std::uint32_t columns) {
  if (shape_.in_blocks()) return 0;
  const Line& of = line(columns);
  return std::max(of.row / of.unit, 0.0);
}

// --- what follows from it ------------------------------------------------------------------------

/// Cycles if all workers had as much to do as the busiest one: where that is not known, rows are
/// about equal.
double Cost::busiest(const PoolShape& pool, const Portion& portion, const Line& of) const {
  if (portion.busiest.rows > 0)
    return portion.busiest.rows * of.row + portion.busiest.units * of.unit;
  if (shape_.in_blocks() || portion.rows == 0) return 0;
  double most = 0;
  for (std::uint32_t parts = 1; parts <= std::min(workers_, pool.passes()); ++parts) {
    const std::uint32_t groups = workers_ / parts;
    const double one = std::ceil(portion.rows / groups) * ceil_div(pool.passes(), parts);
    if (parts == 1 || one < most) most = one;
  }
  return even(portion, of) * most * workers_ / (std::ceil(portion.rows) * pool.passes());
}

double Cost::even(const Portion& portion, const Line& of) const {
  const double pair = unit_blocks(shape_);
  // A row of an odd number of elements ends with a zero.
  const double units = portion.blocks / pair + (pair > 1 ? portion.rows / 2 : 0);
  return portion.rows * of.row + units * of.unit;
}

/// The fewer workers have something to do the faster they are, up to their pace alone.
std::uint64_t Cost::product(const PoolShape& pool, const Portion& portion) {
  const Line& of = line(pool.grid.columns);
  return rounded(of.once + std::max(even(portion, of), of.pace * busiest(pool, portion, of)));
}

std::uint64_t Cost::turning(std::uint64_t words, std::uint32_t depth, std::uint32_t columns) {
  return turning_({{0, words * shape_.lanes()}, depth, columns, {}}, sparse::Direction::to_blocks);
}

Prediction Cost::predict(const Problem& problem, const PoolShape& pool, const Load& load) {
  return predict(problem, pool, load, product(pool, load.own));
}

Prediction Cost::predict(const Problem& problem, const PoolShape& pool,
                         const sparse::BlockMatrix& w, const Packing& packing) {
  return predict(problem, pool, packing.load, measure_own(problem, pool, w, packing));
}

Prediction Cost::predict(const Problem& problem, const PoolShape& pool, const Load& load,
                         std::uint64_t own_cycles) {
  const Buffers bytes(problem, pool);
  const Grid& grid = pool.grid;
  Prediction sum;
  const std::uint64_t slices = bytes.x_slice + bytes.y_slice;
  if (shape_.natural())
    steps_.add(sum, {ExchangeLoad{slices, slices, 0, grid.tiles()},
                     turning(bytes.x_slice / kWord, shape_.x_depth(), grid.columns)});
  add_distribution(problem, pool, own_cycles, sum);
  if (grid.partitions() > 1) add_propagation(bytes, pool, load, sum);
  add_sums(bytes, grid, sum);
  if (shape_.natural() && !shape_.gradient) {
    const std::uint64_t words =
        std::uint64_t{bytes.part_chunks()} * kChunkBytes / shape_.partial_bytes() / shape_.lanes();
    if (shape_.y_depth() > 1)
      steps_.add(sum, {std::nullopt, turning(words, shape_.y_depth(), grid.columns)});
    const std::uint64_t rows = row_storage(problem, grid, problem.block_rows).each();
    steps_.add(sum, {ExchangeLoad{rows, rows, 0, grid.tiles()}, 0});
  }
  return sum;
}

void Cost::add_distribution(const Problem& problem, const PoolShape& pool, std::uint64_t own_cycles,
                            Prediction& sum) {
  const Buffers bytes(problem, pool);
  const Grid& grid = pool.grid;
  ExchangeLoad moved;
  moved.tiles = grid.tiles();
  const auto take = [&](std::uint64_t received, std::uint64_t sent, bool shared) {
    (shared ? moved.shared : moved.received) += received;
    moved.sent += sent;
  };
  if (grid.x > 1) take(bytes.x, bytes.x_slice, grid.shares_x() && grid.x % 2 == 0);
  if (grid.z > 1)
    take(std::uint64_t{bytes.pool_slice} * grid.z, bytes.pool_slice,
         grid.shares_pool() && grid.z % 2 == 0);
  if (shape_.gradient && grid.y > 1) take(bytes.y, bytes.y_slice, false);
  std::uint64_t vertices = own_cycles;
  if (!shape_.gradient) vertices += zeroing_({ceil_div<std::uint64_t>(bytes.y / kWord, workers_)});
  std::optional<ExchangeLoad> exchange;
  if (grid.tiles() > 1) exchange = moved;
  steps_.add(sum, {exchange, vertices});
}

/// The loops' tests; many flags are combined in two supersteps.
void Cost::add_test(const Grid& grid, std::uint64_t times, Prediction& sum) {
  const bool grouped = grid.partitions() > kMostUngrouped;
  const std::uint64_t flags =
      grouped ? static_cast<std::uint64_t>(std::sqrt(grid.partitions())) + 1 : grid.partitions();
  const auto found = tests_.find(flags);
  const std::uint64_t compute = found != tests_.end()
                                    ? found->second
                                    : tests_.emplace(flags, measure_test(flags)).first->second;
  times *= grouped ? 2 : 1;
  const std::uint64_t exchange = costs_.exchange({4, 4 * flags, 0, grid.tiles()});
  sum.compute_cycles += times * compute;
  sum.exchange_cycles += times * exchange;
  sum.sync_cycles += times * costs_.barrier();
  sum.cycles += times * (compute + exchange + costs_.barrier());
}

/// The loops of propagation.cpp. Gradients of values compare with home, and go back.
void Cost::add_propagation(const Buffers& bytes, const PoolShape& pool, const Load& load,
                           Prediction& sum) {
  const Grid& grid = pool.grid;
  const std::uint64_t steps = load.y_steps + load.x_steps;
  const std::uint64_t rounds = grid.x > 1 ? load.x_steps / 2 : steps > 0 ? 1 : 0;
  const std::uint64_t visits = grid.y == 1 ? 0 : (grid.x > 1 ? 2 : 1) * rounds;
  add_test(grid, 1 + rounds + visits + load.y_steps / 2, sum);
  if (shape_.gradient) add_test(grid, (grid.x > 1 ? 1 : 0) + (grid.y > 1 ? 1 : 0) + steps / 2, sum);
  if (steps == 0) return;
  const std::uint64_t walks = product(pool, {});
  const ExchangeLoad moved{bytes.pool, bytes.pool, 0, grid.tiles()};
  steps_.add(sum, {moved, walks}, steps);
  if (shape_.gradient) steps_.add(sum, {moved, 0}, steps);
  const std::uint64_t computed = product(pool, load.steps) - walks;
  sum.compute_cycles += computed;
  sum.cycles += computed;
}

void Cost::add_sums(const Buffers& bytes, const Grid& grid, Prediction& sum) {
  const std::uint64_t part = bytes.part_chunks();
  // Sums of one part that are results as they are move to where results lie.
  const std::uint64_t moved = bytes.parts > 1 || shape_.mixed() ? bytes.parts - 1 : 1;
  std::optional<ExchangeLoad> exchange;
  if (moved > 0)
    exchange =
        ExchangeLoad{moved * part * kChunkBytes, moved * part * kChunkBytes, 0, grid.tiles()};
  std::uint64_t vertices = 0;
  if (bytes.parts > 1)
    vertices += dense_.adding(shape_.partials, part * kChunkBytes, bytes.parts - 1);
  if (shape_.mixed()) vertices += dense_.packing(part * kChunkBytes);
  steps_.add(sum, {exchange, vertices});
}

}  // namespace tessera::spmm_dynamic
