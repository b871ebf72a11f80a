#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/spmm_dynamic/pricer.h"

namespace tessera::spmm_dynamic {

using program::Argument;

namespace {

constexpr std::uint64_t kSettled = 4;  // iterations until a loop's cost is steady

/// A sub-group for measurement, all blocks in the first block column. Sizes: busy workers; rows
/// (per worker if workers divide rows); units of each row; columns in grains.
struct Sample {
  Sample(const Shape& shape, std::uint32_t workers, const Sizes& sizes)
      : rows(word(sizes[1]) * (shape.in_blocks() ? 1 : workers)),
        blocks(word(sizes[2]) * unit_blocks(shape)),
        pool{shape,   {1, 1, 1, word(sizes[3]) * column_grain(shape)},
             workers, rows * word(sizes[2]),
             0,       0},
        idle(workers - word(sizes[0])) {
    pool.meta_words =
        pool.pool_head_words() + kPoolEndWords + pool.group_head_words() + rows * (2 + blocks);
    side = std::uint64_t{shape.block} * pool.grid.columns;
  }

  [[nodiscard]] std::uint32_t meta() const { return round_up(2 * pool.meta_words, kWord); }
  [[nodiscard]] std::vector<std::uint16_t> lists() const {
    const std::uint32_t block = pool.shape.block;
    sparse::BlockMatrix w{rows * block, block, block, {0}, {}, {}, 0};
    w.column.resize(std::size_t{rows} * blocks, 0);
    for (std::uint64_t row = 1; row <= rows; ++row) w.row_begin.push_back(row * blocks);
    std::vector<std::uint16_t> lists = pool_lists(w, pool, pack(w, pool), 0);
    for (std::uint32_t i = 1; i <= idle; ++i)  // no rows
      lists[pool.pool_head_words() + kGroupWords + kWorkerWords * (pool.contexts - i)] = 0;
    return lists;
  }

  std::uint32_t rows, blocks;
  PoolShape pool;
  std::uint32_t idle;
  std::uint64_t side;  ///< elements of a block row of X, and of Y
};

/// Operands: pool, X, Y, flags.
plan::Function product_function(const Shape& shape, sparse::Codelet code) {
  const std::uint32_t workers = code.contexts;
  const FittedCost::Axis each = FittedCost::Axis::measured();
  return {"product of a pool " + product_codelet(shape),
          {each, each, each,
           shape.in_blocks()
               ? FittedCost::Axis::shared(std::uint64_t{workers} * shape.unit.positions_at_once())
               : FittedCost::Axis{1, kSettled}},
          [=](const Sizes& sizes, std::span<const Place> at) {
            const Sample sample(shape, workers, sizes);
            return product(code, sample.pool, sample.meta(), {},
                           {at[0].buffer, at[1].buffer, at[2].buffer, at[3].buffer});
          },
          [=](const Sizes& sizes) {
            const Sample sample(shape, workers, sizes);
            const std::uint64_t values = std::uint64_t{sample.pool.units} * unit_bytes(shape);
            return std::vector<std::uint64_t>{
                sample.meta() + values + kChunkBytes, sample.side * shape.bytes(),
                sample.side * sample.rows * shape.partial_bytes(), kFlagBytes};
          },
          [=](const Sizes& sizes, std::size_t operand, std::span<std::byte> into) {
            if (operand != 0) return;
            const std::vector<std::uint16_t> lists = Sample(shape, workers, sizes).lists();
            std::memcpy(into.data(), lists.data(), 2 * lists.size());
          }};
}

}  // namespace

std::string product_codelet(const Shape& shape) {
  const char* type = shape.type == Type::f16 ? "f16" : "f32";
  if (shape.in_blocks()) return "pool_blocks_" + shape.name();
  return fmt::format("pool_{}_{}", shape.gradient ? "gradient" : "rows", type);
}

program::Vertex product(sparse::Codelet code, const PoolShape& pool, std::uint32_t meta,
                        const Cell& cell, const PoolPlaces& places) {
  const Shape& shape = pool.shape;
  const std::uint32_t row = pool.grid.columns * shape.bytes();
  const Argument fourth =
      !shape.in_blocks() ? Argument{Place{places.y}} : Argument{shape.x_depth() * row};
  kernels::Arguments arguments{Place{places.pool, 2 * pool.pool_head_words()},
                               Place{places.x},
                               1 + pool.grid.partition(cell),
                               Place{places.pool, meta},
                               fourth,
                               Place{places.pool},
                               Place{places.pool, 2 * (kPoolHeadWords + cell.x)},
                               Place{places.flags}};
  if (shape.gradient) arguments.insert(arguments.end(), {row / kWord - 1, row, shape.block, 0U});
  if (!shape.in_blocks()) return code.supervised(std::move(arguments));
  // Divides columns among workers.
  const std::uint32_t unroll = shape.unroll();
  const std::uint32_t next_run = shape.y_depth() * pool.grid.columns * shape.partial_bytes();
  return code.supervised(code.dealt(
      std::move(arguments), pool.grid.columns / unroll,
      [&](Interval loops, kernels::Arguments& into) {
        const std::uint32_t first = word(loops.begin) * unroll;
        into.insert(into.end(), {first * shape.x_depth() * shape.bytes(),
                                 Place{places.y, first * shape.y_depth() * shape.partial_bytes()},
                                 word(loops.size()) - (unroll == 1 ? 3U : 2U), next_run});
      }));
}

const plan::Function& zeroing(const sparse::Statement& steps) {
  const auto vertex = [codelet = steps.codelet("pool_zero")](const Sizes& sizes,
                                                             std::span<const Place> at) {
    return codelet.all_over({at[0], 0U}, sizes[0] * kWord);
  };
  return steps.description.function(
      {"pool_zero", {FittedCost::Axis::shared(steps.contexts)}, vertex, [](const Sizes& sizes) {
         return std::vector{sizes[0] * kWord};
       }});
}

ProductTimes::ProductTimes(const Shape& shape, const elf::KernelCode& code, plan::Pricing& pricing)
    : shape_(shape),
      pricing_(pricing),
      workers_(pricing.machine().tile.contexts),
      function_(shell_.function(product_function(
          shape, sparse::Codelet::of(code, shell_, product_codelet(shape), workers_)))) {}

double ProductTimes::measured(std::uint64_t busy, std::uint64_t rows, std::uint64_t units,
                              std::uint32_t columns) {
  // Places in lists are 16 bits: more columns are extrapolated in proportion.
  const std::uint32_t grain = column_grain(shape_);
  const std::uint64_t all = rows * (shape_.in_blocks() ? 1 : workers_);
  const std::uint64_t row_bytes = std::uint64_t{shape_.block} * grain * shape_.partial_bytes();
  const std::uint64_t most = std::max<std::uint64_t>(kMostPlace * kWord / (all * row_bytes), 1);
  const std::uint64_t grains = columns / grain;
  const std::uint64_t narrow = std::min(grains, most);
  const std::uint64_t cycles =
      pricing_.call(shell_, function_, {busy, rows, units, narrow}) * grains / narrow;
  return static_cast<double>(cycles);
}

const ProductTimes::Line& ProductTimes::line(std::uint32_t columns) {
  const auto [found, is_new] = lines_.try_emplace(columns);
  Line& line = found->second;
  if (!is_new) return line;
  // Gradients take long, and a sub-group holds at most 240 KB of them: smaller sizes.
  const std::uint64_t least = shape_.gradient ? 2 : 4;
  const std::uint64_t most = shape_.gradient ? 4 : 12;
  const auto at = [&](std::uint64_t rows, std::uint64_t units) {
    return measured(workers_, rows, units, columns);
  };
  const double few = at(least, least);
  const double between = (shape_.in_blocks() ? 1 : workers_) * static_cast<double>(most - least);
  line.unit = (at(least, most) - few) / (between * static_cast<double>(least));
  line.row = (at(most, least) - few) / between - static_cast<double>(least) * line.unit;
  line.once = std::max(2 * few - at(2 * least, least), 0.0);
  if (!shape_.in_blocks())
    line.pace = (measured(1, least, most, columns) - measured(1, least, least, columns)) /
                (at(least, most) - few);
  return line;
}

double ProductTimes::row_units(std::uint32_t columns) {
  if (shape_.in_blocks()) return 0;
  const Line& of = line(columns);
  return std::max(of.row / of.unit, 0.0);
}

/// Cycles if all workers had the busiest one's work; if that is unknown, assumes rows of equal
/// size.
double ProductTimes::busiest(const PoolShape& pool, const Portion& portion, const Line& of) const {
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

double ProductTimes::even(const Portion& portion, const Line& of) const {
  const double pair = unit_blocks(shape_);
  // A row of odd length is padded with a zero.
  const double units = portion.blocks / pair + (pair > 1 ? portion.rows / 2 : 0);
  return portion.rows * of.row + units * of.unit;
}

/// Fewer busy workers run faster, up to the single-worker rate.
std::uint64_t ProductTimes::operator()(const PoolShape& pool, const Portion& portion) {
  const Line& of = line(pool.grid.columns);
  const double cycles = of.once + std::max(even(portion, of), of.pace * busiest(pool, portion, of));
  return static_cast<std::uint64_t>(std::llround(cycles));
}

}  // namespace tessera::spmm_dynamic
