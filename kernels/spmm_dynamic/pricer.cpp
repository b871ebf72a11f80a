#include "kernels/spmm_dynamic/pricer.h"

namespace tessera::spmm_dynamic {

namespace {

/// What a tile takes and gives before the products. Both tiles of a pair take what does not depend
/// on the coordinate that they differ in; one pair is divided where that has an odd number of
/// parts.
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

Decided Pricer::decided(const PoolShape& pool, const Load& load) {
  Decided decided{products_(pool, load.own), 0, load.y_steps, load.x_steps};
  const std::uint32_t steps = load.y_steps + load.x_steps;
  if (steps == 0) return decided;
  const std::uint64_t walks = products_(pool, {});
  decided.spilled = walks + (products_(pool, load.steps) - walks) / steps;
  return decided;
}

plan::Described Pricer::describe(const Problem& problem, const PoolShape& pool, const Load& load,
                                 std::uint64_t further_cycles) {
  Decided times = decided(pool, load);
  times.own += further_cycles;
  return describe(Parts(problem, pool), times);
}

plan::Described Pricer::describe(const Parts& parts, const Decided& decided) {
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
  const Decided times = decided(pool, load);
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

}  // namespace tessera::spmm_dynamic
