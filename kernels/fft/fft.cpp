#include "kernels/fft/fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "kernels/check/comparison.h"
#include "kernels/planned.h"
#include "sim/data/element.h"

namespace tessera::fft {

namespace {

/// Points on the fullest tile over the mean of all the machine's tiles.
double fullest_over_mean(const Digits& digits, std::uint32_t tiles) {
  std::uint64_t held = 0;
  const std::uint32_t first = digits.first_phase();
  for (std::uint32_t phase = first; phase < digits.phases(); ++phase) held += digits.held(0, phase);
  const double mean = static_cast<double>(digits.problem().total()) / tiles;
  return static_cast<double>(held) / (digits.phases() - first) / mean;
}

/// Operations of the split-radix transform, the fewest among the algorithms in common use.
std::uint64_t flops_of(std::uint64_t points) {
  const auto bits = static_cast<std::uint64_t>(std::countr_zero(points));
  return points == 1 ? 0 : 4 * points * bits + 8 - 6 * points;
}

/// Operations of the transforms along both dimensions of all arrays.
std::uint64_t flops_of(const Problem& problem) {
  return problem.all_rows() * flops_of(problem.points) +
         std::uint64_t{problem.batch} * problem.points * flops_of(problem.rows);
}

}  // namespace

void describe(config::Fields& fields, Options& options) {
  Problem& problem = options.problem;
  const auto power = [&](const char* key, std::uint32_t value) {
    fields.require(std::has_single_bit(value), key, "found {}, allowed a power of two", value);
  };
  fields.field({"points", "points along the last dimension, a power of two"}, problem.points,
               {2, 1U << 24});
  power("points", problem.points);
  fields.field(
      {"rows", "points along the first of two dimensions, a power of two; 1: one dimension only"},
      problem.rows, {1, 1U << 23});
  power("rows", problem.rows);
  fields.field({"batch",
                "number of separate transforms, 1 or an even number; their arrays are stacked by "
                "rows in x and X"},
               problem.batch, {1, 1U << 23});
  fields.require(problem.batch == 1 || problem.batch % 2 == 0, "batch",
                 "found {}, allowed 1 or an even number", problem.batch);
  fields.require(problem.total() <= kMostPoints, problem.batch > 1 ? "batch" : "rows",
                 "found {} x {} points, allowed {} in all", problem.all_rows(), problem.points,
                 kMostPoints);
  fields.field({"direction",
                "sign of the exponent: forward: exp(-2 pi i ...); inverse: exp(+2 pi i ...), not "
                "divided by the number of points"},
               problem.direction, kDirections);
  fields.field({"layout",
                "layout of points and results: in order, in equal contiguous parts over all tiles, "
                "or as the plan has them"},
               problem.layout, kernels::kLayouts);
  fields.file({"x",
               "points from a .npy file of shape [rows, points] (complex64) or [rows, 2 points] "
               "(real part, imaginary part); rounded to f32 (workload.rounded in the report); "
               "seeded values if not given"},
              options.x);
  fields.field({"seed", "seed of the values"}, options.seed);
  kernels::describe_plan(fields, options.plan);
}

Subject::Subject(const Options& given, const MachineConfig& on)
    : options(given),
      machine(on),
      x(problem().all_rows(), std::uint64_t{2} * problem().points, kType,
        {given.x, "x", given.seed, 0, true}) {}

Complex Subject::point(std::uint64_t number) const {
  const std::uint64_t row = number / problem().points;
  const std::uint64_t column = number % problem().points * 2;
  return {x.element(row, column), x.element(row, column + 1)};
}

std::string text(const Subject& subject) {
  const Problem& p = subject.problem();
  const std::string each = p.rows == 1 ? fmt::format("{} points f32", p.points)
                                       : fmt::format("{}x{} points f32", p.rows, p.points);
  return p.batch == 1 ? each : fmt::format("{} times {}", p.batch, each);
}

WorkloadSummary summary(const Subject& subject, const Plan& plan) {
  const Digits digits(subject.problem(), plan);
  return {.peak_type = "f32",
          .facts = {{"tiles", digits.tiles()},
                    {"fullest_over_mean", fullest_over_mean(digits, subject.machine.tiles)}},
          .rounded = {{"x", subject.x.rounded()}},
          .useful_flops = flops_of(subject.problem())};
}

/// Each of log2 N levels rounds: independent roundings add up to about u sqrt(log2 N) of the
/// result's root mean square; 12 times that is allowed. Roundings of a file's points may be
/// correlated: then log2 N levels of at most 7 u, all on one point (Higham, Accuracy and Stability
/// of Numerical Algorithms, theorem 24.2).
CheckResult checked(const Subject& subject, const Plan& /*plan*/, const TensorReader& tensors,
                    HostThreads& threads) {
  const Problem& problem = subject.problem();
  const bool seeded = subject.options.x.empty();
  const std::uint64_t total = problem.total();
  std::vector<Complex> x(total);
  for (std::uint64_t i = 0; i < total; ++i) x[i] = subject.point(i);
  const std::vector<Complex> expected = reference(problem, std::move(x));
  // Seeded arrays share one bound; given ones may differ in magnitude, so each has its own.
  const std::uint64_t alike = seeded ? total : problem.each();
  const double levels = problem.bits();
  const auto allowed_from = [&](std::uint64_t first) {
    double squares = 0;
    for (std::uint64_t i = first; i < first + alike; ++i) squares += std::norm(expected[i]);
    constexpr double kSmallest = 0x1p-126;
    return kSmallest + data::unit_roundoff(kType) *
                           (seeded ? 12 * std::sqrt(levels * squares / static_cast<double>(total))
                                   : 7 * levels * std::sqrt(squares));
  };
  double allowed = 0;
  const std::vector<float> found = tensors.floats("X", threads);
  kernels::Comparison comparison({"X", kType, kType});
  for (std::uint64_t i = 0; i < total; ++i) {
    if (i % alike == 0) allowed = allowed_from(i);
    const std::uint64_t row = i / problem.points;
    const std::uint64_t column = i % problem.points;
    comparison.add({row, column, static_cast<double>(found[2 * i]), expected[i].real(), allowed});
    comparison.add(
        {row, column, static_cast<double>(found[2 * i + 1]), expected[i].imag(), allowed});
  }
  // A level's roundings spread to all points; the transform keeps them random.
  if (seeded) comparison.judge_mean(0.5 / problem.bits());
  return comparison.result("full");
}

std::vector<Complex> roots(std::uint64_t n, double sign) {
  std::vector<Complex> all(n / 2);
  for (std::uint64_t i = 0; i < all.size(); ++i)
    all[i] = std::polar(
        1.0, sign * 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  return all;
}

void transform(Complex* x, std::uint64_t n, std::uint64_t step, const std::vector<Complex>& root) {
  for (std::uint64_t i = 1, j = 0; i < n; ++i) {
    std::uint64_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j |= bit;
    if (i < j) std::swap(x[i * step], x[j * step]);
  }
  for (std::uint64_t half = 1; half < n; half *= 2) {
    for (std::uint64_t begin = 0; begin < n; begin += 2 * half) {
      for (std::uint64_t i = 0; i < half; ++i) {
        Complex& a = x[(begin + i) * step];
        Complex& b = x[(begin + i + half) * step];
        const Complex turned = b * root[i * (n / (2 * half))];
        b = a - turned;
        a += turned;
      }
    }
  }
}

std::vector<Complex> reference(const Problem& problem, std::vector<Complex> x) {
  const std::uint64_t columns = problem.points;
  const std::vector<Complex> along_row = roots(columns, problem.sign());
  const std::vector<Complex> along_column = roots(problem.rows, problem.sign());
  for (std::uint64_t row = 0; row < problem.all_rows(); ++row)
    transform(&x[row * columns], columns, 1, along_row);
  for (std::uint64_t array = 0; array < problem.total(); array += problem.each())
    for (std::uint64_t column = 0; column < columns; ++column)
      transform(&x[array + column], problem.rows, columns, along_column);
  return x;
}

}  // namespace tessera::fft
