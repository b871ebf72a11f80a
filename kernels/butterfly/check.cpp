#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/butterfly/butterfly.h"
#include "kernels/butterfly/reference.h"
#include "kernels/check/product.h"
#include "sim/data/random.h"

namespace tessera::butterfly {

namespace {

/// Margin for second-order errors, which the bound omits.
constexpr double kSecondOrder = 1.01;
constexpr std::uint32_t kSampledColumns = 32;
constexpr std::uint64_t kSampleStream = 11;
/// kMostComparedFlops for blocks: a dense product simulates ten times as fast per FLOP as scalar
/// twiddles.
constexpr std::uint64_t kMostOfBlocks = 1'000'000'000;
constexpr std::uint64_t kSegment = 256;  ///< columns whose signed sum is checked
constexpr std::size_t kAtOnce = Columns::kWidth;

/// Random columns, at least one in every part of the plan.
std::vector<std::uint64_t> sampled_columns(const Geometry& geometry, std::uint64_t seed) {
  std::vector<std::uint64_t> columns;
  const std::uint32_t n = geometry.problem.n;
  const auto draw = [&](std::uint64_t stream, std::uint64_t number, std::uint64_t first,
                        std::uint64_t end) {
    columns.push_back(first + data::random_below(seed, stream, number, end - first));
  };
  for (std::uint32_t round = 0; round < geometry.plan.rounds; ++round)
    for (std::uint32_t part = 0; part < geometry.plan.split_n; ++part) {
      const Interval units = geometry.round(round).units(part * geometry.plan.split_features);
      const std::uint64_t width = geometry.problem.unit_columns();
      draw(kSampleStream, round * std::uint64_t{geometry.plan.split_n} + part, units.begin * width,
           std::min<std::uint64_t>(units.end * width, n));
    }
  for (std::uint32_t i = 0; i < kSampledColumns; ++i) draw(kSampleStream + 1, i, 0, n);
  return columns;
}

std::vector<std::uint32_t> columns_of(std::span<const kernels::Strip> strips) {
  std::vector<std::uint32_t> columns;
  for (const kernels::Strip& strip : strips.first(std::min(kAtOnce, strips.size())))
    columns.push_back(static_cast<std::uint32_t>(strip.line));
  return columns;
}

/// Compares columns with the factors applied to X in double, with a running error bound.
void compare_columns(const FoundProduct& product, std::span<const kernels::Strip> strips,
                     kernels::Comparison& into) {
  Columns y;
  for (; !strips.empty(); strips = strips.subspan(std::min(kAtOnce, strips.size()))) {
    const std::vector<std::uint32_t> columns = columns_of(strips);
    exact_columns(product.problem, product.x, columns, y);
    product.apply_all(y);
    constexpr std::size_t kAhead = 16;  // rows: host prefetchers miss this stride
    for (std::size_t row = 0; row < product.rows(); ++row) {
      __builtin_prefetch(
          &product.found[product.place(std::min(row + kAhead, product.rows() - 1), columns[0])]);
      for (std::size_t i = 0; i < columns.size(); ++i)
        into.add({row / product.parts(), columns[i],
                  static_cast<double>(product.found[product.place(row, columns[i])]),
                  y.value[row * kAtOnce + i], kSecondOrder * y.error[row * kAtOnce + i]});
    }
  }
}

void compare_exact(const FoundProduct& product, std::span<const kernels::Strip> strips,
                   kernels::Comparison& into) {
  for (; !strips.empty(); strips = strips.subspan(std::min(kAtOnce, strips.size()))) {
    const std::vector<std::uint32_t> columns = columns_of(strips);
    const std::vector<float> values = exact_product(product, columns);
    for (std::size_t row = 0; row < product.rows(); ++row)
      for (std::size_t i = 0; i < columns.size(); ++i)
        into.add_exact(row, columns[i],
                       static_cast<double>(product.found[product.place(row, columns[i])]),
                       static_cast<double>(values[row * kAtOnce + i]));
  }
}

/// Applies the factors to signed sums of X, in place; standard deviations are the running bound /
/// 8.
struct SignedSums {
  std::vector<double> sums, deviations;

  SignedSums(const FoundProduct& product, const kernels::SignVectors& signs,
             const kernels::MatrixView& x, HostThreads& threads)
      : sums(kernels::row_sums(x, product.rows(), signs, threads).sums),
        deviations(product.rows() * signs.segments()) {
    constexpr std::size_t kVectors = kernels::SignVectors::kVectors;
    threads.for_ranges(signs.segments(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t s = begin; s < end; ++s) {
        for (std::size_t first = 0; first < kVectors; first += kAtOnce)
          apply_all(product, s * kVectors + first, std::min(kAtOnce, kVectors - first),
                    signs.sums());
        for (std::size_t at = s; at < deviations.size(); at += signs.segments())
          deviations[at] = std::sqrt(deviations[at] / kVectors) / kDeviations;
      }
    });
  }

 private:
  static constexpr double kDeviations = 8;  // standard deviations in a column's error bound

  /// Processes sums first .. first + width of the `step` sums of each row; adds squares of errors.
  void apply_all(const FoundProduct& product, std::size_t first, std::size_t width,
                 std::size_t step) {
    const std::size_t rows = product.rows();
    Columns x{std::vector<double>(rows * kAtOnce), std::vector<double>(rows * kAtOnce)};
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(&sums[row * step + first], width, &x.value[row * kAtOnce]);
    product.apply_all(x);
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(&x.value[row * kAtOnce], width, &sums[row * step + first]);
      double& squares = deviations[(row * step + first) / kernels::SignVectors::kVectors];
      for (std::size_t i = 0; i < width; ++i)
        squares += x.error[row * kAtOnce + i] * x.error[row * kAtOnce + i];
    }
  }
};

/// Converts [features][n] to rows of real numbers; a complex feature gets two consecutive rows.
std::vector<float> in_rows(const FoundProduct& product, std::vector<float> numbers) {
  if (product.parts() == 1) return numbers;
  std::vector<float> rows(numbers.size());
  for (std::size_t row = 0; row < product.rows(); ++row)
    for (std::uint64_t j = 0, from = product.place(row, 0); j < product.problem.n; ++j, from += 2)
      rows[row * product.problem.n + j] = numbers[from];
  return rows;
}

/// Signed sums of all rows. Their rounding deviations come from applying the factors too: in every
/// stage a sum with random signs is about as large as the root of the sum of squares.
kernels::SignedRows signed_rows(const FoundProduct& product, std::uint64_t seed,
                                HostThreads& threads) {
  const std::uint64_t n = product.problem.n;
  const kernels::SignVectors signs(n, kSegment, seed, kSampleStream + 2);
  const std::vector<float> x = in_rows(product, kernels::rows_of(product.x, threads));
  const auto expected = std::make_shared<const SignedSums>(
      product, signs, kernels::MatrixView{x.data(), n, 1}, threads);
  const auto found = std::make_shared<const std::vector<float>>(
      in_rows(product, {product.found.begin(), product.found.end()}));
  return {signs,
          {found->data(), n, 1},
          product.rows(),
          [found, expected, width = signs.sums(), segments = signs.segments()](
              Interval rows, std::span<double> of_rows, std::span<double> deviations) {
            std::copy_n(&expected->sums[rows.begin * width], of_rows.size(), of_rows.begin());
            std::copy_n(&expected->deviations[rows.begin * segments], deviations.size(),
                        deviations.begin());
          },
          true};
}

}  // namespace

/// Compares all columns, or a sample of columns plus sums with random signs of all.
CheckResult checked(const Subject& subject, const Plan& plan, const TensorReader& tensors,
                    const CheckRequest& request) {
  const Geometry geometry = subject.geometry(plan);
  const Problem& p = geometry.problem;
  if (p.pass == Pass::grad_twiddles) return check_gradient(subject, p, tensors, request);
  const bool seeded = subject.seeded();
  const std::vector<Factor> matrices = factors(p, subject.operands.twiddles);
  HostThreads threads(request.threads);
  const std::vector<float> found = tensors.floats(p.pass == Pass::forward ? "Y" : "Xg", threads);
  const FoundProduct product{p, matrices, subject.operands.x, found, subject.roundings()};
  FoundProduct of_sums = product;
  if (seeded) of_sums.roundings = Roundings::independent;
  kernels::Checked all{{"Y", p.type(), p.type()}};
  all.flops = summary(subject, plan).useful_flops;
  all.most_flops = p.blocked() ? kMostOfBlocks : kMostComparedFlops;
  all.lines = p.n;
  all.grain = 8 * kAtOnce;  // columns processed in the same buffers
  all.compare = [&](std::span<const kernels::Strip> strips, kernels::Comparison& into) {
    compare_columns(product, strips, into);
  };
  all.sample = sampled_columns(geometry, request.seed);
  if (p.dtype == Number::f16)
    for (const std::uint64_t column : all.sample) all.exact_strips.push_back({column, {}});
  all.compare_exact = [&](std::span<const kernels::Strip> strips, kernels::Comparison& into) {
    compare_exact(product, strips, into);
  };
  // A rounding in one factor affects all rows that depend on it: errors are correlated.
  all.independent = seeded ? 0.5 / p.stages() : 0;
  all.sides = 1;
  all.side = [&](unsigned /*side*/, HostThreads& of) {
    return signed_rows(of_sums, request.seed, of);
  };
  all.most_suspects = 1024;
  return kernels::check(all, request, threads);
}

}  // namespace tessera::butterfly
