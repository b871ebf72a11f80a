#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/check/comparison.h"
#include "kernels/pixelfly/inner_sums.h"
#include "kernels/pixelfly/tensors.h"
#include "kernels/pixelfly/weight_gradient.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/replay.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/data/random.h"

namespace tessera::pixelfly {

namespace {

constexpr std::size_t kBatch = 256;       // blocks that all threads compare before it goes on
constexpr std::uint64_t kBlockStep = 64;  // of so many blocks one is compared where not all are

/// Rows of a right-hand side: given ones, then products that came first, as the machine made them,
/// with padding between.
struct RightRows {
  const std::vector<float>& given;
  std::uint64_t rows;       ///< that are given
  std::uint64_t made_from;  ///< the first that is made
  const std::vector<float>& made;

  [[nodiscard]] const float* row(std::uint64_t row, std::size_t n) const {
    return row < rows ? &given[row * n] : &made[(row - made_from) * n];
  }
};

/// An element of A B^T over n columns.
sparse::ExactSum element(const float* left, const float* right, std::size_t n) {
  sparse::ExactSum sum;
  for (std::size_t c = 0; c < n; ++c)
    sum.add(static_cast<double>(left[c]) * static_cast<double>(right[c]));
  return sum;
}

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
  const double smallest = type == program::Type::f16 ? 0x1p-25 : 0x1p-150;
  one.expected *= factor;
  one.allowed *= factor;
  one.reach *= factor;
  const double rounding =
      kTwice * data::unit_roundoff(type) * (std::abs(one.expected) + one.allowed) + smallest;
  one.allowed += rounding;
}

class BlockCheck {
 public:
  BlockCheck(const Sampled& plan, const sparse::BlockMatrix& pattern, const Found& found,
             HostThreads& threads)
      : plan_(plan), pattern_(pattern), found_(found), threads_(threads) {}

  void compare(const std::vector<float>& left, const RightRows& right, std::size_t n, bool all,
               std::uint64_t seed, kernels::Comparison& into) {
    const program::Type type = plan_.partition.shape.type;
    const auto rounding = sparse::rounding_of(
        type, plan_.partials(), plan_.on_unit ? plan_.partition.shape.unit.depth : 1,
        static_cast<std::uint32_t>(plan_.partition.parts.size()) + 1);
    const std::uint64_t step = all ? 1 : kBlockStep;
    std::vector<std::uint64_t> blocks;
    for (std::uint64_t first = 0; first < plan_.blocks.size(); first += step)
      blocks.push_back(first + data::random_below(seed, sparse::kSampleStream, first,
                                                  std::min(step, plan_.blocks.size() - first)));
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
      const float* const of_left = &left[row * n];
      const float* const of_right = right.row(column, n);
      kernels::Compared one =
          element(of_left, of_right, n).compared(row, column, static_cast<double>(found), rounding);
      one.exact = static_cast<double>(replay(of_left, of_right, n));
      if (found_.gamma) {
        const program::Type type = plan_.partition.shape.type;
        const float factor = factor_of(in_s ? Factor::of_s : Factor::of_uv, *found_.gamma);
        multiply(one, static_cast<double>(factor), type);
        one.exact = scaled(*one.exact, factor, type);
      }
      into.add(one);
    }
  }

  /// What the machine has to make of an element: each tile the sum of its columns, which are then
  /// added in the order of the parts.
  [[nodiscard]] float replay(const float* left, const float* right, std::size_t n) const {
    const sparse::Sums sums(plan_.partials(), plan_.partition.shape.unit.depth);
    float all = 0;
    for (const Part& part : plan_.partition.parts) {
      const std::size_t begin = std::min<std::size_t>(part.begin, n);
      const std::size_t columns = std::min<std::size_t>(part.end, n) - begin;
      const float sum = part_sum({left + begin, columns}, right + begin, sums);
      sums.join({&sum, 1}, {&all, 1});
    }
    return kernels::to_type(plan_.partition.shape.type, all);
  }
  [[nodiscard]] float part_sum(std::span<const float> left, const float* right,
                               const sparse::Sums& sums) const {
    const sparse::Shape& shape = plan_.partition.shape;
    if (!plan_.on_unit) return sparse::vector_dot(shape.type, left, right);
    float sum = 0;
    for (std::size_t c = 0; c < left.size(); ++c) {
      sums.add(left[c], &right[c], {&sum, 1});
      if ((c + 1) % shape.unit.depth == 0) sums.store({&sum, 1});
    }
    sums.store({&sum, 1});
    return sum;
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
  CheckResult inner{true, 0, 1, "full"};
  std::vector<float> z, t;
  const auto check_inner = [&](const char* name, const spmm_static::Plan& of,
                               const sparse::BlockMatrix& w, const data::DenseOperand& of_what,
                               std::vector<float>& made) {
    made = tensors.floats(name, threads);
    CheckResult one = sparse::check_product(w, of_what, made, rounding_of(of.partition), request,
                                            spmm_static::replay_of(of.partition, w, options_.n));
    if (!one.passed) one.problem += fmt::format(" (Y is {} here)", name);
    inner = kernels::worse(inner, one);
  };
  if (plan_.z) {
    check_inner("Z", *plan_.z, z_, x_, z);
    check_inner("T", *plan_.t, t_, dy_, t);
  }
  const std::uint64_t given = round_up(x_.rows(), std::uint64_t{shape_.block});
  kernels::Comparison weights({"[dS | dU]", shape_.type, plan_.dw.partials(), false});
  const std::vector<float> ds = tensors.floats("dS.data", threads);
  const std::vector<float> du = plan_.dv ? tensors.floats("dU", threads) : std::vector<float>{};
  BlockCheck(plan_.dw, dw_, {layer_.s, first_dense(), ds, du, layer_.rank(), layer_.gamma}, threads)
      .compare(dy, {x, x_.rows(), given, z}, n, all, request.seed, weights);
  kernels::Comparison factors({"dV", shape_.type, plan_.dw.partials(), false});
  if (plan_.dv) {
    const std::vector<float> dv = tensors.floats("dV", threads);
    BlockCheck(*plan_.dv, dv_, {layer_.s, 0, {}, dv, layer_.rank(), layer_.gamma}, threads)
        .compare(x, {x, 0, 0, t}, n, all, request.seed, factors);
  }
  const char* const method = all ? "full" : "sample";
  const CheckResult result = kernels::worse(weights.result(method), inner);
  return plan_.dv ? kernels::worse(result, factors.result(method)) : result;
}

}  // namespace tessera::pixelfly
