#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/pixelfly/gradient_products.h"
#include "kernels/pixelfly/pixelfly.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/spmm_static.h"

namespace tessera::pixelfly {

using spmm_static::rounding_of;

namespace {

constexpr std::uint64_t kRowStep = 64;  // of so many rows one is compared where not all are

/// W = S + L R^T, and D that it is multiplied by.
struct PlainLayer {
  sparse::BlockMatrix s;           ///< as it is multiplied
  std::vector<float> left, right;  ///< L as it is multiplied, and R, row after row
  std::uint64_t rank;
  std::span<const float> d;  ///< row after row
  std::uint64_t n;
  kernels::Rounding inner, outer;  ///< `repeat`: errors of R^T D are not taken as independent
};

/// S D + L (R^T D) row by row in double, and how far the machine's may be off: what sums of the
/// products of [S | L] with [D ; R^T D] may be (kernels/check/rounding.h), and what the roundings
/// of R^T D, up to e_q each, come to in them: min(sum |L_q| e_q, sqrt(sum (L_q d_q)^2)) where d_q
/// is eight of their standard deviations, as they are independent.
class LayerReference {
 public:
  LayerReference(const PlainLayer& layer, HostThreads& threads)
      : layer_(layer),
        inner_(layer.rank * layer.n),
        allowed_(inner_.size()),
        likely_(inner_.size()) {
    threads.for_ranges(layer.rank, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t q = begin; q < end; ++q) {
        kernels::ProductSums sums(layer.n);
        for (std::uint64_t j = 0; j < layer.s.columns; ++j)
          sums.add(static_cast<double>(layer.right[j * layer.rank + q]), &layer.d[j * layer.n]);
        for (std::uint64_t c = 0; c < layer.n; ++c) {
          inner_[q * layer.n + c] = sums[c].value;
          allowed_[q * layer.n + c] = allowed_error(layer.inner, sums[c]);
          likely_[q * layer.n + c] = likely_error(layer.inner, sums[c]);
        }
      }
    });
  }

  void compare(std::uint64_t row, std::span<const float> found, kernels::Comparison& into) const {
    const std::uint64_t n = layer_.n;
    std::vector<double> off(n), off_squares(n);
    kernels::ProductSums sums(n);
    add_sparse(row, sums);
    for (std::uint64_t q = 0; q < layer_.rank; ++q) {
      const auto factor = static_cast<double>(layer_.left[row * layer_.rank + q]);
      sums.add(factor, &inner_[q * n]);
      for (std::uint64_t c = 0; c < n; ++c) {
        const double likely = factor * likely_[q * n + c];
        off[c] += std::abs(factor) * allowed_[q * n + c];
        off_squares[c] += likely * likely;
      }
    }
    for (std::uint64_t c = 0; c < n; ++c) {
      kernels::Compared one = sums[c].compared(row, c, static_cast<double>(found[c]), layer_.outer);
      one.allowed += layer_.outer.repeat ? off[c] : std::min(off[c], std::sqrt(off_squares[c]));
      into.add(one);
    }
  }

 private:
  void add_sparse(std::uint64_t row, kernels::ProductSums& sums) const {
    std::vector<kernels::Term> terms;
    sparse::read_row(layer_.s, row, terms);
    for (const auto& [column, weight] : terms)
      sums.add(static_cast<double>(weight), &layer_.d[column * layer_.n]);
  }

  const PlainLayer& layer_;
  std::vector<double> inner_, allowed_, likely_;  ///< R^T D and how far it may be off
};

/// Values as they are multiplied, times their factor.
void scale(std::vector<float>& values, Factor factor, const Layer& layer, program::Type type) {
  if (!layer.gamma) return;
  for (float& value : values)
    value = static_cast<float>(
        scaled(static_cast<double>(value), factor_of(factor, *layer.gamma), type));
}

constexpr std::uint64_t kBlockStep = 64;  // of so many blocks one is compared where not all are

/// What becomes of a sum when its result is multiplied and rounded once more.
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

/// Z and Y, each of what the machine multiplied; and Y as the product of X with S, U and V as
/// given.
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
                                   std::span(dense).first(given), options_.n, z, request);
    if (!inner.passed) inner.problem += " (Y is Z here)";
    dense.insert(dense.end(), z.begin(), z.begin() + std::ptrdiff_t{layer_.rank()} * options_.n);
  }
  const sparse::BlockMatrix w = chain_.scaled_outer(shape_.type);
  const CheckResult outer = spmm_static::check_product({&plan_.outer.partition, 1}, {&w, 1}, w,
                                                       dense, options_.n, y, request);
  const CheckResult whole = check_layer(std::span(dense).first(given), y, request, threads);
  return kernels::worse(kernels::worse(whole, inner), outer);
}

CheckResult Pixelfly::check_layer(std::span<const float> d, std::span<const float> y,
                                  const CheckRequest& request, HostThreads& threads) const {
  const bool forward = options_.pass == Pass::forward;
  PlainLayer plain{forward ? layer_.s : sparse::transposed(layer_.s),
                   kernels::rows_of(forward ? layer_.u : layer_.v, threads),
                   kernels::rows_of(forward ? layer_.v : layer_.u, threads),
                   layer_.rank(),
                   d,
                   options_.n,
                   rounding_of((plan_.inner ? *plan_.inner : plan_.outer).partition),
                   rounding_of(plan_.outer.partition)};
  plain.inner.repeat = plain.outer.repeat = !seeded();
  scale(plain.s.value, Factor::of_s, layer_, shape_.type);
  scale(plain.left, Factor::of_uv, layer_, shape_.type);
  const LayerReference reference(plain, threads);
  kernels::Checked checked{{chain_.result, shape_.type, shape_.partials}};
  checked.flops = useful_flops();
  checked.lines = plain.s.rows;
  checked.sample =
      kernels::sample_lines(checked.lines, kRowStep, request.seed, sparse::kSampleStream);
  checked.compare = [&](std::span<const kernels::Strip> strips, kernels::Comparison& into) {
    for (const kernels::Strip& strip : strips)
      reference.compare(strip.line, y.subspan(strip.line * options_.n, options_.n), into);
  };
  return kernels::check(checked, request, threads);
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
    CheckResult one = spmm_static::check_product({&of.partition, 1}, {&w, 1}, w, of_what,
                                                 options_.n, made, request);
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
