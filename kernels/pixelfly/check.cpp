#include <algorithm>
#include <cmath>

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
    inner = spmm_static::check_product(plan_.inner->partition, chain_.inner,
                                       std::span(dense).first(given), options_.n, z, request);
    if (!inner.passed) inner.problem += " (Y is Z here)";
    dense.insert(dense.end(), z.begin(), z.begin() + std::ptrdiff_t{layer_.rank()} * options_.n);
  }
  const CheckResult outer = spmm_static::check_product(
      plan_.outer.partition, chain_.scaled_outer(shape_.type), dense, options_.n, y, request);
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

}  // namespace tessera::pixelfly
