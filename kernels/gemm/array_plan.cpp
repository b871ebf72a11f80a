#include "kernels/gemm/array_plan.h"

#include <algorithm>
#include <optional>

#include "kernels/pinned.h"
#include "sim/base/errors.h"

namespace tessera::gemm {
namespace {

/// A shim column's DMA has 16 descriptors (AM020), of which a block of rows takes three: for A, B
/// and C. A list holds no more.
constexpr std::uint32_t kMostListRows = 5;
constexpr std::uint32_t kMostSide = 4096;  // of a tile
/// Sizes of a tile's side: powers of two times `unit`, up to what holds `all`.
std::vector<std::uint32_t> sides(std::uint32_t unit, std::uint32_t least, std::uint32_t all) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = std::max(unit, least); size <= kMostSide; size *= 2) {
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

/// Bytes of a buffer of a core.
std::uint32_t slot(std::uint64_t bytes) { return word(round_up(bytes, std::uint64_t{kSlotAlign})); }

}  // namespace

CoreLayout::CoreLayout(const VectorGrid& grid)
    : a_slot(slot(grid.plan.tile().a_bytes(*grid.type))),
      b_slot(slot(grid.b_buffer_bytes())),
      c_slot(slot(grid.plan.tile().c_bytes(*grid.type))) {
  a = 0;
  b = word(std::uint64_t{2} * a_slot);
  c = word(b + std::uint64_t{2} * b_slot);
  sums = word(c + std::uint64_t{2} * c_slot);
  zeros = word(sums + (grid.keeps_sums() ? grid.plan.tile().sum_bytes(*grid.type) : 0));
  end = word(std::uint64_t{zeros} + kZeroBytes);
}

arrays::Array array_of(const MachineConfig& machine) {
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
  return array;
}

namespace {

void require_cores(const VectorPlan& pinned, const arrays::Array& array) {
  const auto require = [](bool holds, const char* key, std::uint32_t found,
                          const std::string& allowed) {
    kernels::require_pinned(holds, key, found, allowed);
  };
  require(pinned.array_rows <= array.rows, "array_rows", pinned.array_rows,
          fmt::format("1 to the array's {}", array.rows));
  require(pinned.array_columns <= array.columns, "array_columns", pinned.array_columns,
          fmt::format("1 to the array's {}", array.columns));
  for (const auto& [key, size] :
       {std::pair{"rows", pinned.rows}, {"columns", pinned.columns}, {"depth", pinned.depth}})
    require(size <= kMostSide, key, size, fmt::format("0 to {} on arrays", kMostSide));
  require(pinned.depth_parts == 0, "depth_parts", pinned.depth_parts,
          "0 with machine.fabric.kind streams");
}

}  // namespace

Searched search_array(const VectorPlan& pinned, const Product& product, const VectorType& type,
                      MachineCosts& costs, const KeptBlocks* blocks) {
  ArrayPricer pricer(product, type, costs, blocks);
  const Patch patch = blocks != nullptr ? kept_patch(type) : kDensePatch;
  require_cores(pinned, pricer.array());
  std::optional<PricedProduct> best;
  std::optional<Room> short_of;
  const auto consider = [&](const VectorPlan& plan) {
    auto room = pricer.too_many(plan);
    const std::optional<VectorGrid> grid = room ? std::nullopt : std::optional(pricer.grid(plan));
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
            VectorPlan plan{rows,
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
  return {best, short_of.value_or(Room{})};
}

}  // namespace tessera::gemm
