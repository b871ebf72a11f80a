#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/pixelfly/gradient_products.h"
#include "kernels/pixelfly/pixelfly.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/spmm_static.h"

namespace tessera::pixelfly {

namespace {

constexpr std::uint64_t kBlockStep = 64;  // of so many blocks one is compared where not all are

/// Rows of a right-hand side: given ones, then products that came first, as the machine made them,
/// with padding between.
struct RightRows {
  const std::vector<float>& given;
  std::uint64_t rows;       ///< that are given
  std::uint64_t made_from;  ///< the first that is made
  const std::vector<float>& made;

  /// Null: padding.
  [[nodiscard]] const float* row(std::uint64_t row, std::size_t n) const {
    if (row < rows) return &given[row * n];
    return row < made_from ? nullptr : &made[(row - made_from) * n];
  }
};

/// Gradients as found: blocks of S, and from block column `first_dense` on a dense matrix.
struct Found {
  const sparse::BlockMatrix& s;
  std::uint32_t first_dense;
  std::span<const float> blocks, dense;
  std::uint64_t dense_columns;
  std::optional<double> gamma;  ///< that they are multiplied by; dense ones by 1 - gamma
};

/// What becomes of a sum when its result is multiplied and rounded once more.
void multiply(kernels::Compared& one, double factor, program::Type type) {
  constexpr double kTwice = 1.001;  // f16: the product is rounded to f32 before
  one.expected *= factor;
  one.allowed *= factor;
  one.reach *= factor;
  one.allowed += kTwice * data::unit_roundoff(type) * (std::abs(one.expected) + one.allowed) +
                 kernels::half_smallest(type);
}

/// Gradients at the places of `pattern`, as a plan makes them, and what they are made of.
struct Gradient {
  const char* name;
  const Sampled& plan;
  const sparse::BlockMatrix& pattern;
  Found found;
  const std::vector<float>& left;
  RightRows right;
};

CheckResult check_gradient(const Gradient& of, std::uint64_t n, std::uint64_t flops,
                           const CheckRequest& request, HostThreads& threads) {
  const Sampled& plan = of.plan;
  const Found& found = of.found;
  const std::uint32_t side = of.pattern.block;
  const program::Type type = plan.partition.shape.type;
  const std::uint32_t depth = plan.on_unit ? plan.partition.shape.unit.depth : 0;
  const auto parts = static_cast<std::uint32_t>(plan.partition.parts.size());
  sparse::SampledProduct product{
      of.name, kernels::rounding_of(type, plan.partials(), std::max(depth, 1U), parts + 1),
      side,    depth,
      n,       plan.blocks.size()};
  product.corner = [&](std::uint64_t e) -> sparse::SampledProduct::Corner {
    return {std::uint64_t{plan.row(e)} * side, std::uint64_t{plan.column(e)} * side};
  };
  product.left = [&](std::uint64_t row) {
    return row < of.pattern.rows ? &of.left[row * n] : nullptr;
  };
  product.right = [&](std::uint64_t row) {
    return row < of.pattern.columns ? of.right.row(row, n) : nullptr;
  };
  const auto in_s = [&](std::uint64_t e) { return plan.column(e) < found.first_dense; };
  product.found = [&](std::uint64_t e, std::uint32_t at) {
    if (in_s(e))
      return found.blocks[block_index(found.s, plan.row(e), plan.column(e)) * plan.area() + at];
    const std::uint64_t row = std::uint64_t{plan.row(e)} * side + at / side;
    const std::uint64_t column =
        std::uint64_t{plan.column(e) - found.first_dense} * side + at % side;
    return found.dense[row * found.dense_columns + column];
  };
  for (const Part& part : plan.partition.parts) product.columns.push_back({part.begin, part.end});
  if (found.gamma)
    product.then = [&](std::uint64_t e, kernels::Compared& one) {
      const float factor = factor_of(in_s(e) ? Factor::of_s : Factor::of_uv, *found.gamma);
      multiply(one, static_cast<double>(factor), type);
      one.exact = scaled(*one.exact, factor, type);
    };
  product.sample =
      kernels::sample_lines(product.blocks, kBlockStep, request.seed, sparse::kSampleStream);
  product.flops = flops;
  return sparse::check_sampled(product, request, threads);
}

}  // namespace

CheckResult WeightGradient::check(const TensorReader& tensors, const CheckRequest& request) const {
  const std::size_t n = options_.n;
  HostThreads threads(request.threads);
  const std::vector<float> x = kernels::rows_of(x_, threads);
  const std::vector<float> dy = kernels::rows_of(dy_, threads);
  CheckResult inner{true, 0, 1, "full"};
  std::vector<float> z, t;
  const auto check_inner = [&](const char* name, const spmm_static::Plan& of,
                               const sparse::BlockMatrix& w, const std::vector<float>& of_what,
                               std::vector<float>& made) {
    made = tensors.floats(name, threads);
    CheckResult one =
        spmm_static::check_product(of.partition, w, of_what, options_.n, made, request);
    if (!one.passed) one.problem += fmt::format(" (Y is {} here)", name);
    inner = kernels::worse(inner, one);
  };
  if (plan_.z) {
    check_inner("Z", *plan_.z, z_, x, z);
    check_inner("T", *plan_.t, t_, dy, t);
  }
  const std::uint64_t given = round_up(x_.rows(), std::uint64_t{shape_.block});
  const std::vector<float> ds = tensors.floats("dS.data", threads);
  const std::vector<float> du = plan_.dv ? tensors.floats("dU", threads) : std::vector<float>{};
  const Found weights{layer_.s, first_dense(), ds, du, layer_.rank(), layer_.gamma};
  CheckResult result =
      check_gradient({"[dS | dU]", plan_.dw, dw_, weights, dy, {x, x_.rows(), given, z}}, n,
                     useful_flops(), request, threads);
  result = kernels::worse(result, inner);
  if (!plan_.dv) return result;
  const std::vector<float> dv = tensors.floats("dV", threads);
  const Found factors{layer_.s, 0, {}, dv, layer_.rank(), layer_.gamma};
  return kernels::worse(result, check_gradient({"dV", *plan_.dv, dv_, factors, x, {x, 0, 0, t}}, n,
                                               useful_flops(), request, threads));
}

}  // namespace tessera::pixelfly
