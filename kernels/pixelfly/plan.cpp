#include "kernels/pixelfly/plan.h"

#include <algorithm>

#include "kernels/pinned.h"
#include "sim/base/errors.h"
#include "sim/machine/nodes.h"

namespace tessera::pixelfly {

using spmm_static::DenseEnd;
using spmm_static::Partition;
using spmm_static::Product;
using spmm_static::Statement;

namespace {

constexpr config::Names<Products, 3> kProducts{{{"best", Products::best},
                                                {"matrix_unit", Products::matrix_unit},
                                                {"vector", Products::vector}}};

/// Plans of both products for numbers of rounds.
class ChainPlanner {
 public:
  ChainPlanner(const Chain& chain, const sparse::Shape& shape, std::uint32_t n, MachineCosts& costs,
               const Pinned& pinned)
      : chain_(chain),
        shape_(shape),
        n_(n),
        pricing_(costs),
        pinned_(pinned),
        capacity_(sram_bytes(costs.machine().tile)) {}

  /// Searches for the fastest of the plans with few rounds. Throws UserError if none fits.
  ChainPlan best() {
    const std::uint32_t most = ceil_div(n_, shape_.lanes());
    const std::uint32_t first = std::max(pinned_.rounds, 1U);
    std::optional<ChainPlan> best;
    std::uint64_t least = UINT64_MAX;  // bytes of the smallest plan that does not fit
    for (std::uint32_t rounds = first; rounds <= most; rounds += (rounds + 2) / 3) {
      if (rounds > first && !cuts(rounds)) break;
      std::optional<ChainPlan> plan = run(rounds);
      // A plan that barely fits may take longer than one with more rounds.
      const bool better = plan && (!best || plan->prediction.cycles < best->prediction.cycles);
      if (best && !better) break;
      if (better) best = std::move(plan);
      if ((best && rounds == 1) || pinned_.rounds != 0) break;
      // From some number of rounds on, their lists need more memory than columns save.
      if (!best && least_ < UINT64_MAX && least_ > least) break;
      least = std::min(least, least_);
    }
    if (!best) throw UserError(why_);
    return *std::move(best);
  }

 private:
  /// Plans the outer product first; the memory that it holds meanwhile is reserved for the inner
  /// one. If that leaves too little room, plans the outer one for less. None if nothing fits.
  std::optional<ChainPlan> run(std::uint32_t rounds) {
    constexpr std::uint64_t kSteps = 4;
    lie(rounds);
    least_ = UINT64_MAX;
    if (!why_.empty() && others() + x_.front().storage.each() + made() > capacity_)
      return std::nullopt;
    for (std::uint64_t step = 0; step <= kSteps; ++step) {
      ChainPlan plan = planned(rounds, capacity_ * step / (2 * kSteps));
      const std::string& why =
          plan.outer.misfit.empty() && plan.inner ? plan.inner->misfit : plan.outer.misfit;
      if (!why.empty()) {
        if (why_.empty()) why_ = why;
        break;  // it does not fit with less room either
      }
      if (fits(plan)) return plan;
    }
    return std::nullopt;
  }
  /// True if a round has enough columns for the pinned intervals.
  [[nodiscard]] bool cuts(std::uint32_t rounds) const {
    const std::uint32_t words = ceil_div(ceil_div(n_, rounds), shape_.lanes());
    return std::max(pinned_.sparse.parts, pinned_.low_rank.parts) <= words;
  }
  /// Sets the storage of X, Z and Y of a round.
  void lie(std::uint32_t rounds) {
    rounds_ = rounds;
    columns_ = ceil_div(n_, rounds);
    const std::uint64_t z_rows = chain_.inner.rows;
    const std::uint64_t x_rows =
        std::uint64_t{chain_.outer.block_columns()} * shape_.block - z_rows;
    const auto rows = [&](const sparse::Shape& shape, std::uint64_t count) {
      return spmm_static::rows_on_tiles(shape, count, round_up(columns_, shape.lanes()),
                                        pricing_.machine().tiles);
    };
    x_ = {{0, rows(shape_, x_rows)}};
    if (z_rows > 0) x_.push_back({x_rows, rows(inner_shape(shape_), z_rows)});
    y_ = rows(shape_, std::uint64_t{chain_.outer.block_rows()} * shape_.block);
  }
  [[nodiscard]] std::uint64_t made() const { return x_.size() > 1 ? x_[1].storage.each() : 0; }
  /// Bytes per tile of the other rounds: X still to be used, or finished Y and Z.
  [[nodiscard]] std::uint64_t others() const {
    return (rounds_ - 1) * std::max(x_.front().storage.each(), y_.each() + made());
  }

  ChainPlan planned(std::uint32_t rounds, std::uint64_t slack) {
    MachineCosts& costs = pricing_.costs();
    ChainPlan plan{std::nullopt,
                   choose_plan(chain_.outer, shape_, columns_, costs, pinned_.sparse,
                               {"pixelfly", "workload.plan.sparse", x_, slack + others()}),
                   rounds};
    if (chain_.inner.rows == 0 || !plan.outer.misfit.empty()) return plan;
    plan.inner = choose_plan(chain_.inner, inner_shape(shape_), columns_, costs, pinned_.low_rank,
                             {"pixelfly",
                              "workload.plan.low_rank",
                              {x_.front()},
                              held(plan.outer) + x_.front().storage.each() + others()});
    return plan;
  }
  /// Bytes that the outer product holds while the inner one runs: values of W (with several rounds
  /// in their final place) and lists.
  [[nodiscard]] std::uint64_t held(const spmm_static::Plan& outer) const {
    const spmm_static::Partition& of = outer.partition;
    const bool shared = of.shares_values() && rounds_ == 1;
    std::uint64_t most = shared ? of.value_storage().each() : 0;
    std::uint64_t list = 0;
    for (const spmm_static::Layer& layer : of.layers)
      for (const spmm_static::Share& share : layer.shares) {
        if (!shared) most = std::max(most, of.value_bytes(share));
        list = std::max(list, 2 * (share.rows.size() + share.blocks()));
      }
    return most + list + outer.memory[static_cast<std::size_t>(program::Category::exchange)];
  }

  /// Sets the plan's prediction from its program; true if that fits.
  [[nodiscard]] bool fits(ChainPlan& plan) {
    const std::uint32_t contexts = pricing_.machine().tile.contexts;
    plan::Space space;
    space.bounds = {0};
    space.describe = [&](std::size_t, std::uint32_t) {
      return describe_chain(plan, chain_, shape_, nullptr, code_, contexts);
    };
    const plan::Found found = plan::search(space, pricing_);
    plan.prediction = found.prediction;
    const std::uint64_t bytes = program::total(found.memory);
    if (!found.fits && bytes < least_)
      why_ = program::overflow_message(
          fmt::format("pixelfly: {} columns do not fit at once, nor in {} rounds", n_, rounds_),
          {&found.memory, 1}, pricing_.machine());
    least_ = std::min(least_, bytes);
    return found.fits;
  }

  const Chain& chain_;
  const sparse::Shape shape_;
  std::uint32_t n_;
  plan::Pricing pricing_;
  const Pinned& pinned_;
  sparse::TileCode code_;
  std::uint64_t capacity_;
  std::uint32_t rounds_ = 1, columns_ = 0;
  std::vector<spmm_static::DenseRows> x_;
  EvenStorage y_;
  std::uint64_t least_ = UINT64_MAX;  ///< bytes of the smallest plan of the last number of rounds
  std::string why_;                   ///< why none fits
};

/// Adds the step that multiplies the values of the outer product by their factors, in place.
void scale(const Statement& statement, const Chain& chain, const Partition& outer,
           BufferId values) {
  const Scaling scaling(statement, outer.shape.type, *chain.gamma,
                        [&chain, &outer, given = values_given(outer)](plan::Tile tile) {
                          const spmm_static::Distribution& deal = outer.deal;
                          return factor_runs(
                              given[tile], deal.blocks(),
                              [&](std::uint64_t e) { return deal.value_begin[e]; },
                              [&](std::uint64_t e) { return chain.factor(deal.column[e]); });
                        });
  statement.description.compute("scale", outer.tiles,
                                [scaling, values](plan::Tile tile, Calls& calls) {
                                  scaling.add(calls, tile, values, values);
                                });
}

}  // namespace

void describe(config::Fields& fields, PinnedCuts& cuts) {
  fields.field(
      {"parts", "number of parts of the batch, whose gradients are added at the end; 0: chosen"},
      cuts.parts);
  fields.field({"bands", "maximum number of bands of block columns; 0: chosen"}, cuts.bands);
  spmm_static::describe_dealing(fields, cuts.dealing);
}

void describe(config::Fields& fields, Pinned& plan) {
  fields.group({"low_rank", "plan of the first products: V^T X, U^T dY"}, plan.low_rank);
  fields.optional_group({"low_rank_back", "pass grad_weights: plan of U^T dY, if not as low_rank"},
                        plan.low_rank_back);
  fields.group(
      {"sparse", "passes forward and grad_input: plan of the product with [S | U] or [S^T | V]"},
      plan.sparse);
  fields.group({"dw", "pass grad_weights: plan of the gradients of S and U"}, plan.dw);
  fields.group({"dv", "pass grad_weights: plan of the gradient of V"}, plan.dv);
  fields.field({"products", "pass grad_weights: code that multiplies the gradients of S, U and V"},
               plan.products, kProducts);
  fields.field({"gradient_unit",
                "pass grad_weights: inputs and outputs of the matrix unit's blocks, or vector "
                "code; auto: chosen"},
               plan.gradient_unit, kernels::kForms);
  fields.field({"rounds",
                "passes forward and grad_input: number of equal parts of the batch, computed one "
                "after the other; 0: the fewest that fit"},
               plan.rounds, {0, 1U << 20});
}

ChainPlan plan_chain(const Chain& chain, const sparse::Shape& shape, std::uint32_t n,
                     MachineCosts& costs, const Pinned& pinned) {
  kernels::require_at_most("workload.plan.rounds", pinned.rounds, ceil_div(n, shape.lanes()),
                           "words of n columns");
  return ChainPlanner(chain, shape, n, costs, pinned).best();
}

plan::Described describe_chain(const ChainPlan& plan, const Chain& chain,
                               const sparse::Shape& shape, const data::DenseOperand* x,
                               const sparse::TileCode& code, std::uint32_t contexts) {
  const Partition& outer = plan.outer.partition;
  plan::Described program(outer.tiles);
  const Statement statement{program.description, code, contexts};
  const auto results = [&](const char* tensor, const char* name, const Partition& of,
                           std::uint32_t rows) {
    std::vector<BufferId> made;
    for (std::uint32_t round = 0; round < plan.rounds; ++round) {
      const DenseEnd end{of.shape, of.y_storage(), of.columns, name,
                         std::uint64_t{round} * of.columns};
      made.push_back(wanted(statement, end));
      if (x != nullptr)
        add_tensor(statement, {tensor, program::Role::result, shape.type, {rows, x->columns()}},
                   end, made.back());
    }
    return made;
  };
  const std::vector<BufferId> y = results(chain.result, "y", outer, chain.outer.rows);
  std::vector<BufferId> z;
  std::optional<Product> low_rank;
  if (plan.inner) {
    z = results(chain.low_rank, "z", plan.inner->partition, chain.inner.rows);
    low_rank.emplace(statement, plan.inner->partition, chain.inner, "low rank ");
  }
  Product sparse(statement, outer, chain.outer);
  if (chain.gamma)
    sparse.change_values([&](BufferId values) { scale(statement, chain, outer, values); });
  const DenseEnd to{shape, outer.y_storage(), outer.columns, "y"};
  for (std::uint32_t round = 0; round < plan.rounds; ++round) {
    const BufferId made = spmm_static::made(statement, to, y[round]);
    const DenseEnd from{shape, outer.x_storage(), outer.columns, "x",
                        std::uint64_t{round} * outer.columns};
    std::vector<BufferId> rows{given(statement, from, x)};
    if (low_rank) {
      low_rank->add_steps(rows, z[round]);
      rows.push_back(z[round]);
    }
    sparse.add_steps(rows, made);
    add_rows_out(statement, to, made, y[round]);
  }
  program.tiles = sparse.representatives();
  if (low_rank) program.add(low_rank->representatives());
  return program;
}

}  // namespace tessera::pixelfly
