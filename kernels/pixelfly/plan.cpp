#include "kernels/pixelfly/plan.h"

#include <algorithm>

#include "kernels/spmm_static/cost.h"
#include "sim/base/errors.h"

namespace tessera::pixelfly {

using spmm_static::DenseRows;

void describe(config::Fields& fields, PinnedCuts& cuts) {
  fields.field({"parts", "intervals of the batch, added up at the end; 0: chosen"}, cuts.parts);
  fields.field({"bands", "bands of block columns; 0: chosen"}, cuts.bands);
}

void describe(config::Fields& fields, Pinned& plan) {
  fields.group({"low_rank", "the products that come first: V^T X, U^T dY"}, plan.low_rank);
  fields.group({"sparse", "passes forward and grad_input: the product with [S | U] or [S^T | V]"},
               plan.sparse);
  fields.group({"dw", "pass grad_weights: the gradients of S and U"}, plan.dw);
  fields.group({"dv", "pass grad_weights: the gradient of V"}, plan.dv);
}

void add(Prediction& sum, const Prediction& more) {
  sum.cycles += more.cycles;
  sum.compute_cycles += more.compute_cycles;
  sum.exchange_cycles += more.exchange_cycles;
  sum.sync_cycles += more.sync_cycles;
}

Prediction ChainPlan::prediction() const {
  Prediction sum = outer.prediction;
  if (inner) add(sum, inner->prediction);
  return sum;
}

namespace {

class ChainPlanner {
 public:
  ChainPlanner(const Chain& chain, const sparse::Shape& shape, std::uint32_t n, MachineCosts& costs,
               const Pinned& pinned)
      : chain_(chain), shape_(shape), n_(n), costs_(costs), pinned_(pinned) {
    const std::uint32_t columns = round_up(n, shape.lanes());
    const std::uint32_t tiles = costs.machine().tiles;
    inner_shape_.layout = kernels::Layout::blocked;
    inner_shape_.block = inner_block(shape_);
    const std::uint64_t made = chain.inner.rows;
    const std::uint64_t given = std::uint64_t{chain.outer.block_columns()} * shape.block - made;
    x_.push_back({0, spmm_static::rows_on_tiles(shape, given, columns, tiles)});
    if (made > 0)
      x_.push_back({given, spmm_static::rows_on_tiles(inner_shape_, made, columns, tiles)});
  }

  /// The outer product is planned first; what it holds meanwhile the inner one has beside it. Where
  /// that leaves too little room, the outer one is planned for less.
  ChainPlan run() {
    constexpr std::uint64_t kSteps = 4;
    const std::uint64_t capacity = std::uint64_t{costs_.machine().tile.sram_kib} * 1024;
    for (std::uint64_t step = 0;; ++step) {
      spmm_static::Plan outer = plan_outer(capacity * step / (2 * kSteps));
      if (chain_.inner.rows == 0) return {std::nullopt, std::move(outer)};
      try {
        spmm_static::Plan inner = plan_inner(outer);
        if (fits(outer, inner) || step == kSteps) return {std::move(inner), std::move(outer)};
      } catch (const UserError&) {
        if (step == kSteps) throw;
      }
    }
  }

 private:
  spmm_static::Plan plan_outer(std::uint64_t beside) {
    return spmm_static::choose_plan(chain_.outer, shape_, n_, costs_, pinned_.sparse,
                                    {"pixelfly", "workload.plan.sparse", x_, beside});
  }
  spmm_static::Plan plan_inner(const spmm_static::Plan& outer) {
    const spmm_static::Resident held = resident(outer.partition);
    return spmm_static::choose_plan(chain_.inner, inner_shape_, n_, costs_, pinned_.low_rank,
                                    {"pixelfly",
                                     "workload.plan.low_rank",
                                     {x_.front()},
                                     held.values + held.lists + x_.front().storage.each()});
  }
  [[nodiscard]] bool fits(const spmm_static::Plan& outer, const spmm_static::Plan& inner) const {
    const std::uint64_t lists = resident(inner.partition).lists;
    return program::total(tile_memory(outer.partition, lists)) <=
           std::uint64_t{costs_.machine().tile.sram_kib} * 1024;
  }

  const Chain& chain_;
  const sparse::Shape shape_;
  std::uint32_t n_;
  MachineCosts& costs_;
  const Pinned& pinned_;
  sparse::Shape inner_shape_ = shape_;
  std::vector<DenseRows> x_;
};

}  // namespace

ChainPlan plan_chain(const Chain& chain, const sparse::Shape& shape, std::uint32_t n,
                     MachineCosts& costs, const Pinned& pinned) {
  return ChainPlanner(chain, shape, n, costs, pinned).run();
}

}  // namespace tessera::pixelfly
