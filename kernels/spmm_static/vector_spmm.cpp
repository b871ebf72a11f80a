#include <algorithm>
#include <cmath>

#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"

namespace tessera::spmm_static {
namespace {

/// Largest integer such that sums over the elements kept in a row seldom saturate.
std::uint32_t largest_of(const Options& options, const sparse::BlockMatrix& w) {
  const double depth = std::ceil(w.kept_share() * options.weights.k);
  return gemm::largest_for(*gemm::vector_type(options.weights.dtype),
                           static_cast<std::uint32_t>(depth), options.shift);
}

bool has_values(const sparse::WeightOptions& weights) {
  if (!weights.matrix.empty()) return !weights.matrix.ends_with(".smtx");
  return weights.pattern == sparse::Pattern::poisson_2d ||
         weights.pattern == sparse::Pattern::poisson_3d;
}

/// Rounds to the type, ties to even; throws KeyError for integers out of range.
float rounded(float value, const gemm::VectorType& type) {
  if (type.is_float()) return gemm::nearest_bf16(value);
  const float whole = std::nearbyint(value);
  const std::int64_t most = type.most();
  if (!(whole >= static_cast<float>(-most - 1) && whole <= static_cast<float>(most)))
    throw KeyError("workload.matrix", "found an element of {}, allowed {} to {} with dtype {}",
                   value, -most - 1, most, type.name);
  return whole;
}

/// W in the vector type: its own values, rounded, if it has any; else seeded ones.
sparse::BlockMatrix weights_of(const Options& options) {
  const gemm::VectorType& type = *gemm::vector_type(options.weights.dtype);
  sparse::WeightOptions in_floats = options.weights;
  in_floats.dtype = Type::f32;
  sparse::BlockMatrix w = sparse::make_weights(in_floats);
  const bool own = has_values(options.weights);
  const gemm::VectorOperand seeded(type, w.columns, largest_of(options, w), options.weights.seed,
                                   sparse::kValueStream);
  w.for_elements([&](std::uint32_t row, std::uint32_t column, std::uint64_t at) {
    float& value = w.value[at];
    if (value == 0) return;  // not an element of the pattern
    const float given = value;
    value = own ? rounded(given, type) : seeded.value(row, column);
    w.rounded += own && value != given ? 1 : 0;
  });
  return w;
}

/// The blocks of W^T, as the unit multiplies them at a time, that hold an element of W.
gemm::KeptBlocks kept_of(const sparse::BlockMatrix& w, const gemm::VectorType& type) {
  constexpr std::uint32_t kRows = gemm::kKeptColumns;
  std::vector<std::vector<std::uint32_t>> steps(ceil_div(w.rows, kRows));
  w.for_elements([&](std::uint32_t row, std::uint32_t column, std::uint64_t /*at*/) {
    std::vector<std::uint32_t>& of = steps[row / kRows];
    const std::uint32_t step = column / type.inputs;
    if (of.empty() || of.back() != step) of.push_back(step);
  });
  gemm::KeptBlocks kept{{0}, {}, {}};
  for (std::vector<std::uint32_t>& of : steps) {
    of = sorted_once(std::move(of));
    kept.step.insert(kept.step.end(), of.begin(), of.end());
    kept.begin.push_back(kept.step.size());
  }
  kept.value.resize(kept.step.size() * type.inputs * kRows);
  w.for_elements([&](std::uint32_t row, std::uint32_t column, std::uint64_t at) {
    const std::vector<std::uint32_t>& of = steps[row / kRows];
    const auto found = std::ranges::lower_bound(of, column / type.inputs);
    const std::uint64_t entry =
        kept.begin[row / kRows] + static_cast<std::uint64_t>(found - of.begin());
    kept.value[(entry * type.inputs + column % type.inputs) * kRows + row % kRows] = w.value[at];
  });
  return kept;
}

struct Weights {
  sparse::BlockMatrix w;
  gemm::KeptBlocks kept;
};

gemm::RowReader columns_of(const sparse::BlockMatrix& w) {
  return [columns = sparse::transposed(w)](std::uint32_t number, std::span<float> into) {
    std::vector<kernels::Term> terms;
    sparse::read_row(columns, number, terms);
    std::ranges::fill(into, 0.0F);
    for (const auto& [row, value] : terms) into[row] = value;
  };
}

std::unique_ptr<Workload> make_vector_spmm(const Options& options, MachineCosts& costs) {
  const gemm::VectorType& type = *gemm::vector_type(options.weights.dtype);
  const gemm::Product product{options.n, options.weights.m, options.weights.k};
  const auto weights = std::make_shared<Weights>(Weights{weights_of(options), {}});
  const sparse::BlockMatrix& w = weights->w;
  weights->kept = kept_of(w, type);
  const gemm::PricedProduct chosen = gemm::vector_plan(
      options.vectors.value_or(gemm::KeptPlan{}).plan, product, type, costs, &weights->kept);
  WorkloadSummary summary;
  summary.problem = fmt::format("{}, n {}", sparse::problem_of(options.weights), options.n);
  summary.facts = {{"blocks", w.blocks()}, {"kept_share", w.kept_share()}};
  summary.facts["binds"] = chosen.binds;
  if (const auto dense = gemm::dense_cycles(product, type, costs))
    summary.facts["dense_cycles"] = *dense;
  summary.rounded = {{"matrix", w.rounded}};
  return std::make_unique<gemm::VectorWorkload>(
      gemm::VectorProduct{product,
                          gemm::VectorGrid(product, type, chosen.plan, &weights->kept),
                          options.shift,
                          {type, options.weights.k, largest_of(options, w), options.weights.seed,
                           sparse::kDenseStream},
                          std::nullopt,
                          {"X", "W", "Y", true}},
      chosen, costs.machine(), [weights] { return columns_of(weights->w); },
      2 * w.nonzeros * options.n, std::move(summary));
}

}  // namespace

std::unique_ptr<Workload> make_spmm_static(const Options& options, MachineCosts& costs) {
  if (gemm::vector_type_on(costs.machine(), options.weights.dtype) != nullptr)
    return make_vector_spmm(options, costs);
  return std::make_unique<SpmmStatic>(options, costs);
}

}  // namespace tessera::spmm_static
