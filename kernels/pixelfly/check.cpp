#include <fmt/format.h>

#include "kernels/pixelfly/gradient_products.h"
#include "kernels/pixelfly/pixelfly.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/spmm_static.h"

namespace tessera::pixelfly {

namespace {

constexpr std::uint64_t kBlockStep = 64;  // of so many blocks one is compared where not all are

/// Scales a sum's comparison: its result is multiplied and rounded once more.
void multiply(kernels::Compared& one, double factor, program::Type type) {
  constexpr double kTwice = 1.001;  // f16: the product is rounded to f32 before
  one.expected *= factor;
  one.allowed *= factor;
  one.reach *= factor;
  one.allowed += kTwice * data::unit_roundoff(type) * (std::abs(one.expected) + one.allowed) +
                 kernels::half_smallest(type);
}

/// Gradients at the places of `pattern`, as a plan makes them, and what they are made of. Found are
/// blocks of S, and from block column `first_dense` on a dense matrix.
struct Gradient {
  const char* name;
  const Sampled& plan;
  const sparse::BlockMatrix& pattern;
  std::uint32_t first_dense;
  const Layer& layer;
  std::span<const float> blocks, dense;
  const std::vector<float>& left;
  std::function<const float*(std::uint64_t row)> right;  ///< null: padding
};

CheckResult check_gradient(const Gradient& of, std::uint64_t n, std::uint64_t flops,
                           const CheckRequest& request, HostThreads& threads) {
  const Sampled& plan = of.plan;
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
    return row < of.pattern.columns ? of.right(row) : nullptr;
  };
  const auto in_s = [&](std::uint64_t e) { return plan.column(e) < of.first_dense; };
  product.found = [&](std::uint64_t e, std::uint32_t at) {
    if (in_s(e))
      return of.blocks[block_index(of.layer.s, plan.row(e), plan.column(e)) * plan.area() + at];
    const std::uint64_t row = std::uint64_t{plan.row(e)} * side + at / side;
    const std::uint64_t column = std::uint64_t{plan.column(e) - of.first_dense} * side + at % side;
    return of.dense[row * of.layer.rank() + column];
  };
  for (const Part& part : plan.partition.parts) product.columns.push_back({part.begin, part.end});
  if (of.layer.gamma)
    product.then = [&](std::uint64_t e, kernels::Compared& one) {
      const float factor = factor_of(in_s(e) ? Factor::of_s : Factor::of_uv, *of.layer.gamma);
      multiply(one, static_cast<double>(factor), type);
      one.exact = scaled(*one.exact, factor, type);
    };
  product.sample =
      kernels::sample_lines(product.blocks, kBlockStep, request.seed, sparse::kSampleStream);
  product.flops = flops;
  return sparse::check_sampled(product, request, threads);
}

}  // namespace

/// Z and Y, each of what the machine multiplied.
CheckResult Pixelfly::check(const TensorReader& tensors, const CheckRequest& request) const {
  HostThreads threads(request.threads);
  const std::vector<float> y = tensors.floats(chain_.result, threads);
  std::vector<float> dense = kernels::rows_of(x_, threads);
  CheckResult inner{true, 0, 1, "full"};
  const std::size_t given = dense.size();
  dense.resize(std::size_t{round_up(static_cast<std::uint32_t>(x_.rows()), shape_.block)} *
               options_.n);
  if (plan_.inner) {
    const std::vector<float> z = tensors.floats(chain_.low_rank, threads);
    inner =
        spmm_static::check_product({&plan_.inner->partition, 1}, {&chain_.inner, 1}, chain_.inner,
                                   {std::span(dense).first(given), options_.n}, z, request);
    if (!inner.passed) inner.problem += " (Y is Z here)";
    dense.insert(dense.end(), z.begin(), z.begin() + std::ptrdiff_t{layer_.rank()} * options_.n);
  }
  const sparse::BlockMatrix w = chain_.scaled_outer(shape_.type);
  return kernels::worse(inner, spmm_static::check_product({&plan_.outer.partition, 1}, {&w, 1}, w,
                                                          {dense, options_.n}, y, request));
}

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
    CheckResult one = spmm_static::check_product({&of.partition, 1}, {&w, 1}, w,
                                                 {of_what, options_.n}, made, request);
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
  const auto x_and_z = [&](std::uint64_t row) -> const float* {
    if (row < x_.rows()) return &x[row * n];
    return row < given ? nullptr : &z[(row - given) * n];
  };
  CheckResult result = kernels::worse(
      check_gradient({"[dS | dU]", plan_.dw, dw_, first_dense(), layer_, ds, du, dy, x_and_z}, n,
                     useful_flops(), request, threads),
      inner);
  if (!plan_.dv) return result;
  const std::vector<float> dv = tensors.floats("dV", threads);
  const auto of_t = [&](std::uint64_t row) { return &t[row * n]; };
  return kernels::worse(result, check_gradient({"dV", *plan_.dv, dv_, 0, layer_, {}, dv, x, of_t},
                                               n, useful_flops(), request, threads));
}

}  // namespace tessera::pixelfly
