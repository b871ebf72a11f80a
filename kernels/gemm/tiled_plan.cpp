#include <algorithm>
#include <utility>

#include "kernels/gemm/vector_product.h"
#include "kernels/pinned.h"
#include "kernels/planned.h"
#include "kernels/stored.h"

namespace tessera::gemm {

using plan::Tile;

namespace {

/// Candidate sizes of a side: the given one, or the side in parts, rounded up to `unit`s, largest
/// first. Numbers of parts: all up to `all_to`, then growing by an eighth, at most `most`.
std::vector<std::uint32_t> sizes_in_parts(std::uint32_t given, std::uint32_t all,
                                          std::uint32_t unit, std::uint32_t least,
                                          std::uint32_t most, std::uint32_t all_to) {
  if (given != 0) return {given};
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t parts = 1; parts <= most;
       parts += parts < all_to ? 1 : std::max(1U, parts / 8)) {
    const std::uint32_t size = std::max(round_up(ceil_div(all, parts), unit), least);
    if (sizes.empty() || size < sizes.back()) sizes.push_back(size);
    if (size == std::max(unit, least)) break;
  }
  return sizes;
}

/// All plans of a product: options are sizes of a tile of C and parts of the depth, variants are
/// numbers of steps.
class TiledPlans {
 public:
  TiledPlans(const VectorPlan& pinned, const VectorProduct& problem, MachineCosts& costs,
             const KeptBlocks* blocks)
      : pinned_(pinned), problem_(problem), blocks_(blocks), pricing_(costs), plans_(pricing_) {
    const auto [m, n, k] = problem.product;
    const VectorType& type = *problem.grid.type;
    const Patch patch = problem.grid.patch;
    const Tile tiles = machine().tiles;
    for (const std::uint32_t rows : sizes_in_parts(pinned.rows, m, patch.rows, 0, tiles, tiles))
      for (const std::uint32_t columns :
           sizes_in_parts(pinned.columns, n, column_unit(type, patch), 0, tiles, tiles))
        add(rows, columns);
    require_any();
  }

  [[nodiscard]] Searched search() {
    const auto described = [this](const VectorPlan& plan) {
      VectorProduct of = problem_;
      of.grid = VectorGrid(of.product, *of.grid.type, plan, blocks_);
      return describe_tiles(of, machine());
    };
    const auto [plan, found] = kernels::best_of(
        plans_, [this](const VectorPlan& of) { return least_bytes(of); }, described);
    if (!found.fits)
      return {{},
              {},
              kernels::no_plan_fits(problem_text(*problem_.grid.type, problem_.product),
                                    printed(plan, machine(), blocks_ != nullptr), found.memory,
                                    machine())};
    const Prediction& time = found.prediction;
    return {PricedProduct{plan, time,
                          time.compute_cycles >= time.exchange_cycles ? "compute" : "exchange"},
            {}};
  }

 private:
  [[nodiscard]] const MachineConfig& machine() const { return plans_.machine(); }
  void add(std::uint32_t rows, std::uint32_t columns) {
    const auto [m, n, k] = problem_.product;
    const std::uint32_t down = ceil_div(m, rows), across = ceil_div(n, columns);
    const std::uint32_t groups = machine().tiles / down / across;
    std::uint32_t first = 1, last = groups;
    if (pinned_.depth_parts != 0) first = last = pinned_.depth_parts;
    if (!pinned_.whole_sums) last = std::min(last, 1U);
    for (std::uint32_t parts = first; parts <= std::min(last, groups);
         parts += std::max(1U, parts / 8)) {
      if (parts > ceil_div(k, least_step())) break;
      const std::vector<std::uint32_t> depths = this->depths(parts);
      if (depths.empty()) continue;
      VectorPlan plan{rows, columns, 0, down, across, 0, pinned_.whole_sums, parts};
      const std::uint64_t bound = this->bound(plan);
      const auto variant = [plan, depths](std::uint32_t number) {
        VectorPlan its = plan;
        its.depth = depths[number];
        return its;
      };
      plans_.add_variants(word(depths.size()), variant, bound);
    }
  }
  /// If there is no plan, throws KeyError for the pinned size that makes more parts than tiles or
  /// steps.
  void require_any() {
    if (!plans_.bounds().empty()) return;
    const std::uint32_t parts = pinned_.depth_parts;
    if (parts > ceil_div(problem_.product.k, least_step()) || depths(std::max(parts, 1U)).empty())
      kernels::require_pinned(
          false, "depth_parts", parts,
          "numbers for which each part has some of a depth of {}, in steps of {}",
          problem_.product.k, least_step());
    const auto& [key, found] = parts > 1           ? std::pair{"depth_parts", parts}
                               : pinned_.rows != 0 ? std::pair{"rows", pinned_.rows}
                                                   : std::pair{"columns", pinned_.columns};
    kernels::require_pinned(false, key, found, "sizes that cut the product into at most {} tiles",
                            machine().tiles);
  }
  [[nodiscard]] std::uint32_t least_step() const {
    return pinned_.depth != 0 ? pinned_.depth : least_depth(*problem_.grid.type);
  }
  /// Candidate depths of the steps of a part for which the last part is not empty.
  [[nodiscard]] std::vector<std::uint32_t> depths(std::uint32_t parts) const {
    const VectorType& type = *problem_.grid.type;
    const std::uint32_t all = problem_.product.k, k = ceil_div(all, parts);
    std::vector<std::uint32_t> depths =
        sizes_in_parts(pinned_.depth, k, depth_unit(type), least_depth(type), k, 8);
    std::erase_if(depths, [&](std::uint32_t depth) {
      const Room lists = lists_of(type, depth);
      return std::uint64_t{parts - 1} * round_up(k, depth) >= all ||
             (blocks_ != nullptr && lists.needed > lists.there);
    });
    return depths;
  }
  /// Lower bound on cycles: a single step over all of the depth; kept blocks as if distributed
  /// evenly over tiles and workers.
  [[nodiscard]] std::uint64_t bound(const VectorPlan& plan) {
    const VectorType& type = *problem_.grid.type;
    const Patch patch = problem_.grid.patch;
    const std::uint32_t contexts = machine().tile.contexts;
    const std::uint32_t parts = plan.rows / patch.rows;
    const std::uint32_t patches = plan.columns / column_unit(type, patch);
    const std::uint32_t rows = rows_of_workers(parts, patches, contexts);
    const std::uint32_t k = ceil_div(problem_.product.k, plan.depth_parts);
    const std::uint32_t depth = std::max(round_up(k, depth_unit(type)), least_depth(type));
    Sizes sizes{ceil_div(parts, rows), ceil_div(patches, contexts / rows),
                (depth - least_depth(type)) / depth_unit(type)};
    std::uint64_t b_bytes = CoreTile{0, plan.columns, k}.b_bytes(type);
    if (blocks_ != nullptr) {
      const std::uint64_t kept =
          blocks_->step.size() / plan.array_columns / plan.depth_parts;  // kept blocks per tile
      sizes[1] = 1;
      sizes[2] = kept / 2 / (contexts / rows);
      b_bytes = kept * kept_bytes(type);
    }
    plan::Description& shell = plans_.shell();
    const auto code = [&](const std::string& name) {
      return kernels::Codelet::of(code_, shell, name, contexts);
    };
    const bool kept = blocks_ != nullptr;
    const plan::Function& call = shell.function(
        products_of(code(shared_code(type, kept)), {&type, kept, Begins::zeros, Ends::results}));
    // A pair of tiles shares rows, or columns if there is only one column of tiles.
    std::uint64_t shared = CoreTile{plan.rows, 0, k}.a_bytes(type), alone = b_bytes;
    if (plan.array_columns == 1) std::swap(shared, alone);
    const Tile tiles = plan.array_rows * plan.array_columns * plan.depth_parts;
    const std::uint64_t product =
        plans_.call(call, sizes) + plans_.superstep({0, alone, shared, tiles});
    if (plan.depth_parts == 1) return product;
    const std::uint64_t sums =
        CoreTile{plan.rows, plan.columns, 0}.sum_bytes(type) / plan.depth_parts / kSumBytes;
    const plan::Function& sum = shell.function(sum_of(code(sum_code(type)), type, 0));
    return product + plans_.call(sum, {sums, plan.depth_parts - 1U}) +
           plans_.superstep({0, sums * kSumBytes * plan.depth_parts, 0, tiles});
  }
  /// Lower bound on bytes: a share of stored A and B or a tile of C, plus A and B of a step.
  [[nodiscard]] std::uint64_t least_bytes(const VectorPlan& plan) const {
    const VectorType& type = *problem_.grid.type;
    const auto [m, n, k] = problem_.product;
    const CoreTile tile = plan.tile();
    std::uint64_t b_bytes = CoreTile{0, n, k}.b_bytes(type), b_tile = tile.b_bytes(type);
    if (blocks_ != nullptr) {
      b_bytes = blocks_->step.size() * kept_bytes(type);
      b_tile = 0;
    }
    const std::uint64_t share = (CoreTile{m, 0, k}.a_bytes(type) + b_bytes) / machine().tiles;
    return std::max(share, tile.c_bytes(type)) + tile.a_bytes(type) + b_tile;
  }

  VectorPlan pinned_;
  const VectorProduct& problem_;  ///< only type and patch of its grid are set
  const KeptBlocks* blocks_;
  plan::Pricing pricing_;
  elf::KernelCode code_{"gemm"};
  kernels::Plans<VectorPlan> plans_;
};

}  // namespace

Searched search_tiles(const VectorPlan& pinned, const Product& product, const VectorType& type,
                      MachineCosts& costs, const KeptBlocks* blocks) {
  for (const auto& [key, found] : {std::pair{"array_rows", pinned.array_rows},
                                   {"array_columns", pinned.array_columns},
                                   {"list_rows", pinned.list_rows}})
    kernels::require_pinned(found == 0, key, found, "0 with machine.fabric.kind {}",
                            costs.machine().fabric.kind);
  kernels::require_pinned(pinned.whole_sums || pinned.depth_parts <= 1, "depth_parts",
                          pinned.depth_parts, "0 or 1 with sums results");
  const Room lists = lists_of(type, pinned.depth);
  if (blocks != nullptr && lists.needed > lists.there) return {{}, lists};
  VectorProduct problem{
      product, VectorGrid(product, type, {1, 1, 1, 1, 1, 1}), 0, {type, 1, 1, 0, 0}, std::nullopt};
  if (blocks != nullptr) problem.grid.patch = kept_patch(type);
  return TiledPlans(pinned, problem, costs, blocks).search();
}

}  // namespace tessera::gemm
