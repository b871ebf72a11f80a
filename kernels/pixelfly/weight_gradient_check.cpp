#include <algorithm>
#include <cmath>

#include "kernels/check/comparison.h"
#include "kernels/pixelfly/inner_sums.h"
#include "kernels/pixelfly/tensors.h"
#include "kernels/pixelfly/weight_gradient.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/data/random.h"

namespace tessera::pixelfly {

namespace {

constexpr std::size_t kBatch = 256;       // blocks that all threads compare before it goes on
constexpr std::uint64_t kBlockStep = 64;  // of so many blocks one is compared where not all are

/// Rows of a right-hand side: given ones, then products that come first, with padding between.
struct RightRows {
  const std::vector<float>& given;
  std::uint64_t rows;       ///< that are given
  std::uint64_t made_from;  ///< the first that is made
  const std::vector<InnerSum>& made;
};

/// An element of A B^T over n columns and how far the machine's may be off (see check.cpp).
kernels::Compared element(const float* left, const RightRows& right, std::uint64_t column,
                          std::size_t n, double found, const sparse::Rounding& rounding) {
  sparse::ExactSum sum;
  double off = 0;
  double squares = 0;
  for (std::size_t c = 0; c < n; ++c) {
    const auto factor = static_cast<double>(left[c]);
    if (column < right.rows) {
      sum.add(factor * static_cast<double>(right.given[column * n + c]));
      continue;
    }
    const InnerSum& inner = right.made[(column - right.made_from) * n + c];
    sum.add(factor * inner.value);
    off += std::abs(factor) * inner.allowed;
    squares += factor * factor * inner.likely * inner.likely;
  }
  kernels::Compared one = sum.compared(0, column, found, rounding);
  one.allowed += std::min(off, std::sqrt(squares));
  constexpr double kDeviations = 8;  // that likely errors stand for
  one.deviation = std::hypot(one.deviation, std::sqrt(squares) / kDeviations);
  return one;
}

/// Gradients as found: blocks of S, and from block column `first_dense` on a dense matrix.
struct Found {
  const sparse::BlockMatrix& s;
  std::uint32_t first_dense;
  std::span<const float> blocks, dense;
  std::uint64_t dense_columns;
};

class BlockCheck {
 public:
  BlockCheck(const Sampled& plan, const sparse::BlockMatrix& pattern, const Found& found,
             HostThreads& threads)
      : plan_(plan), pattern_(pattern), found_(found), threads_(threads) {}

  void compare(const std::vector<float>& left, const RightRows& right, std::size_t n, bool all,
               std::uint64_t seed, kernels::Comparison& into) {
    const spmm_static::Deal& deal = plan_.partition.deal;
    const program::Type type = plan_.partition.shape.type;
    const auto rounding = sparse::rounding_of(
        type, plan_.partials(), plan_.on_unit ? plan_.partition.shape.unit.depth : 1,
        static_cast<std::uint32_t>(plan_.partition.parts.size()) + 1);
    const std::uint64_t step = all ? 1 : kBlockStep;
    std::vector<std::uint64_t> blocks;
    for (std::uint64_t first = 0; first < deal.blocks(); first += step)
      blocks.push_back(first + data::random_below(seed, sparse::kSampleStream, first,
                                                  std::min(step, deal.blocks() - first)));
    for (std::size_t first = 0; first < blocks.size(); first += kBatch) {
      const auto batch = std::span(blocks).subspan(first, std::min(kBatch, blocks.size() - first));
      std::vector<kernels::Comparison> pieces(batch.size(), into.fresh());
      threads_.for_ranges(batch.size(), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          compare_block(batch[i], left, right, n, rounding, pieces[i]);
      });
      for (const kernels::Comparison& piece : pieces) into.merge(piece);
    }
  }

 private:
  void compare_block(std::uint64_t e, const std::vector<float>& left, const RightRows& right,
                     std::size_t n, const sparse::Rounding& rounding,
                     kernels::Comparison& into) const {
    const bool in_s = plan_.column(e) < found_.first_dense;
    const std::uint64_t first =
        in_s ? block_index(found_.s, plan_.row(e), plan_.column(e)) * plan_.area() : 0;
    const std::uint64_t before = std::uint64_t{found_.first_dense} * pattern_.block;
    for (std::uint64_t at = 0; at < plan_.area(); ++at) {
      const std::uint64_t row = std::uint64_t{plan_.row(e)} * pattern_.block + at / pattern_.block;
      const std::uint64_t column =
          std::uint64_t{plan_.column(e)} * pattern_.block + at % pattern_.block;
      const bool padding = column >= right.rows && column < right.made_from;
      if (row >= pattern_.rows || column >= pattern_.columns || padding) continue;
      const float found = in_s ? found_.blocks[first + at]
                               : found_.dense[row * found_.dense_columns + column - before];
      kernels::Compared one =
          element(&left[row * n], right, column, n, static_cast<double>(found), rounding);
      one.row = row;
      into.add(one);
    }
  }

  const Sampled& plan_;
  const sparse::BlockMatrix& pattern_;
  Found found_;
  HostThreads& threads_;
};

}  // namespace

CheckResult WeightGradient::check(const TensorReader& tensors, const CheckRequest& request) const {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  const bool all = compares_all(request.mode, useful_flops());
  const std::size_t n = options_.n;
  HostThreads threads(request.threads);
  const std::vector<float> x = values_of(x_, x_.rows(), threads);
  const std::vector<float> dy = values_of(dy_, dy_.rows(), threads);
  std::vector<InnerSum> z, t;
  if (plan_.z) {
    z = inner_sums(layer_.v, x, n, rounding_of(plan_.z->partition), threads);
    t = inner_sums(layer_.u, dy, n, rounding_of(plan_.t->partition), threads);
  }
  const std::uint64_t given = round_up(x_.rows(), std::uint64_t{shape_.block});
  kernels::Comparison weights({"[dS | dU]", shape_.type, plan_.dw.partials(), false});
  const std::vector<float> ds = tensors.floats("dS.data", threads);
  const std::vector<float> du = plan_.dv ? tensors.floats("dU", threads) : std::vector<float>{};
  BlockCheck(plan_.dw, dw_, {layer_.s, first_dense(), ds, du, layer_.rank()}, threads)
      .compare(dy, {x, x_.rows(), given, z}, n, all, request.seed, weights);
  kernels::Comparison factors({"dV", shape_.type, plan_.dw.partials(), false});
  if (plan_.dv) {
    const std::vector<float> dv = tensors.floats("dV", threads);
    BlockCheck(*plan_.dv, dv_, {layer_.s, 0, {}, dv, layer_.rank()}, threads)
        .compare(x, {x, 0, 0, t}, n, all, request.seed, factors);
  }
  const std::uint64_t independent = n * (plan_.z ? layer_.rank() : x_.rows());
  for (kernels::Comparison* one : {&weights, &factors}) one->judge_all(independent);
  CheckResult result = weights.result(all ? "full" : "sample");
  if (!plan_.dv) return result;
  const CheckResult other = factors.result(result.method);
  if (result.passed && !other.passed) result.problem = other.problem;
  result.passed = result.passed && other.passed;
  result.max_error = std::max(result.max_error, other.max_error);
  result.compared += other.compared;
  return result;
}

}  // namespace tessera::pixelfly
