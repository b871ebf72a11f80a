#include <algorithm>
#include <cmath>

#include "kernels/butterfly/butterfly.h"
#include "kernels/butterfly/reference.h"
#include "kernels/check/comparison.h"
#include "sim/base/parallel.h"
#include "sim/data/element.h"
#include "sim/data/random.h"

namespace tessera::butterfly {

namespace {

/// Errors of errors: what the bound leaves out is of second order.
constexpr double kSecondOrder = 1.01;
constexpr std::uint32_t kSampledColumns = 32;
constexpr std::uint32_t kMostDense = 128;  ///< features up to which the dense matrix is made
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
  for (std::uint32_t part = 0; part < geometry.plan.split_n; ++part) {
    const Interval units = geometry.units(part * geometry.plan.split_features);
    const auto first = static_cast<std::uint32_t>(units.begin * geometry.problem.unit_columns());
    const auto end = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(units.end * geometry.problem.unit_columns(), n));
    columns.push_back(first + static_cast<std::uint32_t>(
                                  data::random_below(seed, kSampleStream, part, end - first)));
  }
  for (std::uint32_t i = 0; i < kSampledColumns; ++i)
    columns.push_back(
        static_cast<std::uint32_t>(data::random_below(seed, kSampleStream + 1, i, n)));
  return columns;
}

}  // namespace

std::vector<float> Butterfly::found_rows(const MemoryReader& memory) const {
  const Problem& p = options_.problem;
  const std::uint32_t parts = p.is_complex() ? 2 : 1;
  const Rows rows =
      schedule(p, geometry_.plan.split_features, geometry_.plan.fused, p.pass == Pass::grad_input)
          .back()
          .rows;
  std::vector<float> found(std::uint64_t{p.features} * p.n * parts);
  std::vector<std::byte> bytes;
  for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
    bytes.resize(geometry_.bytes(t));
    memory.read({program::BufferId(t)}, bytes);
    geometry_.for_numbers(t, [&](std::uint32_t row, std::uint32_t inner, std::uint64_t column,
                                 std::uint32_t part, std::size_t at) {
      if (column >= p.n || inner >= p.block) return;
      const std::uint64_t feature =
          std::uint64_t{rows.feature(geometry_.feature_part(t), row)} * p.block + inner;
      found[(feature * p.n + column) * parts + part] =
          static_cast<float>(data::load_element(p.type(), bytes, at));
    });
  }
  return found;
}

/// Column by column: the factors applied to X in double with a running bound, and, where it is
/// small, the dense matrix times X.
CheckResult Butterfly::check_product(const MemoryReader& memory,
                                     const CheckRequest& request) const {
  const Problem& p = options_.problem;
  const std::uint32_t parts = p.is_complex() ? 2 : 1;
  const bool all = compares_all(request.mode, useful_flops());
  const std::vector<std::uint32_t> columns = columns_to_compare(geometry_, all, request.seed);
  const std::vector<Factor> matrices = factors(p, operands_.twiddles);
  const auto dense =
      p.features <= kMostDense ? dense_product(matrices) : std::vector<std::vector<Complex>>{};
  const std::vector<float> found = found_rows(memory);
  // Magnitudes of many products say little of their sum.
  const Roundings roundings = p.blocked() && options_.x.empty() && options_.twiddles.empty()
                                  ? Roundings::independent
                                  : Roundings::any;
  const kernels::Comparison empty({"Y", p.type(), p.type(), false});
  std::vector<kernels::Comparison> pieces(columns.size(), empty);
  const auto compare_column = [&](std::uint32_t column, kernels::Comparison& comparison) {
    Bounded y = exact_column(p, operands_.x, column);
    const std::vector<Complex> x = y.value;
    for (const Factor& each : matrices) y = apply(each, y, p.type(), roundings);
    for (std::uint32_t i = 0; i < p.features; ++i) {
      Complex expected = y.value[i];
      if (!dense.empty()) {
        expected = 0;
        for (std::uint32_t k = 0; k < p.features; ++k) expected += dense[i][k] * x[k];
      }
      const std::uint64_t at = (std::uint64_t{i} * p.n + column) * parts;
      const double allowed = kSecondOrder * y.error[i];
      comparison.add({i, column, static_cast<double>(found[at]), expected.real(), allowed});
      if (parts == 2)
        comparison.add({i, column, static_cast<double>(found[at + 1]), expected.imag(), allowed});
    }
  };
  HostThreads threads(request.threads);
  threads.for_ranges(columns.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) compare_column(columns[i], pieces[i]);
  });
  kernels::Comparison comparison = empty;
  for (const kernels::Comparison& piece : pieces) comparison.merge(piece);
  return comparison.result(all ? "full" : "sample");
}

CheckResult Butterfly::check(const MemoryReader& memory, const CheckRequest& request) const {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  return options_.problem.pass == Pass::grad_twiddles ? check_gradient(memory, request)
                                                      : check_product(memory, request);
}

}  // namespace tessera::butterfly
