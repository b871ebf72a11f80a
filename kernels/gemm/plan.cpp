#include "kernels/gemm/plan.h"

#include <algorithm>
#include <optional>

#include "kernels/gemm/cost.h"
#include "kernels/gemm/finalists.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/data/element.h"

namespace tessera::gemm {

namespace {

constexpr config::Names<Stationary, 2> kOperands{{{"a", Stationary::a}, {"b", Stationary::b}}};

/// The parts that blocks allow for m, n and k.
Product most_parts(const Product& product, const BlockShape& block, Stationary stationary) {
  const std::uint32_t depth = ceil_div(product.k, block.depth);
  if (stationary == Stationary::b) return {product.m, ceil_div(product.n, block.columns), depth};
  return {ceil_div(product.m, block.columns), product.n, depth};
}

/// Rows hold blocks as they are if B is stationary; else every block would have to be transposed.
bool allows(Layout layout, Stationary stationary) {
  return layout == Layout::blocked || stationary == Stationary::b;
}

std::uint64_t capacity(const MachineConfig& machine) {
  return std::uint64_t{machine.tile.sram_kib} * 1024;
}

class Search {
 public:
  Search(const Problem& problem, MachineCosts& costs)
      : problem_(problem), machine_(costs.machine()), machine_costs_(costs), costs_(costs) {}

  Candidate run() {
    for (const Type partials : {Type::f16, Type::f32}) {
      if (problem_.dtype == Type::f32 && partials == Type::f16) continue;
      if (!problem_.any_partials && partials != problem_.partials) continue;
      for (const Stationary stationary : {Stationary::a, Stationary::b}) {
        if (!allows(problem_.layout, stationary)) continue;
        try_grids(partials, stationary);
      }
    }
    if (finalists_.empty()) fail();
    return finalists_.best(problem_, machine_costs_);
  }

 private:
  void try_grids(Type partials, Stationary stationary) {
    const BlockShape block = block_shape(problem_.unit, problem_.dtype, partials);
    const Product most = most_parts(problem_.product, block, stationary);
    Plan plan;
    plan.partials = partials;
    plan.stationary = stationary;
    for (plan.split_k = 1; plan.split_k <= std::min(most.k, machine_.tiles); ++plan.split_k) {
      if (!worth(most.k, plan.split_k)) continue;
      const std::uint32_t layer = machine_.tiles / plan.split_k;
      for (plan.split_n = 1; plan.split_n <= std::min(most.n, layer); ++plan.split_n) {
        if (stationary == Stationary::b && !worth(most.n, plan.split_n)) continue;
        plan.split_m = std::min(most.m, layer / plan.split_n);
        for (const std::uint32_t even : {0U, 1U}) {
          if (even == 1 && (plan.split_m < 2 || plan.split_m % 2 == 0)) break;
          plan.split_m -= even;
          try_cuts(plan, most.k);
        }
      }
    }
  }

  /// Further parts are of use only if the largest part gets smaller.
  static bool worth(std::uint32_t blocks, std::uint32_t parts) {
    return parts == 1 || ceil_div(blocks, parts) < ceil_div(blocks, parts - 1);
  }

  /// As few supersteps as SRAM allows.
  void try_cuts(Plan plan, std::uint32_t depth_blocks) {
    const std::uint32_t most = depth_blocks / plan.split_k;
    for (const Stationary pairs : {Stationary::a, Stationary::b}) {
      plan.pairs = pairs;
      plan.cuts = 1;
      // More supersteps only cost more. (Without a plan that fits, parts may be of any size.)
      if (!finalists_.empty() && !finalists_.take(costs_.predict(Geometry(problem_, plan)).cycles))
        continue;
      const std::optional<std::uint32_t> cuts = fewest_cuts(plan, most);
      if (!cuts) continue;
      plan.cuts = *cuts;
      const Geometry geometry(problem_, plan);
      const Prediction prediction = costs_.predict(geometry);
      if (!finalists_.take(prediction.cycles)) continue;
      finalists_.add({plan, prediction, program::total(tile_memory(geometry, machine_))});
    }
  }

  [[nodiscard]] bool fits(Plan plan, std::uint32_t cuts) {
    plan.cuts = cuts;
    const std::uint64_t bytes = program::total(tile_memory(Geometry(problem_, plan), machine_));
    if (bytes < least_bytes_) {
      least_bytes_ = bytes;
      closest_ = plan;
    }
    return bytes + problem_.reserved <= capacity(machine_);
  }

  [[nodiscard]] std::optional<std::uint32_t> fewest_cuts(const Plan& plan, std::uint32_t most) {
    if (fits(plan, 1)) return 1;
    if (lasting_bytes(Geometry(problem_, plan), machine_) > capacity(machine_)) return std::nullopt;
    for (std::uint32_t cuts = 2; cuts <= most; cuts = std::max(cuts + 1, cuts + cuts / 8)) {
      if (fits(plan, cuts)) return cuts;
    }
    return std::nullopt;
  }

  [[noreturn]] void fail() const {
    const Product& p = problem_.product;
    const std::string what =
        fmt::format("no plan of gemm for m={} n={} k={} fits {}; of the closest, {}", p.m, p.n, p.k,
                    counted(machine_.tiles, "tile"), config::resolved(*closest_).dump());
    program::CategoryBytes need = tile_memory(Geometry(problem_, *closest_), machine_);
    need[static_cast<std::size_t>(program::Category::tensors)] += problem_.reserved;
    throw UserError(program::overflow_message(what, {&need, 1}, machine_));
  }

  const Problem& problem_;
  const MachineConfig& machine_;
  const MachineCosts& machine_costs_;
  PlanCosts costs_;
  Finalists finalists_;
  std::uint64_t least_bytes_ = ~std::uint64_t{0};
  std::optional<Plan> closest_;  ///< the one of least_bytes_, while nothing fits
};

void check_parts(const char* key, std::uint64_t found, std::uint64_t most, const char* what) {
  if (found >= 1 && found <= most) return;
  throw KeyError(fmt::format("workload.plan.{}", key),
                 fmt::format("found {}, allowed 1 to {} ({})", found, most, what));
}

}  // namespace

void describe(config::Fields& fields, Plan& plan) {
  const config::Range<std::uint32_t> parts{1, 1U << 24};
  fields.field({"split_m", "parts of m"}, plan.split_m, parts);
  fields.field({"split_n", "parts of n"}, plan.split_n, parts);
  fields.field({"split_k", "parts of k, added up at the end"}, plan.split_k, parts);
  fields.field({"cuts", "supersteps in which a tile's part of k is loaded"}, plan.cuts, parts);
  fields.field({"stationary", "operand that the matrix unit holds"}, plan.stationary, kOperands);
  fields.field({"partials", "type of partial sums"}, plan.partials, data::kFloatTypes);
  fields.field({"pairs", "operand of which a pair of tiles takes the same part"}, plan.pairs,
               kOperands);
}

Candidate choose_plan(const Problem& problem, MachineCosts& costs) {
  return Search(problem, costs).run();
}

Candidate pinned_plan(const Plan& plan, const Problem& problem, MachineCosts& costs) {
  const MachineConfig& machine = costs.machine();
  if (problem.dtype == Type::f32 && plan.partials != Type::f32) {
    throw KeyError("workload.plan.partials", "found f16, allowed f32 for dtype f32");
  }
  if (!allows(problem.layout, plan.stationary)) {
    throw KeyError("workload.plan.stationary", "found a, allowed b for layout natural");
  }
  const BlockShape block = block_shape(problem.unit, problem.dtype, plan.partials);
  const Product most = most_parts(problem.product, block, plan.stationary);
  check_parts("split_m", plan.split_m, most.m, "rows or blocks of m");
  check_parts("split_n", plan.split_n, most.n, "columns or blocks of n");
  check_parts("split_k", plan.split_k, most.k, "blocks of k");
  check_parts("cuts", plan.cuts, most.k / plan.split_k, "blocks of a part of k");
  const std::uint64_t tiles = std::uint64_t{plan.split_m} * plan.split_n * plan.split_k;
  if (tiles > machine.tiles) {
    throw KeyError("workload.plan",
                   fmt::format("found {} x {} x {} = {} parts, allowed at most one for each of {}",
                               plan.split_m, plan.split_n, plan.split_k, tiles,
                               counted(machine.tiles, "tile")));
  }
  const Geometry geometry(problem, plan);
  const std::uint64_t bytes = program::total(tile_memory(geometry, machine));
  return compiled({plan, PlanCosts(costs).predict(geometry), bytes}, problem, costs);
}

}  // namespace tessera::gemm
