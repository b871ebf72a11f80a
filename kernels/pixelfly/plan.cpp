#include "kernels/pixelfly/plan.h"

#include <algorithm>
#include <exception>

#include "kernels/spmm_static/cost.h"
#include "kernels/spmm_static/moved.h"
#include "sim/base/errors.h"
#include "sim/plan/program_cost.h"
#include "sim/plan/step_costs.h"

namespace tessera::pixelfly {

using spmm_static::DenseRows;

namespace {

constexpr config::Names<Products, 3> kProducts{{{"best", Products::best},
                                                {"matrix_unit", Products::matrix_unit},
                                                {"vector", Products::vector}}};

}  // namespace

void describe(config::Fields& fields, PinnedCuts& cuts) {
  fields.field({"parts", "intervals of the batch, added up at the end; 0: chosen"}, cuts.parts);
  fields.field({"bands", "bands of block columns, at most; 0: chosen"}, cuts.bands);
}

void describe(config::Fields& fields, Pinned& plan) {
  fields.group({"low_rank", "the products that come first: V^T X, U^T dY"}, plan.low_rank);
  fields.optional_group({"low_rank_back", "pass grad_weights: U^T dY, if not as low_rank"},
                        plan.low_rank_back);
  fields.group({"sparse", "passes forward and grad_input: the product with [S | U] or [S^T | V]"},
               plan.sparse);
  fields.group({"dw", "pass grad_weights: the gradients of S and U"}, plan.dw);
  fields.group({"dv", "pass grad_weights: the gradient of V"}, plan.dv);
  fields.field({"products", "pass grad_weights: what multiplies the gradients of S, U and V"},
               plan.products, kProducts);
  fields.field({"rounds",
                "passes forward and grad_input: equal parts of the batch that are computed one "
                "after the other; 0: as few as fit"},
               plan.rounds, {0, 1U << 20});
}

namespace {

/// Plans of both products for a number of rounds.
class ChainPlanner {
 public:
  ChainPlanner(const Chain& chain, const sparse::Shape& shape, std::uint32_t n, MachineCosts& costs,
               const Pinned& pinned, std::uint32_t rounds)
      : chain_(chain),
        shape_(shape),
        n_(ceil_div(n, rounds)),
        costs_(costs),
        pinned_(pinned),
        rounds_(rounds),
        capacity_(std::uint64_t{costs.machine().tile.sram_kib} * 1024) {
    const std::uint32_t columns = round_up(n_, shape.lanes());
    const std::uint32_t tiles = costs.machine().tiles;
    inner_shape_.layout = kernels::Layout::blocked;
    inner_shape_.block = inner_block(shape_);
    const std::uint64_t made = chain.inner.rows;
    const std::uint64_t given = std::uint64_t{chain.outer.block_columns()} * shape.block - made;
    x_.push_back({0, spmm_static::rows_on_tiles(shape, given, columns, tiles)});
    y_ = spmm_static::rows_on_tiles(shape, std::uint64_t{chain.outer.block_rows()} * shape.block,
                                    columns, tiles);
    if (made > 0)
      x_.push_back({given, spmm_static::rows_on_tiles(inner_shape_, made, columns, tiles)});
  }

  /// Whether what other rounds hold, and `lists` bytes, leave room for this one's X, Y and Z, and
  /// for the rows that tiles need of these, each once at least.
  [[nodiscard]] bool possible(std::uint64_t lists) const {
    const std::uint64_t x = x_.front().storage.each() + made();
    const std::uint64_t q = y_.each() / shape_.bytes() * shape_.partial_bytes();
    return lists + others() + x + std::max(x, q) < capacity_;
  }
  /// The outer product is planned first; what it holds meanwhile the inner one has beside it. Where
  /// that leaves too little room, the outer one is planned for less. Nothing if none fits.
  std::optional<ChainPlan> run() {
    constexpr std::uint64_t kSteps = 4;
    for (std::uint64_t step = 0; step <= kSteps; ++step) {
      try {
        ChainPlan plan = planned(capacity_ * step / (2 * kSteps));
        if (fits(plan)) return plan;
      } catch (const KeyError&) {
        if (rounds_ == 1 || pinned_.rounds != 0) throw;
      } catch (const UserError&) {
        if (!why_) why_ = std::current_exception();
        break;  // with less room it does not fit either
      }
    }
    return std::nullopt;
  }
  /// Why none does, and how many bytes the closest would need.
  [[nodiscard]] const std::exception_ptr& why() const { return why_; }
  [[nodiscard]] std::uint64_t needed() const { return needed_; }
  /// Bytes that every round adds: the lists of its exchanges.
  [[nodiscard]] std::uint64_t lists() const { return lists_; }

 private:
  [[nodiscard]] std::uint64_t made() const { return x_.size() > 1 ? x_[1].storage.each() : 0; }
  /// Bytes of a tile: X that waits, or Y and Z that are done, of the other rounds.
  [[nodiscard]] std::uint64_t others() const {
    return (rounds_ - 1) * std::max(x_.front().storage.each(), y_.each() + made());
  }

  ChainPlan planned(std::uint64_t slack) {
    ChainPlan plan{std::nullopt, plan_outer(slack + others()), rounds_};
    if (chain_.inner.rows > 0) plan.inner = plan_inner(plan.outer);
    plan.prediction += rounds_ * plan.outer.prediction;
    take_values_once(plan.outer, plan.prediction);
    if (chain_.gamma) add_scaling(plan);
    if (!plan.inner) return plan;
    plan.prediction += rounds_ * plan.inner->prediction;
    take_values_once(*plan.inner, plan.prediction);
    return plan;
  }
  /// Of the tile that is given most values.
  void add_scaling(ChainPlan& plan) {
    const spmm_static::Partition& outer = plan.outer.partition;
    const std::vector<kernels::Interval> given = spmm_static::values_given(outer);
    const auto most =
        std::max_element(given.begin(), given.end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    if (most == given.end()) return;
    const StepCosts steps(costs_);
    const sparse::TileCode code;
    StepCosts::Superstep step;
    step.vertex_cycles = steps.vertex([&](program::Program& sample) {
      sparse::Assembly assembly(code, sample, costs_.machine().tile.contexts);
      const std::uint64_t bytes = round_up(most->size() * shape_.bytes(), std::uint64_t{8});
      return scaling_of(assembly, chain_, outer, {assembly.buffer(0, bytes, "sample"), *most});
    });
    steps.add(plan.prediction, step);
  }
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
                                     (rounds_ > 1 ? most_values(outer.partition) : held.values) +
                                         held.lists + x_.front().storage.each() + others()});
  }
  /// Values of W that a tile needs.
  [[nodiscard]] static std::uint64_t most_values(const spmm_static::Partition& partition) {
    std::uint64_t most = 0;
    for (const spmm_static::Layer& layer : partition.layers)
      for (const spmm_static::Share& share : layer.shares)
        most = std::max(most, partition.value_bytes(share));
    return most;
  }
  /// Rounds after the first find W where they need it.
  void take_values_once(const spmm_static::Plan& plan, Prediction& sum) {
    const auto cycles = [&](bool values) {
      return costs_.exchange(inputs_moved(plan.partition, values).most(costs_));
    };
    if (rounds_ == 1 || !plan.partition.shares_values()) return;
    const std::uint64_t saved = (rounds_ - 1) * (cycles(true) - cycles(false));
    sum.cycles -= saved;
    sum.exchange_cycles -= saved;
  }

  /// Z stays to the end, as do the lists of all rounds, and W from the first on.
  [[nodiscard]] program::CategoryBytes estimate(const ChainPlan& plan) {
    const std::uint64_t outer = resident(plan.outer.partition).lists;
    const std::uint64_t lists = outer + (plan.inner ? resident(plan.inner->partition).lists : 0);
    lists_ = lists_ == 0 ? lists : std::min(lists_, lists);
    std::uint64_t beside = others() + made() + rounds_ * lists - outer;
    if (plan.inner && rounds_ > 1) beside += most_values(plan.inner->partition);
    return tile_memory(plan.outer.partition, beside);
  }
  [[nodiscard]] program::Program program(const ChainPlan& plan) const {
    const data::DenseOperand x(x_.front().storage.bytes(), n_, shape_.type, 0, 0);
    return build_chain(plan, chain_, shape_, x, costs_.machine().tile.contexts);
  }
  /// The program itself says whether it fits, and what its exchanges take, where that does not take
  /// long or the estimate may be wrong.
  [[nodiscard]] bool fits(ChainPlan& plan) {
    const program::CategoryBytes need = estimate(plan);
    const double share = static_cast<double>(program::total(need)) / static_cast<double>(capacity_);
    if (share <= kSure && costs_.machine().tiles > kMostTilesScheduled) return true;
    try {
      if (share > kHopeless)
        throw UserError(program::overflow_message(
            fmt::format("pixelfly: {} columns do not fit at once, nor in {} rounds", n_ * rounds_,
                        rounds_),
            {&need, 1}, costs_.machine()));
      plan.prediction = scheduled(plan.prediction, costs_.needs(program(plan)), costs_);
      return true;
    } catch (const UserError&) {
      if (!why_ || program::total(need) < needed_) why_ = std::current_exception();
      needed_ = std::min(needed_, program::total(need));
      return false;
    }
  }

  const Chain& chain_;
  const sparse::Shape shape_;
  std::uint32_t n_;
  MachineCosts& costs_;
  const Pinned& pinned_;
  std::uint32_t rounds_;
  std::uint64_t capacity_;
  sparse::Shape inner_shape_ = shape_;
  std::vector<DenseRows> x_;
  spmm_static::EvenStorage y_;
  std::uint64_t lists_ = 0;
  std::uint64_t needed_ = ~std::uint64_t{0};
  std::exception_ptr why_;
};

}  // namespace

ChainPlan plan_chain(const Chain& chain, const sparse::Shape& shape, std::uint32_t n,
                     MachineCosts& costs, const Pinned& pinned) {
  const std::uint32_t most = ceil_div(n, shape.lanes());
  if (pinned.rounds > most)
    throw KeyError(
        "workload.plan.rounds",
        fmt::format("found {}, allowed 0 to {} (words of n columns)", pinned.rounds, most));
  const std::uint32_t first = std::max(pinned.rounds, 1U);
  std::optional<ChainPlan> best;
  std::exception_ptr why;
  std::uint64_t needed = 0;
  std::uint64_t lists = 0;  // of a round, that no plan so far needs less of
  for (std::uint32_t rounds = first; rounds <= most; rounds += (rounds + 2) / 3) {
    ChainPlanner planner(chain, shape, n, costs, pinned, rounds);
    if (rounds > first && !planner.possible(rounds * lists)) continue;
    std::optional<ChainPlan> plan = planner.run();
    // What fits barely may take longer than one round more.
    const bool better = plan && (!best || plan->prediction.cycles < best->prediction.cycles);
    if (best && !better) break;
    if (better) best = std::move(plan);
    if (planner.lists() > 0 && (lists == 0 || planner.lists() < lists)) lists = planner.lists();
    if (!why || planner.needed() < needed) {
      why = planner.why();
      needed = planner.needed();
    }
    if ((best && rounds == 1) || pinned.rounds != 0) break;
  }
  if (!best) std::rethrow_exception(why);
  return *std::move(best);
}

}  // namespace tessera::pixelfly
