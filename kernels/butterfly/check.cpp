#include <algorithm>
#include <cmath>

#include "kernels/butterfly/butterfly.h"
#include "kernels/butterfly/reference.h"
#include "kernels/check/comparison.h"
#include "sim/base/parallel.h"
#include "sim/data/random.h"

namespace tessera::butterfly {

namespace {

/// Errors of errors: what the bound leaves out is of second order.
constexpr double kSecondOrder = 1.01;
constexpr std::uint32_t kSampledColumns = 32;
constexpr std::uint32_t kMostDense = 128;  ///< features up to which the dense matrix is made
constexpr std::size_t kDenseChunks = 16;   ///< of columns that it multiplies
constexpr std::uint64_t kSampleStream = 11;

/// All columns, or some, at least one of every part of the plan.
std::vector<std::uint32_t> columns_to_compare(const Geometry& geometry, bool all,
                                              std::uint64_t seed) {
  std::vector<std::uint32_t> columns;
  const std::uint32_t n = geometry.problem.n;
  if (all) {
    for (std::uint32_t j = 0; j < n; ++j) columns.push_back(j);
    return columns;
  }
  const auto draw = [&](std::uint64_t stream, std::uint64_t number, std::uint64_t first,
                        std::uint64_t end) {
    columns.push_back(
        static_cast<std::uint32_t>(first + data::random_below(seed, stream, number, end - first)));
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

}  // namespace

/// Some columns at a time: the factors applied to X in double with a running bound, and, where it
/// is small, the dense matrix times X.
CheckResult Butterfly::check_product(const TensorReader& tensors,
                                     const CheckRequest& request) const {
  constexpr std::size_t kWidth = Columns::kWidth;
  const Problem& p = options_.problem;
  const std::uint32_t parts = p.is_complex() ? 2 : 1;
  const bool all = compares_all(request.mode, useful_flops());
  const std::vector<std::uint32_t> columns = columns_to_compare(geometry_, all, request.seed);
  const std::vector<Factor> matrices = factors(p, operands_.twiddles);
  std::vector<RealFactor> real;
  real.reserve(matrices.size());
  for (const Factor& each : matrices) real.push_back(real_factor(p, each));
  const auto dense =
      p.features <= kMostDense ? dense_product(matrices) : std::vector<std::vector<Complex>>{};
  HostThreads threads(request.threads);
  const std::vector<float> found = tensors.floats(p.pass == Pass::forward ? "Y" : "Xg", threads);
  const Roundings how = roundings();
  const kernels::Comparison empty({"Y", p.type(), p.type(), false});
  const std::size_t chunks = ceil_div(columns.size(), kWidth);
  std::vector<kernels::Comparison> pieces(chunks, empty);
  const auto compare_chunk = [&](std::size_t chunk) {
    const auto its = std::span(columns).subspan(chunk * kWidth,
                                                std::min(kWidth, columns.size() - chunk * kWidth));
    const Columns x = exact_columns(p, operands_.x, its);
    Columns y = apply(real.front(), x, p.type(), how);
    for (std::size_t i = 1; i < real.size(); ++i) y = apply(real[i], y, p.type(), how);
    if (!dense.empty() && chunk < kDenseChunks) y.value = multiply(dense, x, parts);
    for (std::size_t row = 0; row < std::size_t{p.features} * parts; ++row)
      for (std::size_t i = 0; i < its.size(); ++i) {
        const std::uint64_t at = (row / parts * p.n + its[i]) * parts + row % parts;
        pieces[chunk].add({row / parts, its[i], static_cast<double>(found[at]),
                           y.value[row * kWidth + i], kSecondOrder * y.error[row * kWidth + i]});
      }
  };
  threads.for_ranges(chunks, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) compare_chunk(i);
  });
  kernels::Comparison comparison = empty;
  for (const kernels::Comparison& piece : pieces) comparison.merge(piece);
  return comparison.result(all ? "full" : "sample");
}

/// Magnitudes of many products say little of their sum.
Roundings Butterfly::roundings() const {
  const bool seeded = options_.x.empty() && options_.gradient.empty() && options_.twiddles.empty();
  return options_.problem.blocked() && seeded ? Roundings::independent : Roundings::any;
}

CheckResult Butterfly::check(const TensorReader& tensors, const CheckRequest& request) const {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  return options_.problem.pass == Pass::grad_twiddles ? check_gradient(tensors, request)
                                                      : check_product(tensors, request);
}

}  // namespace tessera::butterfly
