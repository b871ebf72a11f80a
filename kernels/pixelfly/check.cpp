#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/pixelfly/pixelfly.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/bit_exact.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/data/random.h"

namespace tessera::pixelfly {

using kernels::ProductSum;
using spmm_static::rounding_of;

namespace {

constexpr std::uint64_t kRowStep = 64;          // of so many rows one is compared where not all are
constexpr std::uint64_t kSampledColumns = 512;  // that are then compared
/// The dense W costs as many times more than the product as W is compressed: its own limit.
constexpr std::uint64_t kMostDenseFlops = 1'000'000'000;

/// The dense W = S + L R^T, and what it is multiplied by.
struct DenseProduct {
  sparse::BlockMatrix s;    ///< as it is multiplied
  std::vector<float> left;  ///< L as it is multiplied, row after row
  std::vector<float> right;
  std::uint64_t rank;
  std::span<const float> d;  ///< row after row
  std::uint64_t n;
  kernels::Interval columns;       ///< of D that are compared
  kernels::Rounding inner, outer;  ///< `repeat`: errors of R^T D are not taken as independent

  [[nodiscard]] const float* d_row(std::uint64_t row) const { return &d[row * n + columns.begin]; }
};

/// W D row by row in double, and how far the machine's may be off: what sums of the products of
/// [S | L] with [D ; R^T D] may be (kernels/check/rounding.h), and what the roundings of R^T D, up
/// to e_q each, come to in them: min(sum |L_q| e_q, sqrt(sum (L_q d_q)^2)) where d_q is eight of
/// their standard deviations, as they are independent.
class DenseReference {
 public:
  DenseReference(const DenseProduct& product, HostThreads& threads)
      : product_(product), n_(product.columns.size()), inner_(product.rank * n_) {
    threads.for_ranges(product.rank, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t q = begin; q < end; ++q)
        for (std::uint64_t j = 0; j < product.s.columns; ++j)
          add_row(static_cast<double>(product.right[j * product.rank + q]), j,
                  std::span(inner_).subspan(q * n_, n_));
    });
  }

  void compare(std::uint64_t row, std::span<const float> found, kernels::Comparison& into) const {
    const DenseProduct& its = product_;
    std::vector<double> weights(its.s.columns), expected(n_), off(n_), off_squares(n_);
    std::vector<ProductSum> sums(n_);
    add_sparse(row, weights, sums);
    for (std::uint64_t q = 0; q < its.rank; ++q) {
      const auto factor = static_cast<double>(its.left[row * its.rank + q]);
      for (std::uint64_t j = 0; j < weights.size(); ++j)
        weights[j] += factor * static_cast<double>(its.right[j * its.rank + q]);
      for (std::size_t c = 0; c < n_; ++c) {
        const ProductSum& inner = inner_[q * n_ + c];
        const double likely = factor * likely_error(its.inner, inner);
        sums[c].add(factor * inner.value);
        off[c] += std::abs(factor) * allowed_error(its.inner, inner);
        off_squares[c] += likely * likely;
      }
    }
    for (std::uint64_t j = 0; j < weights.size(); ++j) {
      if (weights[j] == 0) continue;
      for (std::size_t c = 0; c < n_; ++c)
        expected[c] += weights[j] * static_cast<double>(its.d_row(j)[c]);
    }
    for (std::size_t c = 0; c < n_; ++c) {
      const std::uint64_t column = its.columns.begin + c;
      kernels::Compared one =
          sums[c].compared(row, column, static_cast<double>(found[column]), its.outer);
      one.expected = expected[c];
      one.allowed += its.outer.repeat ? off[c] : std::min(off[c], std::sqrt(off_squares[c]));
      into.add(one);
    }
  }

 private:
  /// Adds `weight` times row `row` of D.
  void add_row(double weight, std::uint64_t row, std::span<ProductSum> sums) const {
    const float* const d = product_.d_row(row);
    for (std::size_t c = 0; c < n_; ++c) sums[c].add(weight * static_cast<double>(d[c]));
  }

  void add_sparse(std::uint64_t row, std::vector<double>& weights,
                  std::vector<ProductSum>& sums) const {
    const sparse::BlockMatrix& s = product_.s;
    const std::uint64_t block_row = row / s.block;
    for (std::uint64_t e = s.row_begin[block_row]; e < s.row_begin[block_row + 1]; ++e) {
      for (std::uint32_t i = 0; i < s.block; ++i) {
        const std::uint32_t j = s.column[e] * s.block + i;
        if (j >= s.columns) break;
        weights[j] = static_cast<double>(s.values(e)[row % s.block * s.block + i]);
        add_row(weights[j], j, sums);
      }
    }
  }

  const DenseProduct& product_;
  std::size_t n_;
  std::vector<ProductSum> inner_;  ///< R^T D
};

/// Values as they are multiplied, times their factor.
void scale(std::vector<float>& values, Factor factor, const Layer& layer, program::Type type) {
  if (!layer.gamma) return;
  for (float& value : values)
    value = static_cast<float>(
        scaled(static_cast<double>(value), factor_of(factor, *layer.gamma), type));
}

/// All, or some side by side.
kernels::Interval columns_to_compare(std::uint64_t n, bool all, std::uint64_t seed) {
  const std::uint64_t count = all ? n : std::min(n, kSampledColumns);
  const std::uint64_t first = data::random_below(seed, sparse::kSampleStream + 1, 0, n - count + 1);
  return {first, first + count};
}

}  // namespace

/// Z and Y, each of what the machine multiplied; and Y as the product with the dense W.
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
  const CheckResult whole = check_dense(std::span(dense).first(given), y, request, threads);
  return kernels::worse(kernels::worse(whole, inner), outer);
}

CheckResult Pixelfly::check_dense(std::span<const float> d, std::span<const float> y,
                                  const CheckRequest& request, HostThreads& threads) const {
  const bool forward = options_.pass == Pass::forward;
  const std::uint32_t rows = chain_.outer.rows;
  kernels::Checked checked{{chain_.result, shape_.type, shape_.partials}};
  checked.flops = 2 * std::uint64_t{rows} * x_.rows() * options_.n;
  checked.most_flops = kMostDenseFlops;
  checked.lines = rows;
  checked.sample = kernels::sample_lines(rows, kRowStep, request.seed, sparse::kSampleStream);
  const bool all = compares_all(request.mode, checked.flops, checked.most_flops);
  DenseProduct product{forward ? layer_.s : sparse::transposed(layer_.s),
                       kernels::rows_of(forward ? layer_.u : layer_.v, threads),
                       kernels::rows_of(forward ? layer_.v : layer_.u, threads),
                       layer_.rank(),
                       d,
                       options_.n,
                       columns_to_compare(options_.n, all, request.seed),
                       rounding_of((plan_.inner ? *plan_.inner : plan_.outer).partition),
                       rounding_of(plan_.outer.partition)};
  product.inner.repeat = product.outer.repeat = !seeded();
  scale(product.s.value, Factor::of_s, layer_, shape_.type);
  scale(product.left, Factor::of_uv, layer_, shape_.type);
  const DenseReference reference(product, threads);
  checked.compare = [&](std::span<const kernels::Strip> strips, kernels::Comparison& into) {
    for (const kernels::Strip& strip : strips)
      reference.compare(strip.line, y.subspan(strip.line * options_.n, options_.n), into);
  };
  CheckResult result = kernels::check(checked, request, threads);
  if (!all)
    result.note = fmt::format("the dense W is compared in {} of {} rows and {} of {} columns",
                              checked.sample.size(), rows, product.columns.size(), options_.n);
  // Z and Y are compared whole all the same, of what the machine multiplied.
  result.method = "full";
  return result;
}

}  // namespace tessera::pixelfly
