#include "kernels/gemm/array_plan.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>

#include "kernels/arrays/array_program.h"
#include "kernels/pinned.h"
#include "sim/base/errors.h"
#include "sim/machine/nodes.h"
#include "sim/plan/pricing.h"

namespace tessera::gemm {

using kernels::require_pinned;
namespace {

/// Most blocks of rows in a list: a shim column's DMA has 16 descriptors (AM020), and a block of
/// rows needs three: for A, B and C.
constexpr std::uint32_t kMostListRows = 5;
constexpr std::uint32_t kMostSide = 4096;  // largest side of a tile
/// Candidate sizes of a tile's side: the given one, or powers of two times `unit` up to the first
/// that covers `all`.
std::vector<std::uint32_t> sides(std::uint32_t given, std::uint32_t unit, std::uint32_t least,
                                 std::uint32_t all) {
  if (given != 0) return {given};
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = std::max(unit, least); size <= kMostSide; size *= 2) {
    sizes.push_back(size);
    if (size >= all) break;
  }
  return sizes;
}

/// Candidate rows or columns of cores for `tiles` tiles: for each number of rounds the fewest
/// cores, in descending order.
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

std::uint64_t room_of(const TileConfig& tile) { return arrays::data_bytes(tile, kZeroBytes); }

/// Bytes on the fullest memory tile.
std::uint64_t staged_bytes(const VectorGrid& grid, const arrays::Array& array) {
  const CoreTile tile = grid.plan.tile();
  const std::uint64_t rows = ceil_div(grid.plan.array_rows, array.columns);
  return 2 * (rows * tile.a_bytes(*grid.type) + CoreLayout(grid).b_slot +
              std::uint64_t{grid.plan.array_rows} * tile.c_bytes(*grid.type));
}

/// The best plan of one product by memory, measured calls and the streams' rates.
class ArraySearch {
 public:
  /// `blocks`: see VectorGrid.
  ArraySearch(const Product& product, const VectorType& type, MachineCosts& costs,
              const KeptBlocks* blocks)
      : product_(product),
        type_(type),
        blocks_(blocks),
        pricing_(costs),
        machine_(costs.machine()),
        array_(array_of(machine_)) {}

  [[nodiscard]] const arrays::Array& array() const { return array_; }
  [[nodiscard]] Searched found() const { return {best_, short_of_.value_or(Room{})}; }
  void consider(const VectorPlan& plan) {
    const std::uint64_t ddr = room_of(tile_of(machine_, array_.ddr));
    if (blocks_ != nullptr) {
      // Before the kept tiles are made: the minimum of their blocks.
      const VectorGrid all(product_, type_, plan);
      const std::uint64_t pairs = std::uint64_t{all.n} / kKeptColumns * all.steps;
      if (!fit({{"DDR", pairs * 2 * kept_bytes(type_), ddr}})) return;
    }
    const VectorGrid grid(product_, type_, plan, blocks_);
    if (fit({grid.kept ? lists_of(type_, plan.depth) : Room{},
             {"a core", CoreLayout(grid).end, room_of(machine_.tile)},
             {"a memory tile", staged_bytes(grid, array_),
              room_of(tile_of(machine_, array_.first_memory))},
             {"DDR", grid.a_bytes() + grid.b_bytes() + grid.c_bytes(), ddr}}))
      price(grid);
  }

 private:
  /// True if all fit; remembers the first that does not.
  bool fit(std::initializer_list<Room> rooms) {
    for (const Room& room : rooms) {
      if (room.needed <= room.there) continue;
      if (!short_of_) short_of_ = room;
      return false;
    }
    return true;
  }
  /// Prices a plan; keeps it if it is the fastest so far.
  void price(const VectorGrid& grid) {
    const std::uint64_t below = best_ ? best_->prediction.cycles : ~std::uint64_t{0};
    const std::vector<std::uint64_t> calls = this->calls(grid);
    const ArrayOrder order(grid, array_);
    arrays::Timeline timeline(machine_, array_.nodes());
    order.add(timeline);
    const std::uint64_t steps = grid.steps;
    // A core starts and awaits two transfers a step, and results; DDR those of all cores.
    constexpr std::uint64_t kTransfer = 2 * arrays::Timeline::kLeastControl;
    std::uint64_t computed = kTransfer * (2 * steps + 1) + calls.front();
    if (steps > 1) computed += (steps - 2) * calls[1] + calls.back();
    const std::uint64_t transfers =
        steps * (grid.plan.array_rows + grid.plan.array_columns) + grid.plan.array_columns;
    const std::uint64_t moved =
        std::max(kTransfer * transfers, timeline.least([&](arrays::Channel channel) {
          return order.is_of_steps(channel) ? steps : 1;
        }));
    if (order.blocks() * std::max(computed, moved) >= below) return;
    Prediction prediction;
    prediction.compute_cycles = order.blocks() * computed;
    const auto add = [&](std::uint32_t node, std::uint32_t step, arrays::Items& items) {
      order.add(node, step, items);
      for (arrays::Item& item : items)
        if (item.kind == arrays::Item::Kind::work)
          item.cycles = step % steps == 0         ? calls.front()
                        : (step + 1) % steps == 0 ? calls.back()
                                                  : calls[1];
    };
    prediction.cycles = std::max(
        timeline.run({order.steps(), {1, grid.steps, grid.steps * order.list_blocks()}, add}),
        prediction.compute_cycles + machine_.sync.chip_cycles);
    prediction.sync_cycles = machine_.sync.chip_cycles;
    prediction.exchange_cycles =
        prediction.cycles - prediction.compute_cycles - prediction.sync_cycles;
    if (prediction.cycles < below)
      best_ = PricedProduct{grid.plan, prediction, computed >= moved ? "compute" : "DDR"};
  }
  /// Cycles of a call, measured on the machine's tile; with kept blocks each patch has `pairs`
  /// pairs.
  [[nodiscard]] std::uint64_t call(const CoreTile& tile, Begins begins, Ends ends,
                                   std::uint64_t pairs = 0) {
    const CallKind kind{&type_, pairs != 0, begins, ends};
    const Patch patch = patch_of(type_, kind.kept);
    const auto code = kernels::Codelet::of(code_, shell_, core_code(type_, kind.kept), 0);
    return pricing_.call(shell_, shell_.function(product_of(code, kind)),
                         {tile.rows / patch.rows, tile.columns / column_unit(type_, patch),
                          (tile.depth - least_depth(type_)) / depth_unit(type_), pairs});
  }
  /// Cycles of a tile with `pairs` pairs in all patches, extrapolated from two and four pairs per
  /// patch.
  [[nodiscard]] std::uint64_t kept_call(const VectorGrid& grid, Begins begins, Ends ends,
                                        std::uint64_t pairs) {
    const CoreTile tile = grid.plan.tile();
    const std::uint64_t two = call(tile, begins, ends, 2);
    const std::uint64_t more = call(tile, begins, ends, 4) - two;
    const std::uint64_t unit = std::uint64_t{2} * grid.kept->patches();
    return two + more * pairs / unit - more;
  }
  /// Average cycles of a block: in each step those of the column of cores with the fullest tile.
  [[nodiscard]] std::uint64_t kept_compute(const VectorGrid& grid) {
    std::uint64_t sum = 0;
    for (std::uint32_t block = 0; block < grid.column_blocks; ++block)
      for (std::uint32_t step = 0; step < grid.steps; ++step) {
        std::uint32_t most = 0;
        for (std::uint32_t column = 0; column < grid.plan.array_columns; ++column)
          most = std::max(most, grid.kept->pairs(block * grid.plan.array_columns + column, step));
        sum += kept_call(grid, grid.begins(step), grid.ends(step), most);
      }
    return ceil_div(sum, std::uint64_t{grid.column_blocks});
  }
  /// Cycles of a block's first step, each middle step and the last step; with kept blocks the
  /// average.
  [[nodiscard]] std::vector<std::uint64_t> calls(const VectorGrid& grid) {
    if (grid.kept) return std::vector(3, ceil_div(kept_compute(grid), std::uint64_t{grid.steps}));
    std::vector<std::uint64_t> calls;
    for (const std::uint32_t step : {0U, std::min(1U, grid.steps - 1), grid.steps - 1})
      calls.push_back(call(grid.plan.tile(), grid.begins(step), grid.ends(step)));
    return calls;
  }

  Product product_;
  VectorType type_;
  const KeptBlocks* blocks_;
  plan::Pricing pricing_;
  elf::KernelCode code_{"gemm"};
  plan::Description shell_{1};  ///< owns the functions of calls
  MachineConfig machine_;
  arrays::Array array_;
  std::optional<PricedProduct> best_;
  std::optional<Room> short_of_;
};

void require_cores(const VectorPlan& pinned, const arrays::Array& array) {
  require_pinned(pinned.array_rows <= array.rows, "array_rows", pinned.array_rows,
                 "1 to the array's {}", array.rows);
  require_pinned(pinned.array_columns <= array.columns, "array_columns", pinned.array_columns,
                 "1 to the array's {}", array.columns);
  for (const auto& [key, size] :
       {std::pair{"rows", pinned.rows}, {"columns", pinned.columns}, {"depth", pinned.depth}})
    require_pinned(size <= kMostSide, key, size, "0 to {} on arrays", kMostSide);
  require_pinned(pinned.depth_parts == 0, "depth_parts", pinned.depth_parts,
                 "0 with machine.fabric.kind streams");
}

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
                     "they wait for the requested ones");
  };
  require_overlap("machine.tile", machine.tile.overlap);
  for (std::size_t i = 0; i < machine.nodes.size(); ++i)
    if (machine.nodes[i].name == "ddr")
      require_overlap(fmt::format("machine.nodes[{}].tile", i), machine.nodes[i].tile.overlap);
  return array;
}

Searched search_array(const VectorPlan& pinned, const Product& product, const VectorType& type,
                      MachineCosts& costs, const KeptBlocks* blocks) {
  ArraySearch search(product, type, costs, blocks);
  const Patch patch = patch_of(type, blocks != nullptr);
  require_cores(pinned, search.array());
  const std::uint32_t column_step = column_unit(type, patch);
  for (const std::uint32_t rows : sides(pinned.rows, patch.rows, 0, product.m))
    for (const std::uint32_t columns : sides(pinned.columns, column_step, 0, product.n))
      for (const std::uint32_t depth :
           sides(pinned.depth, depth_unit(type), least_depth(type), product.k))
        for (const std::uint32_t array_rows :
             cores(pinned.array_rows, search.array().rows, ceil_div(product.m, rows)))
          for (const std::uint32_t array_columns :
               cores(pinned.array_columns, search.array().columns, ceil_div(product.n, columns))) {
            VectorPlan plan{rows,
                            columns,
                            depth,
                            array_rows,
                            array_columns,
                            pinned.list_rows,
                            pinned.whole_sums};
            if (plan.list_rows == 0)
              plan.list_rows = std::min(ceil_div(product.m, rows * array_rows), kMostListRows);
            search.consider(plan);
          }
  return search.found();
}

}  // namespace tessera::gemm
