#include "kernels/gemm/array_plan.h"

#include <algorithm>
#include <optional>

#include "kernels/pinned.h"
#include "sim/base/errors.h"

namespace tessera::gemm {
namespace {

constexpr std::uint32_t kMostTile = 4096;
/// A shim column's DMA has 16 descriptors (AM020), of which a block of rows takes three: for A, B
/// and C. A list holds no more.
constexpr std::uint32_t kMostListRows = 5;
constexpr config::Names<bool, 2> kSums{{{"whole", true}, {"results", false}}};

/// Sizes of a tile's side: powers of two times `unit`, up to what holds `all`.
std::vector<std::uint32_t> sides(std::uint32_t unit, std::uint32_t least, std::uint32_t all) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = std::max(unit, least); size <= kMostTile; size *= 2) {
    sizes.push_back(size);
    if (size >= all) break;
  }
  return sizes;
}

/// Rows or columns of cores for so many tiles: for each number of rounds the fewest that make it,
/// most cores first.
std::vector<std::uint32_t> cores(std::uint32_t given, std::uint32_t most, std::uint32_t tiles) {
  if (given != 0) return {given};
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = std::min(most, tiles); number > 0; --number)
    if (number == 1 || ceil_div(tiles, number) != ceil_div(tiles, number - 1))
      numbers.push_back(number);
  return numbers;
}

}  // namespace

void describe(config::Fields& fields, KeptPlan& kept, std::string_view unused_with) {
  ArrayPlan& plan = kept.plan;
  const auto field = [&](const char* key, const char* sentence, std::uint32_t& value,
                         std::uint32_t most) {
    fields.require(unused_with.empty() || !fields.given(key), key,
                   "found with dtype f16 or f32, allowed with i8, i16 and bf16, on arrays");
    fields.field({key, sentence, "", false, unused_with}, value, {0, most});
  };
  field("rows",
        "rows of a core's tile of C (of Y: columns), a multiple of 16, in spmm_static of i8 of 32; "
        "of this and each below 0: searched",
        plan.rows, kMostTile);
  field("columns", "its columns: a multiple of 8, in gemm of i8 of 16", plan.columns, kMostTile);
  field("depth", "of a step: a multiple of 16 of i8 and bf16, of 8 of i16, two such at least",
        plan.depth, kMostTile);
  field("array_rows", "rows of the array that work", plan.array_rows, kMostTile);
  field("array_columns", "columns of the array that work", plan.array_columns, kMostTile);
  field("list_rows",
        "blocks of rows of C, a tile of every core, for which the host gives the DMAs one list of "
        "descriptors",
        plan.list_rows, 1U << 24);
}

void describe(config::Fields& fields, ArrayPlan& plan, std::string_view unused_with) {
  KeptPlan sizes{plan};
  describe(fields, sizes, unused_with);
  plan = sizes.plan;
  fields.require(unused_with.empty() || !fields.given("sums"), "sums",
                 "found with dtype f16 or f32, allowed with i8, i16 and bf16, on arrays");
  fields.field({"sums",
                "what a core keeps from step to step: whole sums, or results, rounded and "
                "saturated after every step",
                "", false, unused_with},
               plan.whole_sums, kSums);
}

void describe_shift(config::Fields& fields, std::uint32_t& shift, const VectorType* type) {
  constexpr std::uint32_t kMostShift = 31;
  fields.field({"shift",
                "bits by which sums of i8 and i16 are shifted right, rounded to nearest even, "
                "before they saturate; seeded values are as large as that allows"},
               shift, {0, kMostShift});
  fields.require(shift == 0 || (type != nullptr && !type->is_float()), "shift",
                 fmt::format("found {}, allowed 0 without dtype i8 or i16", shift));
}

bool is_of_arrays(Type dtype, const MachineConfig& machine) {
  const bool array = machine.fabric.kind == "streams";
  const bool vectors = vector_type(dtype) != nullptr;
  if (vectors != array)
    throw KeyError("workload.dtype",
                   fmt::format("found {}, allowed {} with machine.fabric.kind {}",
                               config::name_of(kElementTypes, dtype),
                               array ? "i8, i16, bf16" : "f16, f32", machine.fabric.kind));
  return array;
}

ArrayGrid::ArrayGrid(const Product& product, const VectorType& of, const ArrayPlan& by,
                     const KeptBlocks* blocks)
    : type(&of),
      plan(by),
      patch(blocks != nullptr ? kept_patch(of) : kDensePatch),
      m(round_up(product.m, by.rows * by.array_rows)),
      n(round_up(product.n, by.columns * by.array_columns)),
      k(round_up(product.k, by.depth)),
      row_blocks(m / (by.rows * by.array_rows)),
      column_blocks(n / (by.columns * by.array_columns)),
      steps(k / by.depth) {
  if (blocks != nullptr)
    kept = std::make_shared<const KeptTiles>(*blocks, of, by.tile(), n / by.columns, steps);
}

CoreLayout::CoreLayout(const ArrayGrid& grid)
    : a_slot(round_up(grid.plan.tile().a_bytes(*grid.type), kSlotAlign)),
      b_slot(
          round_up(grid.b_tile_bytes() + (grid.kept ? 2 * kept_bytes(*grid.type) : 0), kSlotAlign)),
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
  const arrays::Array array =
      arrays::array_of(machine, kStreams, "a product of types with vectors");
  const auto require_overlap = [](const std::string& path, bool overlap) {
    if (!overlap)
      throw KeyError(path + ".overlap",
                     "found false, allowed true: cores and DDR start transfers of products before "
                     "they wait for those that bring what is asked for");
  };
  require_overlap("machine.tile", machine.tile.overlap);
  for (std::size_t i = 0; i < machine.nodes.size(); ++i)
    if (machine.nodes[i].name == "ddr")
      require_overlap(fmt::format("machine.nodes[{}].tile", i), machine.nodes[i].tile.overlap);
  const MatrixUnitConfig& unit = machine.tile.matrix_unit;
  const MatrixShape& shape = type.type == Type::i8    ? unit.i8
                             : type.type == Type::i16 ? unit.i16
                                                      : unit.bf16;
  if (!shape.exists())
    throw KeyError(fmt::format("machine.tile.matrix_unit.{}.outputs", type.name),
                   fmt::format("found 0, allowed {}: products of {} are made on that unit",
                               type.outputs, type.name));
  return array;
}

namespace {

/// Sizes that are pinned and that the type or the array lacks.
void require_possible(const ArrayPlan& pinned, const VectorType& type, const Patch& patch,
                      const arrays::Array& array) {
  const auto require = [](bool holds, const char* key, std::uint32_t found,
                          const std::string& allowed) {
    kernels::require_pinned(found == 0 || holds, key, found, allowed);
  };
  require(pinned.rows % patch.rows == 0, "rows", pinned.rows,
          fmt::format("multiples of {}", patch.rows));
  require(pinned.columns % column_unit(type, patch) == 0, "columns", pinned.columns,
          fmt::format("multiples of {} with dtype {}", column_unit(type, patch), type.name));
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

namespace {

/// The fastest plan, or what the first one lacks.
struct Searched {
  std::optional<PricedArray> best;
  ArrayPricer::Room short_of;
};

Searched search(const ArrayPlan& pinned, const Product& product, const VectorType& type,
                MachineCosts& costs, const KeptBlocks* blocks) {
  ArrayPricer pricer(product, type, costs, blocks);
  const Patch patch = blocks != nullptr ? kept_patch(type) : kDensePatch;
  require_possible(pinned, type, patch, pricer.array());
  std::optional<PricedArray> best;
  std::optional<ArrayPricer::Room> short_of;
  const auto consider = [&](const ArrayPlan& plan) {
    auto room = pricer.too_many(plan);
    const std::optional<ArrayGrid> grid = room ? std::nullopt : std::optional(pricer.grid(plan));
    if (grid) room = pricer.too_large(*grid);
    if (room) {
      if (!short_of) short_of = room;
      return;
    }
    const std::uint64_t below = best ? best->prediction.cycles : ~std::uint64_t{0};
    if (const auto priced = pricer.price(*grid, below)) best = priced;
  };
  const auto sizes = [](std::uint32_t given, std::uint32_t unit, std::uint32_t least,
                        std::uint32_t all) {
    return given != 0 ? std::vector{given} : sides(unit, least, all);
  };
  const std::uint32_t column_step = column_unit(type, patch);
  for (const std::uint32_t rows : sizes(pinned.rows, patch.rows, 0, product.m))
    for (const std::uint32_t columns : sizes(pinned.columns, column_step, 0, product.n))
      for (const std::uint32_t depth :
           sizes(pinned.depth, depth_unit(type), least_depth(type), product.k))
        for (const std::uint32_t array_rows :
             cores(pinned.array_rows, pricer.array().rows, ceil_div(product.m, rows)))
          for (const std::uint32_t array_columns :
               cores(pinned.array_columns, pricer.array().columns, ceil_div(product.n, columns))) {
            ArrayPlan plan{rows,
                           columns,
                           depth,
                           array_rows,
                           array_columns,
                           pinned.list_rows,
                           pinned.whole_sums};
            if (plan.list_rows == 0)
              plan.list_rows = std::min(ceil_div(product.m, rows * array_rows), kMostListRows);
            consider(plan);
          }
  return {best, short_of.value_or(ArrayPricer::Room{})};
}

}  // namespace

PricedArray array_plan(const ArrayPlan& pinned, const Product& product, const VectorType& type,
                       MachineCosts& costs, const KeptBlocks* blocks) {
  const auto [best, short_of] = search(pinned, product, type, costs, blocks);
  if (best) return *best;
  if (pinned != ArrayPlan{})
    throw KeyError("workload.plan",
                   fmt::format("found tiles that take {} bytes of {} at least, allowed {}",
                               short_of.needed, short_of.what, short_of.there));
  throw UserError(fmt::format(
      "a product of {}x{}x{} {}: the smallest tiles take {} bytes of {}, which has {}", product.m,
      product.n, product.k, type.name, short_of.needed, short_of.what, short_of.there));
}

std::optional<std::uint64_t> dense_cycles(const Product& product, const VectorType& type,
                                          MachineCosts& costs) {
  const Searched found = search({}, product, type, costs, nullptr);
  return found.best ? std::optional(found.best->prediction.cycles) : std::nullopt;
}

}  // namespace tessera::gemm
