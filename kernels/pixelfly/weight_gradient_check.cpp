#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/pixelfly/tensors.h"
#include "kernels/pixelfly/weight_gradient.h"
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

  [[nodiscard]] const float* row(std::uint64_t row, std::size_t n) const {
    return row < rows ? &given[row * n] : &made[(row - made_from) * n];
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

/// Blocks of A B^T, element by element.
class BlockReference {
 public:
  BlockReference(const Sampled& plan, const sparse::BlockMatrix& pattern, const Found& found,
                 const std::vector<float>& left, const RightRows& right, std::size_t n)
      : plan_(plan),
        pattern_(pattern),
        found_(found),
        left_(left),
        right_(right),
        n_(n),
        rounding_(kernels::rounding_of(
            type(), plan.partials(), plan.on_unit ? plan.partition.shape.unit.depth : 1,
            static_cast<std::uint32_t>(plan.partition.parts.size()) + 1)) {}

  [[nodiscard]] CheckResult check(const char* name, std::uint64_t flops,
                                  const CheckRequest& request, HostThreads& threads) const {
    kernels::Checked checked{{name, type(), plan_.partials()}};
    checked.flops = flops;
    checked.lines = plan_.blocks.size();
    checked.sample =
        kernels::sample_lines(checked.lines, kBlockStep, request.seed, sparse::kSampleStream);
    checked.compare = [&](std::span<const kernels::Strip> blocks, kernels::Comparison& into) {
      for (const kernels::Strip& block : blocks) compare(block.line, into);
    };
    return kernels::check(checked, request, threads);
  }

 private:
  [[nodiscard]] program::Type type() const { return plan_.partition.shape.type; }

  void compare(std::uint64_t e, kernels::Comparison& into) const {
    const bool in_s = plan_.column(e) < found_.first_dense;
    const std::uint64_t first =
        in_s ? block_index(found_.s, plan_.row(e), plan_.column(e)) * plan_.area() : 0;
    const std::uint64_t before = std::uint64_t{found_.first_dense} * pattern_.block;
    for (std::uint64_t at = 0; at < plan_.area(); ++at) {
      const std::uint64_t row = std::uint64_t{plan_.row(e)} * pattern_.block + at / pattern_.block;
      const std::uint64_t column =
          std::uint64_t{plan_.column(e)} * pattern_.block + at % pattern_.block;
      const bool padding = column >= right_.rows && column < right_.made_from;
      if (row >= pattern_.rows || column >= pattern_.columns || padding) continue;
      const float found = in_s ? found_.blocks[first + at]
                               : found_.dense[row * found_.dense_columns + column - before];
      const auto left = std::span(left_).subspan(row * n_, n_);
      const float* const right = right_.row(column, n_);
      kernels::Compared one =
          kernels::dot(left, right).compared(row, column, static_cast<double>(found), rounding_);
      one.exact = static_cast<double>(exact(left, right));
      if (found_.gamma) {
        const float factor = factor_of(in_s ? Factor::of_s : Factor::of_uv, *found_.gamma);
        multiply(one, static_cast<double>(factor), type());
        one.exact = scaled(*one.exact, factor, type());
      }
      into.add(one);
    }
  }

  /// What the machine has to make of an element: each tile the sum of its columns, which are then
  /// added in the order of the parts.
  [[nodiscard]] float exact(std::span<const float> left, const float* right) const {
    const sparse::Shape& shape = plan_.partition.shape;
    const kernels::OrderedSums sums(plan_.partials(), shape.unit.depth);
    float all = 0;
    for (const Part& part : plan_.partition.parts) {
      const std::size_t begin = std::min<std::size_t>(part.begin, n_);
      const auto its = left.subspan(begin, std::min<std::size_t>(part.end, n_) - begin);
      float sum = 0;
      if (plan_.on_unit)
        sums.add_rows(its, right + begin, 1, {&sum, 1});
      else
        sum = kernels::vector_dot(shape.type, its, right + begin);
      sums.join({&sum, 1}, {&all, 1});
    }
    return kernels::to_type(shape.type, all);
  }

  const Sampled& plan_;
  const sparse::BlockMatrix& pattern_;
  Found found_;
  const std::vector<float>& left_;
  RightRows right_;
  std::size_t n_;
  kernels::Rounding rounding_;
};

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
      kernels::worse(BlockReference(plan_.dw, dw_, weights, dy, {x, x_.rows(), given, z}, n)
                         .check("[dS | dU]", useful_flops(), request, threads),
                     inner);
  if (!plan_.dv) return result;
  const std::vector<float> dv = tensors.floats("dV", threads);
  const Found factors{layer_.s, 0, {}, dv, layer_.rank(), layer_.gamma};
  return kernels::worse(result, BlockReference(*plan_.dv, dv_, factors, x, {x, 0, 0, t}, n)
                                    .check("dV", useful_flops(), request, threads));
}

}  // namespace tessera::pixelfly
