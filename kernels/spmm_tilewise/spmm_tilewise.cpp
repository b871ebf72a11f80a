#include "kernels/spmm_tilewise/spmm_tilewise.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kernels/pinned.h"
#include "kernels/sparse/check.h"
#include "kernels/sparse/operand/sources.h"
#include "sim/config/writers.h"
#include "sim/plan/lower.h"

namespace tessera::spmm_tilewise {

using program::Type;

namespace {

/// The problem in all forms of the product, or in the pinned one.
std::vector<Problem> problems_of(const Options& options, const MachineConfig& machine,
                                 const DenseWeights& w, const TilePattern& pattern) {
  const Type dtype = options.weights.dtype;
  kernels::require_partials(dtype, options.partials);
  const Type partials = options.partials.value_or(dtype);
  const MatrixUnitConfig& unit = machine.tile.matrix_unit;
  std::vector<Problem> problems;
  for (const gemm::BlockShape& block : kernels::block_shapes(unit, dtype, partials))
    problems.push_back({options.m, block, w, pattern});
  if (options.plan.unit == kernels::Form()) return problems;
  return {{options.m,
           kernels::block_shape(unit, dtype, partials, options.plan.unit, "workload.plan.unit"), w,
           pattern}};
}

/// Facts for the report: the kept share, and the imbalance of kept rows (over tiles of W) and of
/// predicted cycles (over tiles of the machine).
nlohmann::ordered_json facts_of(const TilePattern& pattern, const WeightOptions& weights,
                                const Imbalance& cycles, double elements) {
  const auto spread = [](const Imbalance& imbalance) -> nlohmann::ordered_json {
    return {{"mean", imbalance.mean}, {"max", imbalance.max}, {"max_over_mean", imbalance.ratio()}};
  };
  const double kept = static_cast<double>(pattern.kept()) / elements;
  return {{"kept_share", kept},
          {"pruned",
           {{"asked", weights.pruning.sparsity},
            {"reached", 1 - kept},
            {"rounding", static_cast<double>(pattern.rounding) / elements}}},
          {"column_tiles", pattern.tiles.size()},
          {"kept_rows", spread(kept_rows(pattern))},
          {"product_cycles", spread(cycles)}};
}

/// The transpose of the pruned W, so that C^T = W^T A^T is a sparse product.
sparse::BlockMatrix kept_transposed(const Problem& problem) {
  const DenseWeights& w = problem.w;
  std::vector<data::Entry> entries;
  problem.pattern.for_kept([&](std::uint32_t row, std::uint32_t column) {
    entries.push_back({column, row, static_cast<double>(w.at(row, column))});
  });
  return sparse::to_blocks(data::from_entries(w.columns, w.rows, std::move(entries)), 1);
}

/// Bit-exact elements of a column of C = A W from the transposed A: sums over the rows of the
/// column's group, block by block of the depth, then over single elements.
kernels::ExactRow exact_columns(const Problem& problem, const Plan& plan,
                                std::span<const float> a) {
  struct Place {
    const Group* group = nullptr;  ///< null: the whole column is pruned
    std::uint64_t position = 0;
  };
  std::vector<Place> places(problem.w.columns);
  for (const Group& group : plan.groups)
    for (std::uint64_t i = 0; i < group.positions(); ++i)
      places[problem.pattern.tiles[group.tile].columns[group.columns.begin + i]] = {&group, i};
  return [&problem, places, a](std::uint64_t column, Interval columns, std::span<float> sums) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    const Place place = places[column];
    if (place.group == nullptr) return;
    const Group& group = *place.group;
    const auto term = [&](std::uint32_t row) -> kernels::OrderedSums::Term {
      if (row >= problem.w.rows) return {};
      return {problem.w.at(row, word(column)), &a[std::size_t{row} * problem.m + columns.begin]};
    };
    const gemm::BlockShape& block = problem.block;
    const kernels::OrderedSums whole(block.partial, block.on_unit() ? block.depth : 1);
    whole.add_terms(
        group.rows.size(), [&](std::size_t i) { return term(group.rows[i]); }, sums);
    kernels::OrderedSums::round(block.input, sums);
    const OverlayPart& part = group.overlay;
    const std::uint32_t first = part.begin[place.position];
    kernels::OrderedSums(block.input, 1)
        .add_terms(
            part.begin[place.position + 1] - first,
            [&](std::size_t i) { return term(part.rows[part.row[first + i]]); }, sums);
  };
}

}  // namespace

void describe(config::Fields& fields, Pinned& plan) {
  fields.field({"parts", "number of groups that share a full column tile; 0: chosen"}, plan.parts);
  fields.field({"cuts", "number of supersteps in which a group's rows are loaded; 0: chosen"},
               plan.cuts);
  fields.field({"row_singles",
                "tew: number of single elements in a row of a tile from which the row is "
                "multiplied whole; above the columns of a tile: never; 0: chosen"},
               plan.row_singles);
  kernels::describe_unit(fields, plan.unit);
}

void describe(config::Fields& fields, Options& options) {
  fields.field({"m", "rows of A and C"}, options.m, {1, 1u << 24});
  describe(fields, options.weights);
  fields.field({"partials", "type of partial sums; auto: dtype"}, options.partials,
               kernels::kPartials);
  fields.file({"a", data::file_sentence("A from a .npy file of shape [m, k]")}, options.a);
  fields.group({"plan", "a pinned plan; the planner searches one if not given"}, options.plan);
}

SpmmTilewise::SpmmTilewise(Options options, MachineCosts& costs)
    : options_(std::move(options)),
      machine_(costs.machine()),
      w_(make_weights(options_.weights)),
      pattern_(prune(w_, options_.weights.pruning)),
      plan_(make_plan(problems_of(options_, machine_, w_, pattern_), costs, options_.plan)),
      problem_{options_.m, plan_->block, w_, pattern_},
      a_(options_.m, w_.rows, options_.weights.dtype,
         {options_.a, "a", options_.weights.seed, sparse::kDenseStream}) {
  summarise({.problem = fmt::format("{}x{}", options_.m, problem_of(options_.weights)),
             .peak_type = kernels::type_name(problem_.block.input, problem_.block.partial),
             .plan = config::resolved(
                 Pinned{plan_->parts, plan_->cuts, plan_->row_singles, plan_->block.form()}),
             .prediction = plan_->prediction,
             .facts = facts_of(pattern_, options_.weights, plan_->cycles,
                               static_cast<double>(w_.value.size())),
             .rounded = {{"a", a_.rounded()}, {"matrix", w_.rounded}},
             .useful_flops = 2 * pattern_.kept() * problem_.m});
  zero_pruned(pattern_, w_);
}

program::Program SpmmTilewise::lowered() const {
  return plan::lower(describe_program(problem_, plan_, machine_, TileCode(), &a_));
}

CheckResult SpmmTilewise::check(const TensorReader& tensors, const CheckRequest& request) const {
  HostThreads threads(request.threads);
  const std::vector<float> columns_of_c =
      tensors.floats("C", threads, TensorReader::Order::transposed);
  // The overlay is summed in the type of C, element by element.
  const bool singles = !pattern_.overlay.empty();
  const kernels::Rounding rounding = kernels::rounding_of(
      problem_.block.input, singles ? problem_.block.input : problem_.block.partial,
      singles || !problem_.block.on_unit() ? 1 : problem_.block.depth, plan_->cuts);
  const std::vector<float> a = kernels::rows_of(a_, threads, true);
  return sparse::check_product(kept_transposed(problem_), {a, problem_.m}, columns_of_c, rounding,
                               request, exact_columns(problem_, *plan_, a));
}

}  // namespace tessera::spmm_tilewise
