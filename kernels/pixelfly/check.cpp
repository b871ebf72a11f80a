#include "kernels/sparse/check.h"

#include <algorithm>
#include <cmath>

#include "kernels/check/comparison.h"
#include "kernels/pixelfly/inner_sums.h"
#include "kernels/pixelfly/pixelfly.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/replay.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/data/random.h"

namespace tessera::pixelfly {

using kernels::worse;
using spmm_static::rounding_of;

namespace {

constexpr std::uint32_t kRowStep = 64;          // of so many rows one is compared where not all are
constexpr std::uint64_t kSampledColumns = 512;  // that are then compared
constexpr std::size_t kBatch = 64;              // rows that all threads compare before it goes on
/// The dense W costs as many times more than the product as W is compressed: its own limit.
constexpr std::uint64_t kMostDenseFlops = 1'000'000'000;

/// W D for the dense W = S + L R^T, S and L as they are multiplied, row by row in double, and how
/// far the machine's may be off: what sums of the products of [S | L] with [D ; R^T D] may be
/// (kernels/sparse/check.h), and what the roundings of R^T D, up to e_q each, come to in them:
/// min(sum |L_q| e_q, sqrt(sum (L_q d_q)^2)) where d_q is eight of their standard deviations, as
/// they are independent.
class Reference {
 public:
  struct Roundings {
    sparse::Rounding inner, outer;  ///< `repeat`: errors of R^T D are not taken as independent
  };
  /// Of some columns of D.
  Reference(sparse::BlockMatrix s, std::vector<double> left, const data::DenseOperand& right,
            const data::DenseOperand& dense, kernels::Interval columns, const Roundings& roundings,
            HostThreads& threads)
      : s_(std::move(s)),
        left_(std::move(left)),
        right_(right),
        columns_(columns),
        n_(columns.size()),
        roundings_(roundings),
        dense_(values_of(dense, dense.rows(), columns, threads)),
        inner_(inner_sums(right, dense_, n_, roundings.inner, threads)) {}

  /// Compares row `row`, found as it is.
  void compare(std::uint32_t row, std::span<const float> found, kernels::Comparison& into) const {
    std::vector<double> weights(s_.columns);
    std::vector<sparse::ExactSum> sums(n_);
    add_sparse(row, weights, sums);
    std::vector<double> off(n_), off_squares(n_);
    const std::uint64_t rank = right_.columns();
    for (std::uint32_t q = 0; q < rank; ++q) {
      const double factor = left_[row * rank + q];
      for (std::uint32_t j = 0; j < s_.columns; ++j) weights[j] += factor * right_.element(j, q);
      for (std::size_t c = 0; c < n_; ++c) {
        const InnerSum& inner = inner_[q * n_ + c];
        sums[c].add(factor * inner.value);
        off[c] += std::abs(factor) * inner.allowed;
        off_squares[c] += factor * factor * inner.likely * inner.likely;
      }
    }
    std::vector<double> expected(n_);
    for (std::uint32_t j = 0; j < s_.columns; ++j) {
      if (weights[j] == 0) continue;
      for (std::size_t c = 0; c < n_; ++c)
        expected[c] += weights[j] * static_cast<double>(dense_[j * n_ + c]);
    }
    for (std::size_t c = 0; c < n_; ++c) {
      const std::size_t column = columns_.begin + c;
      kernels::Compared one =
          sums[c].compared(row, column, static_cast<double>(found[column]), roundings_.outer);
      one.expected = expected[c];
      one.allowed += roundings_.outer.repeat ? off[c] : std::min(off[c], std::sqrt(off_squares[c]));
      into.add(one);
    }
  }

 private:
  void add_sparse(std::uint32_t row, std::vector<double>& weights,
                  std::vector<sparse::ExactSum>& sums) const {
    const std::uint32_t block_row = row / s_.block;
    for (std::uint64_t e = s_.row_begin[block_row]; e < s_.row_begin[block_row + 1]; ++e) {
      for (std::uint32_t i = 0; i < s_.block; ++i) {
        const std::uint32_t j = s_.column[e] * s_.block + i;
        if (j >= s_.columns) break;
        weights[j] = static_cast<double>(s_.values(e)[row % s_.block * s_.block + i]);
        for (std::size_t c = 0; c < n_; ++c)
          sums[c].add(weights[j] * static_cast<double>(dense_[j * n_ + c]));
      }
    }
  }

  sparse::BlockMatrix s_;
  std::vector<double> left_;  ///< by rows
  const data::DenseOperand& right_;
  kernels::Interval columns_;
  std::size_t n_;
  Roundings roundings_;
  std::vector<float> dense_;
  std::vector<InnerSum> inner_;  ///< R^T D
};

/// The elements of L, times 1 - gamma.
std::vector<double> left_values(const data::DenseOperand& left, const Layer& layer,
                                program::Type type) {
  std::vector<double> values;
  values.reserve(left.rows() * left.columns());
  for (std::uint64_t i = 0; i < left.rows(); ++i)
    for (std::uint64_t q = 0; q < left.columns(); ++q)
      values.push_back(
          layer.gamma ? scaled(left.element(i, q), factor_of(Factor::of_uv, *layer.gamma), type)
                      : left.element(i, q));
  return values;
}

/// S times gamma.
sparse::BlockMatrix sparse_values(sparse::BlockMatrix s, const Layer& layer, program::Type type) {
  if (!layer.gamma) return s;
  const float factor = factor_of(Factor::of_s, *layer.gamma);
  for (float& value : s.value)
    value = static_cast<float>(scaled(static_cast<double>(value), factor, type));
  return s;
}

/// All, or some side by side.
kernels::Interval columns_to_compare(std::uint64_t n, bool all, std::uint64_t seed) {
  const std::uint64_t count = all ? n : std::min(n, kSampledColumns);
  const std::uint64_t first = data::random_below(seed, sparse::kSampleStream + 1, 0, n - count + 1);
  return {first, first + count};
}

/// All rows, or one of every few.
std::vector<std::uint32_t> rows_to_compare(std::uint32_t rows, bool all, std::uint64_t seed) {
  std::vector<std::uint32_t> some;
  for (std::uint32_t first = 0; first < rows; first += all ? 1 : kRowStep) {
    const std::uint32_t step = all ? 1 : std::min(kRowStep, rows - first);
    some.push_back(first + static_cast<std::uint32_t>(
                               data::random_below(seed, sparse::kSampleStream, first, step)));
  }
  return some;
}

void compare_rows(const Reference& reference, std::span<const std::uint32_t> rows,
                  std::span<const float> y, std::size_t n, HostThreads& threads,
                  kernels::Comparison& comparison) {
  for (std::size_t first = 0; first < rows.size(); first += kBatch) {
    const auto batch = rows.subspan(first, std::min(kBatch, rows.size() - first));
    std::vector<kernels::Comparison> pieces(batch.size(), comparison.fresh());
    threads.for_ranges(batch.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        reference.compare(batch[i], y.subspan(batch[i] * n, n), pieces[i]);
    });
    for (const kernels::Comparison& piece : pieces) comparison.merge(piece);
  }
}

}  // namespace

CheckResult Pixelfly::check(const TensorReader& tensors, const CheckRequest& request) const {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  const bool forward = options_.pass == Pass::forward;
  const std::uint32_t rows = chain_.outer.rows;
  const std::uint64_t flops = 2 * std::uint64_t{rows} * x_.rows() * options_.n;
  const bool all = compares_all(request.mode, flops, kMostDenseFlops);
  HostThreads threads(request.threads);
  Reference::Roundings roundings{};
  roundings.outer = rounding_of(plan_.outer.partition);
  roundings.inner = plan_.inner ? rounding_of(plan_.inner->partition) : roundings.outer;
  roundings.inner.repeat = roundings.outer.repeat = !seeded();
  const Reference reference(
      sparse_values(forward ? layer_.s : sparse::transposed(layer_.s), layer_, shape_.type),
      left_values(forward ? layer_.u : layer_.v, layer_, shape_.type),
      forward ? layer_.v : layer_.u, x_, columns_to_compare(options_.n, all, request.seed),
      roundings, threads);
  const std::vector<float> y = tensors.floats(chain_.result, threads);
  const std::vector<float> z =
      plan_.inner ? tensors.floats(chain_.low_rank, threads) : std::vector<float>{};
  kernels::Comparison comparison({chain_.result, shape_.type, shape_.partials, false});
  compare_rows(reference, rows_to_compare(rows, all, request.seed), y, options_.n, threads,
               comparison);
  const CheckResult compared = comparison.result("full");
  // What is made of the Z that the machine made is bound more narrowly, and is all compared sooner.
  return worse(worse(compared, check_inner(z, request)), check_outer(z, y, request));
}

/// Z.
CheckResult Pixelfly::check_inner(std::span<const float> z, const CheckRequest& request) const {
  if (!plan_.inner) return {true, 0, 1, "full"};
  CheckResult result = sparse::check_product(
      chain_.inner, x_, z, rounding_of(plan_.inner->partition), request,
      spmm_static::replay_of(plan_.inner->partition, chain_.inner, options_.n));
  if (!result.passed) result.problem += " (Y is Z here)";
  return result;
}

/// The outer product for itself, of the Z that the machine made.
CheckResult Pixelfly::check_outer(std::span<const float> z, std::span<const float> y,
                                  const CheckRequest& request) const {
  const spmm_static::Partition& outer = plan_.outer.partition;
  HostThreads threads(request.threads);
  std::vector<float> dense = values_of(
      x_, std::uint64_t{round_up(static_cast<std::uint32_t>(x_.rows()), shape_.block)}, threads);
  const auto of_z = z.first(plan_.inner ? std::size_t{layer_.rank()} * options_.n : 0);
  dense.insert(dense.end(), of_z.begin(), of_z.end());
  const sparse::BlockMatrix w = chain_.scaled_outer(shape_.type);
  return sparse::check_product(w, dense, options_.n, y, rounding_of(outer), request,
                               spmm_static::replay_of(outer, w, options_.n));
}

}  // namespace tessera::pixelfly
