#include "kernels/gemm/array_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "sim/base/errors.h"
#include "sim/elf/codelet.h"
#include "sim/machine/nodes.h"
#include "sim/plan/step_costs.h"

namespace tessera::gemm {
namespace {

constexpr std::uint32_t kSlotAlign = 64;
constexpr std::uint32_t kMostTile = 4096;
/// A shim column's DMA has 16 descriptors (AM020), of which a block of rows takes three: for A, B
/// and C. A list holds no more.
constexpr std::uint32_t kMostListRows = 5;
constexpr config::Names<bool, 2> kSums{{{"whole", true}, {"results", false}}};

/// What is left of a node's memory, wherever tensors and stacks begin.
std::uint64_t room_of(const TileConfig& tile) {
  const std::uint64_t taken = 2 * kSlotAlign + kZeroBytes + tile.supervisor_stack_bytes +
                              std::uint64_t{tile.contexts} * tile.worker_stack_bytes;
  return sram_bytes(tile) - std::min(sram_bytes(tile), taken);
}

/// Of the memory tile that has most.
std::uint64_t staged_bytes(const ArrayGrid& grid, const arrays::Array& array) {
  const CoreTile tile = grid.plan.tile();
  const std::uint64_t rows = ceil_div(grid.plan.array_rows, array.columns);
  return 2 * (rows * tile.a_bytes(*grid.type) + tile.b_bytes(*grid.type) +
              std::uint64_t{grid.plan.array_rows} * tile.c_bytes(*grid.type));
}

/// What plans of one product take.
class ArrayPricer {
 public:
  ArrayPricer(const Product& product, const VectorType& type, MachineCosts& costs)
      : product_(product),
        type_(type),
        steps_(costs),
        machine_(costs.machine()),
        array_(array_of(machine_, type)) {}

  [[nodiscard]] const arrays::Array& array() const { return array_; }
  /// Bytes of a core, a memory tile and DDR that it needs, and that there are.
  struct Room {
    const char* what;
    std::uint64_t needed, there;
  };
  [[nodiscard]] std::optional<Room> too_large(const ArrayPlan& plan) const {
    const ArrayGrid grid(product_, type_, plan);
    const Room rooms[] = {{"a core", CoreLayout(grid).end, room_of(machine_.tile)},
                          {"a memory tile", staged_bytes(grid, array_),
                           room_of(tile_of(machine_, array_.first_memory))},
                          {"DDR", grid.a_bytes() + grid.b_bytes() + grid.c_bytes(),
                           room_of(tile_of(machine_, array_.ddr))}};
    for (const Room& room : rooms)
      if (room.needed > room.there) return room;
    return std::nullopt;
  }
  [[nodiscard]] PricedArray price(const ArrayPlan& plan);

 private:
  [[nodiscard]] std::uint64_t call(const CoreTile& tile, Begins begins, Ends ends);
  [[nodiscard]] std::uint64_t compute(const ArrayGrid& grid);
  [[nodiscard]] std::uint64_t stream(const char* name, std::uint64_t bytes) const {
    return stream_cycles(machine_.fabric.streams[*stream_number(machine_, name)], bytes) +
           machine_.fabric.fixed_cycles;
  }

  Product product_;
  VectorType type_;
  StepCosts steps_;
  MachineConfig machine_;
  arrays::Array array_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, Begins, Ends>, std::uint64_t>
      calls_;
};

/// Measured on the machine's tile.
std::uint64_t ArrayPricer::call(const CoreTile& tile, Begins begins, Ends ends) {
  const auto [entry, is_new] =
      calls_.try_emplace({tile.rows, tile.columns, tile.depth, begins, ends}, 0);
  if (!is_new) return entry->second;
  entry->second = steps_.vertex([&](program::Program& sample) {
    const auto add = [&](std::uint64_t bytes) {
      program::Buffer buffer{};
      buffer.bytes = bytes;
      buffer.align = kSlotAlign;
      buffer.name = "sample";
      buffer.contents = [](std::span<std::byte> into) { std::ranges::fill(into, std::byte{}); };
      return program::Place{sample.add_buffer(std::move(buffer))};
    };
    const CoreProduct product{&type_,
                              tile,
                              add(tile.a_bytes(type_)),
                              add(tile.b_bytes(type_)),
                              add(tile.c_bytes(type_)),
                              add(tile.sum_bytes(type_)),
                              add(kZeroBytes),
                              0,
                              begins,
                              ends};
    return program::Vertex{
        TileId{0},
        sample.add_codelet(elf::embedded_codelet("gemm", fmt::format("product_{}", type_.name))),
        program::Executor::all_workers, 0, product.arguments()};
  });
  return entry->second;
}

/// All calls for a tile of C, with what starts transfers and waits for them.
std::uint64_t ArrayPricer::compute(const ArrayGrid& grid) {
  const CoreTile tile = grid.plan.tile();
  const Begins between = grid.plan.whole_sums ? Begins::sums : Begins::results;
  const Ends before = grid.plan.whole_sums ? Ends::sums : Ends::results;
  const std::uint64_t control = 2 * steps_.transfer_cycles();
  if (grid.steps == 1) return call(tile, Begins::zeros, Ends::results) + 2 * control;
  return call(tile, Begins::zeros, before) + (grid.steps - 2) * call(tile, between, before) +
         call(tile, between, Ends::results) + grid.steps * control + control;
}

/// Steps take what the busiest of cores, streams and nodes that start and wait for transfers does.
/// DDR goes on to the second step of a block when the block two before is stored: what that takes
/// from its last load on goes into as many steps and two.
PricedArray ArrayPricer::price(const ArrayPlan& plan) {
  const ArrayGrid grid(product_, type_, plan);
  const CoreTile tile = plan.tile();
  const std::uint64_t steps = grid.steps;
  const std::uint64_t control =
      ceil_div(steps_.transfer_cycles(), std::uint64_t{2});  // a start, or a wait
  const std::uint64_t rows_a_tile = ceil_div(plan.array_rows, array_.columns);
  const std::uint64_t a = stream(arrays::kLoadWeights, rows_a_tile * tile.a_bytes(type_));
  const std::uint64_t b = stream(arrays::kLoad, tile.b_bytes(type_));
  const std::uint64_t a_sent = rows_a_tile * stream(arrays::kWeights, tile.a_bytes(type_));
  const std::uint64_t b_sent = stream(arrays::kActivations, tile.b_bytes(type_));
  const std::uint32_t ports =
      machine_.fabric.streams[*stream_number(machine_, arrays::kResults)].receive_ports;
  const std::uint64_t turns = ports == 0 ? 1 : ceil_div(plan.array_rows, ports);
  const std::uint64_t results = turns * stream(arrays::kResults, tile.c_bytes(type_));
  const std::uint64_t store =
      stream(arrays::kStore, std::uint64_t{plan.array_rows} * tile.c_bytes(type_));
  const std::uint64_t computed = compute(grid);
  const std::uint64_t chains = plan.array_rows + plan.array_columns;
  const std::uint64_t in_ddr =
      steps * 2 * chains * control + std::uint64_t{2} * plan.array_columns * control;
  const std::uint64_t moving = steps * (std::max({a, b, a_sent, b_sent}) + 3 * control);
  const std::uint64_t out = std::max(a_sent, b_sent) + computed / steps + results + store;
  const std::uint64_t way = std::max(a, b) + out + (9 + plan.array_columns + 2 * chains) * control;
  const std::uint64_t moved =
      std::max({moving, in_ddr, store + 2 * control, steps * way / (steps + 2)});
  const std::uint64_t blocks = std::uint64_t{grid.row_blocks} * grid.column_blocks;
  const bool computes = computed >= moved;
  const std::uint64_t fill = computes ? std::max(a + a_sent, b + b_sent) + results + store : out;
  Prediction prediction;
  prediction.compute_cycles = blocks * computed;
  prediction.cycles =
      machine_.tile.overlap
          ? blocks * std::max(computed, moved) + ceil_div(grid.row_blocks, plan.list_rows) * fill
          : blocks * (computed + steps * std::max(a + a_sent, b + b_sent) + results + store);
  prediction.exchange_cycles = prediction.cycles - prediction.compute_cycles;
  return {plan, prediction, computes ? "compute" : "DDR"};
}

/// Sizes of a tile's side: powers of two times `unit`, up to what holds `all`.
std::vector<std::uint32_t> sides(std::uint32_t unit, std::uint32_t least, std::uint32_t all) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = std::max(unit, least); size <= kMostTile; size *= 2) {
    sizes.push_back(size);
    if (size >= all) break;
  }
  return sizes;
}

}  // namespace

void describe(config::Fields& fields, ArrayPlan& plan, std::string_view unused_with) {
  const auto field = [&](const char* key, const char* sentence, std::uint32_t& value,
                         std::uint32_t most) {
    fields.require(unused_with.empty() || !fields.given(key), key,
                   "found with dtype f16 or f32, allowed with i8, i16 and bf16, on arrays");
    fields.field({key, sentence, "", false, unused_with}, value, {0, most});
  };
  field("rows", "rows of a core's tile of C, a multiple of 16; of this and each below 0: searched",
        plan.rows, kMostTile);
  field("columns", "its columns: a multiple of 16 of i8, of 8 of i16 and bf16", plan.columns,
        kMostTile);
  field("depth", "of a step: a multiple of 16 of i8 and bf16, of 8 of i16, two such at least",
        plan.depth, kMostTile);
  field("array_rows", "rows of the array that work", plan.array_rows, kMostTile);
  field("array_columns", "columns of the array that work", plan.array_columns, kMostTile);
  field("list_rows",
        "blocks of rows of C, a tile of every core, for which the host gives the DMAs one list of "
        "descriptors",
        plan.list_rows, 1U << 24);
  fields.require(unused_with.empty() || !fields.given("sums"), "sums",
                 "found with dtype f16 or f32, allowed with i8, i16 and bf16, on arrays");
  fields.field({"sums",
                "what a core keeps from step to step: whole sums, or results, rounded and "
                "saturated after every step",
                "", false, unused_with},
               plan.whole_sums, kSums);
}

ArrayGrid::ArrayGrid(const Product& product, const VectorType& of, const ArrayPlan& by)
    : type(&of),
      plan(by),
      m(round_up(product.m, by.rows * by.array_rows)),
      n(round_up(product.n, by.columns * by.array_columns)),
      k(round_up(product.k, by.depth)),
      row_blocks(m / (by.rows * by.array_rows)),
      column_blocks(n / (by.columns * by.array_columns)),
      steps(k / by.depth) {}

CoreLayout::CoreLayout(const ArrayGrid& grid)
    : a_slot(round_up(grid.plan.tile().a_bytes(*grid.type), kSlotAlign)),
      b_slot(round_up(grid.plan.tile().b_bytes(*grid.type), kSlotAlign)),
      c_slot(round_up(grid.plan.tile().c_bytes(*grid.type), kSlotAlign)) {
  a = 0;
  b = a + 2 * a_slot;
  c = b + 2 * b_slot;
  sums = c + 2 * c_slot;
  const bool keeps = grid.plan.whole_sums && grid.steps > 1;
  zeros = sums + (keeps ? round_up(grid.plan.tile().sum_bytes(*grid.type), kSlotAlign) : 0);
  end = zeros + kZeroBytes;
}

arrays::Array array_of(const MachineConfig& machine, const VectorType& type) {
  constexpr const char* kStreams[] = {arrays::kActivations, arrays::kWeights,     arrays::kResults,
                                      arrays::kLoad,        arrays::kLoadWeights, arrays::kStore};
  const arrays::Array array = arrays::array_of(machine, kStreams, "gemm of types with vectors");
  const MatrixUnitConfig& unit = machine.tile.matrix_unit;
  const MatrixShape& shape = type.type == Type::i8    ? unit.i8
                             : type.type == Type::i16 ? unit.i16
                                                      : unit.bf16;
  if (!shape.exists())
    throw KeyError(
        fmt::format("machine.tile.matrix_unit.{}.outputs", type.name),
        fmt::format("found 0, allowed {}: gemm computes {} on that unit", type.outputs, type.name));
  return array;
}

namespace {

/// Sizes that are pinned and that the type or the array lacks.
void require_possible(const ArrayPlan& pinned, const VectorType& type, const arrays::Array& array) {
  const auto require = [](bool holds, const char* key, std::uint32_t found,
                          const std::string& allowed) {
    if (found != 0 && !holds)
      throw KeyError(fmt::format("workload.plan.{}", key),
                     fmt::format("found {}, allowed {}", found, allowed));
  };
  require(pinned.rows % kPatchRows == 0, "rows", pinned.rows,
          fmt::format("multiples of {}", kPatchRows));
  require(pinned.columns % column_unit(type) == 0, "columns", pinned.columns,
          fmt::format("multiples of {} with dtype {}", column_unit(type), type.name));
  require(pinned.depth % depth_unit(type) == 0 && pinned.depth >= least_depth(type), "depth",
          pinned.depth,
          fmt::format("multiples of {} from {} on with dtype {}", depth_unit(type),
                      least_depth(type), type.name));
  require(pinned.array_rows <= array.rows, "array_rows", pinned.array_rows,
          fmt::format("1 to the array's {}", array.rows));
  require(pinned.array_columns <= array.columns, "array_columns", pinned.array_columns,
          fmt::format("1 to the array's {}", array.columns));
}

}  // namespace

PricedArray array_plan(const ArrayPlan& pinned, const Product& product, const VectorType& type,
                       MachineCosts& costs) {
  ArrayPricer pricer(product, type, costs);
  require_possible(pinned, type, pricer.array());
  std::optional<PricedArray> best;
  std::optional<ArrayPricer::Room> short_of;
  const auto consider = [&](const ArrayPlan& plan) {
    if (const auto room = pricer.too_large(plan)) {
      if (!short_of) short_of = room;
      return;
    }
    const PricedArray priced = pricer.price(plan);
    if (!best || priced.prediction.cycles < best->prediction.cycles) best = priced;
  };
  const auto sizes = [](std::uint32_t given, std::uint32_t unit, std::uint32_t least,
                        std::uint32_t all) {
    return given != 0 ? std::vector{given} : sides(unit, least, all);
  };
  const auto or_most = [](std::uint32_t given, std::uint32_t most) {
    return given != 0 ? given : most;
  };
  for (const std::uint32_t rows : sizes(pinned.rows, kPatchRows, 0, product.m))
    for (const std::uint32_t columns : sizes(pinned.columns, column_unit(type), 0, product.n))
      for (const std::uint32_t depth :
           sizes(pinned.depth, depth_unit(type), least_depth(type), product.k)) {
        ArrayPlan plan{rows, columns, depth, 0, 0, 0, pinned.whole_sums};
        plan.array_rows =
            or_most(pinned.array_rows, std::min(pricer.array().rows, ceil_div(product.m, rows)));
        plan.array_columns = or_most(
            pinned.array_columns, std::min(pricer.array().columns, ceil_div(product.n, columns)));
        plan.list_rows = or_most(
            pinned.list_rows, std::min(ceil_div(product.m, rows * plan.array_rows), kMostListRows));
        consider(plan);
      }
  if (best) return *best;
  if (pinned != ArrayPlan{})
    throw KeyError("workload.plan",
                   fmt::format("found tiles that take {} bytes of {} at least, allowed {}",
                               short_of->needed, short_of->what, short_of->there));
  throw UserError(fmt::format(
      "gemm {}x{}x{} {}: the smallest tiles take {} bytes of {}, which has {}", product.m,
      product.n, product.k, type.name, short_of->needed, short_of->what, short_of->there));
}

}  // namespace tessera::gemm
