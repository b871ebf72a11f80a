#include "kernels/spmm_static/array.h"

#include <algorithm>
#include <cmath>

#include "kernels/gemm/array_lists.h"
#include "kernels/sparse/operand/sources.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"

namespace tessera::spmm_static {
namespace {

gemm::Product product_of(const Options& options) {
  return {options.n, options.weights.m, options.weights.k};
}

/// The largest integers so that sums of as many terms as a row keeps seldom saturate.
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

/// The nearest that the type has, ties to even.
float rounded(float value, const gemm::VectorType& type) {
  if (type.is_float()) return gemm::nearest_bf16(value);
  const float whole = std::nearbyint(value);
  const std::int32_t most = type.bytes == 1 ? INT8_MAX : INT16_MAX;
  if (!(whole >= static_cast<float>(-most - 1) && whole <= static_cast<float>(most)))
    throw KeyError("workload.matrix", fmt::format("found an element of {}, allowed {} to {} with "
                                                  "dtype {}",
                                                  value, -most - 1, most, type.name));
  return whole;
}

/// W in the type: its own values where it has any, rounded, else seeded ones.
sparse::BlockMatrix weights_of(const Options& options) {
  const gemm::VectorType& type = *gemm::vector_type(options.weights.dtype);
  sparse::WeightOptions in_floats = options.weights;
  in_floats.dtype = Type::f32;
  sparse::BlockMatrix w = sparse::make_weights(in_floats);
  const bool own = has_values(options.weights);
  const gemm::VectorOperand seeded(type, w.columns, largest_of(options, w), options.weights.seed,
                                   sparse::kValueStream);
  for (std::uint32_t row = 0; row < w.block_rows(); ++row)
    for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e)
      for (std::uint32_t at = 0; at < w.block * w.block; ++at) {
        float& value = w.value[e * w.block * w.block + at];
        if (value == 0) continue;  // beyond the edges of W, or not among the elements of a graph
        const float given = value;
        value =
            own ? rounded(given, type)
                : seeded.value(row * w.block + at / w.block, w.column[e] * w.block + at % w.block);
        w.rounded += own && value != given ? 1 : 0;
      }
  return w;
}

/// A block within W.
struct Extent {
  std::uint32_t first_row, last_row, first_column, last_column;  ///< elements; the last included
};
Extent extent_of(const sparse::BlockMatrix& w, std::uint32_t row, std::uint64_t e) {
  const auto last = [&](std::uint32_t block, std::uint32_t all) {
    return std::min((block + 1) * w.block, all) - 1;
  };
  const std::uint32_t column = w.column[e];
  return {row * w.block, last(row, w.rows), column * w.block, last(column, w.columns)};
}

template <class Each>
void for_blocks(const sparse::BlockMatrix& w, const Each& each) {
  for (std::uint32_t row = 0; row < w.block_rows(); ++row)
    for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e)
      each(extent_of(w, row, e), w.values(e));
}

/// What the unit multiplies at a time of W^T: all that touches a block of W.
gemm::KeptBlocks kept_of(const sparse::BlockMatrix& w, const gemm::VectorType& type) {
  constexpr std::uint32_t kRows = gemm::kKeptColumns;
  std::vector<std::vector<std::uint32_t>> steps(ceil_div(w.rows, kRows));
  for_blocks(w, [&](const Extent& of, std::span<const float>) {
    for (std::uint32_t patch = of.first_row / kRows; patch <= of.last_row / kRows; ++patch)
      for (std::uint32_t step = of.first_column / type.inputs; step <= of.last_column / type.inputs;
           ++step)
        steps[patch].push_back(step);
  });
  gemm::KeptBlocks kept{{0}, {}, {}};
  for (std::vector<std::uint32_t>& of : steps) {
    std::ranges::sort(of);
    kept.step.insert(kept.step.end(), of.begin(), std::unique(of.begin(), of.end()));
    kept.begin.push_back(kept.step.size());
  }
  kept.value.resize(kept.step.size() * type.inputs * kRows);
  for_blocks(w, [&](const Extent& of, std::span<const float> values) {
    for (std::uint32_t i = of.first_row; i <= of.last_row; ++i)
      for (std::uint32_t j = of.first_column; j <= of.last_column; ++j) {
        const auto first = kept.step.begin() + static_cast<std::ptrdiff_t>(kept.begin[i / kRows]);
        const auto last =
            kept.step.begin() + static_cast<std::ptrdiff_t>(kept.begin[i / kRows + 1]);
        const auto entry = static_cast<std::size_t>(std::lower_bound(first, last, j / type.inputs) -
                                                    kept.step.begin());
        kept.value[(entry * type.inputs + j % type.inputs) * kRows + i % kRows] =
            values[(i - of.first_row) * w.block + j - of.first_column];
      }
  });
  return kept;
}

}  // namespace

ArraySpmm::ArraySpmm(const Options& options, MachineCosts& costs)
    : type_(*gemm::vector_type(options.weights.dtype)),
      w_(weights_of(options)),
      kept_(kept_of(w_, type_)),
      chosen_(gemm::array_plan(options.array.value_or(gemm::KeptPlan{}).plan, product_of(options),
                               type_, costs, &kept_)),
      x_(type_, options.weights.k, largest_of(options, w_), options.weights.seed,
         sparse::kDenseStream),
      product_{product_of(options),
               gemm::ArrayGrid(product_of(options), type_, chosen_.plan, &kept_),
               gemm::array_of(costs.machine(), type_),
               options.shift,
               [this](std::uint32_t row, std::span<std::byte> into) { x_.write(row, into); },
               [this](std::uint32_t tile, std::span<std::byte> into) {
                 const gemm::ArrayGrid& grid = product_.grid;
                 grid.kept->write(tile / grid.steps, tile % grid.steps, into);
               },
               {"X", "W", "Y", true}} {
  WorkloadSummary summary;
  summary.problem = fmt::format("{}, n {}", sparse::problem_of(options.weights), options.n);
  summary.peak_type = type_.name;
  summary.plan = config::resolved(gemm::KeptPlan{chosen_.plan});
  summary.prediction = chosen_.prediction;
  summary.facts = {{"blocks", w_.blocks()}, {"kept_share", w_.kept_share()}};
  summary.facts["binds"] = chosen_.binds;
  if (const auto dense = gemm::dense_cycles(product_of(options), type_, costs))
    summary.facts["dense_cycles"] = *dense;
  summary.rounded = {{"matrix", w_.rounded}};
  (type_.is_float() ? summary.useful_flops : summary.useful_integer_operations) =
      2 * w_.nonzeros * options.n;
  summarise(std::move(summary));
}

program::Program ArraySpmm::lowered() const { return gemm::make_array_program(product_); }

CheckResult ArraySpmm::check(const TensorReader& tensors, const CheckRequest& request) const {
  const sparse::BlockMatrix columns = sparse::transposed(w_);
  const auto column = [&](std::uint32_t number, std::span<float> into) {
    std::ranges::fill(into, 0.0F);
    const std::uint32_t row = number / columns.block;
    for (std::uint64_t e = columns.row_begin[row]; e < columns.row_begin[row + 1]; ++e) {
      const Extent of = extent_of(columns, row, e);
      for (std::uint32_t j = of.first_column; j <= of.last_column; ++j)
        into[j] = columns.values(e)[(number - of.first_row) * columns.block + j - of.first_column];
    }
  };
  return gemm::check_array(
      {&product_, [this](std::uint32_t row, std::span<float> into) { x_.read(row, into); }, column},
      tensors, request);
}

std::unique_ptr<Workload> make_spmm_static(const Options& options, MachineCosts& costs) {
  if (gemm::is_of_arrays(options.weights.dtype, costs.machine()))
    return std::make_unique<ArraySpmm>(options, costs);
  return std::make_unique<SpmmStatic>(options, costs);
}

}  // namespace tessera::spmm_static
