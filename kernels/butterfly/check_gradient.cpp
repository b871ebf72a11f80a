#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/butterfly/butterfly.h"
#include "kernels/butterfly/reference.h"
#include "kernels/check/check.h"

namespace tessera::butterfly {

namespace {

constexpr double kRoundoff = 0x1p-24;  // unit roundoff of the sums: f32 for every type

/// The gradient of one element of a factor: the sum over columns of the gradient of its row's
/// output times the input of its column.
struct Sum {
  std::complex<double> value;
  double error = 0;  ///< error from the operands; squared for independent roundings
  double size = 0;   ///< sum of the products' magnitudes

  void operator+=(const Sum& other) {
    value += other.value;
    error += other.error;
    size += other.size;
  }
};
/// [factor][element].
using GradientSums = std::vector<std::vector<Sum>>;

/// A factor, its adjoint, and the row and column of each of its elements.
struct Stage {
  struct Element {
    std::uint32_t row, column;
  };
  std::vector<Element> elements;
  Factor forward, back;
};

using Lanes = std::array<double, Columns::kWidth>;

double sum_of(Lanes lanes) {
  for (std::size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

/// Adds gradient rows of one feature times input rows of another, summed over columns, to `sum`.
void add_products(const Columns& gradient, std::size_t row, const Columns& x, std::size_t column,
                  std::uint32_t parts, Roundings how, Sum& sum) {
  constexpr std::size_t kWidth = Columns::kWidth;
  Lanes real{}, imaginary{}, error{}, size{};
  for (std::uint32_t g_part = 0; g_part < parts; ++g_part)
    for (std::uint32_t x_part = 0; x_part < parts; ++x_part) {
      const double* const g = &gradient.value[(row * parts + g_part) * kWidth];
      const double* const g_error = &gradient.error[(row * parts + g_part) * kWidth];
      const double* const in = &x.value[(column * parts + x_part) * kWidth];
      const double* const in_error = &x.error[(column * parts + x_part) * kWidth];
      Lanes& into = g_part == x_part ? real : imaginary;
      const double sign = g_part < x_part ? -1 : 1;  // of g times the conjugate of x
      for (std::size_t i = 0; i < kWidth; ++i) {
        into[i] += sign * g[i] * in[i];
        const double off =
            std::abs(g[i]) * in_error[i] + g_error[i] * (std::abs(in[i]) + in_error[i]);
        error[i] += how == Roundings::any ? off : off * off;
        size[i] += std::abs(g[i]) * std::abs(in[i]);
      }
    }
  sum += {{sum_of(real), sum_of(imaginary)}, sum_of(error), sum_of(size)};
}

GradientSums no_sums(const std::vector<Stage>& factors) {
  GradientSums sums;
  for (const Stage& each : factors) sums.emplace_back(each.elements.size());
  return sums;
}

/// Buffers for a chunk of columns: X before each factor, the gradient on its way back.
struct Room {
  std::vector<Columns> x;
  Columns gradient, next;
};

void add_columns(const Problem& problem, const Operands& operands,
                 const std::vector<Stage>& factors, std::span<const std::uint32_t> columns,
                 Roundings how, Room& room, GradientSums& sums) {
  const std::uint32_t parts = problem.is_complex() ? 2 : 1;
  std::vector<Columns>& x = room.x;
  x.resize(factors.size());
  exact_columns(problem, operands.x, columns, x.front());
  for (std::size_t stage = 0; stage + 1 < factors.size(); ++stage)
    apply(factors[stage].forward, x[stage], problem.type(), how, x[stage + 1]);
  exact_columns(problem, operands.gradient, columns, room.gradient);
  for (std::size_t stage = factors.size(); stage-- > 0;) {
    for (std::size_t i = 0; i < sums[stage].size(); ++i) {
      const Stage::Element& element = factors[stage].elements[i];
      add_products(room.gradient, element.row, x[stage], element.column, parts, how,
                   sums[stage][i]);
    }
    if (stage == 0) continue;
    apply(factors[stage].back, room.gradient, problem.type(), how, room.next);
    std::swap(room.gradient, room.next);
  }
}

/// Sums over all columns. Parts of columns are added in a fixed order, for any number of threads;
/// one part per thread is in flight, since a part's sums take as much memory as all twiddles.
GradientSums sums_of_all(const Problem& problem, const Operands& operands,
                         const std::vector<Stage>& factors, Roundings how, HostThreads& threads) {
  constexpr std::size_t kWidth = Columns::kWidth;
  constexpr std::size_t kPart = 16 * kWidth;
  std::vector<std::uint32_t> all(problem.n);
  std::iota(all.begin(), all.end(), 0U);
  GradientSums sums = no_sums(factors);
  std::vector<Room> rooms(threads.count());
  for (std::size_t next = 0; next < all.size(); next += rooms.size() * kPart) {
    const std::span columns = std::span(all).subspan(next);
    std::vector<GradientSums> parts(std::min(rooms.size(), ceil_div(columns.size(), kPart)),
                                    no_sums(factors));
    threads.for_ranges(parts.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t last = std::min((i + 1) * kPart, columns.size());
        for (std::size_t j = i * kPart; j < last; j += kWidth)
          add_columns(problem, operands, factors, columns.subspan(j, std::min(kWidth, last - j)),
                      how, rooms[i], parts[i]);
      }
    });
    for (const GradientSums& part : parts)
      for (std::size_t stage = 0; stage < sums.size(); ++stage)
        for (std::size_t i = 0; i < sums[stage].size(); ++i) sums[stage][i] += part[stage][i];
  }
  return sums;
}

/// Errors of the operands, plus roundings of `columns` partial sums, each at most the sum of
/// magnitudes.
double allowed(const Sum& sum, std::uint64_t columns, Roundings how) {
  const double roundings = 8 * std::sqrt(static_cast<double>(columns) + 8);
  return 1.01 * (how == Roundings::any ? sum.error : std::sqrt(sum.error)) +
         kRoundoff * roundings * sum.size + 0x1p-140;
}

/// An expected number of the result and its error bound.
struct Expected {
  double value;
  double allowed;
};

/// Elements of a pair in the order of files: quarter by quarter, each row by row.
std::vector<Expected> elements(const Sum* all, const Problem& problem, Roundings how) {
  const std::uint32_t b = problem.block;
  std::vector<Expected> numbers;
  for (std::uint32_t at = 0; at < 4 * b * b; ++at) {
    const std::uint32_t quarter = at / (b * b);
    const std::uint32_t row = quarter / 2 * b + at % (b * b) / b;
    const Sum& sum = all[row * 2 * b + quarter % 2 * b + at % b];
    const double off = allowed(sum, problem.n, how);
    numbers.push_back({sum.value.real(), off});
    if (problem.is_complex()) numbers.push_back({sum.value.imag(), off});
  }
  return numbers;
}

/// Gradient of the rotation (cos, -sin; sin, cos) by its angle.
std::vector<Expected> angle(const Sum* four, std::uint64_t columns, double cosine, double sine) {
  constexpr std::array<int, 4> kSineParts{-1, 0, 0, -1};
  constexpr std::array<int, 4> kCosineParts{0, -1, 1, 0};
  Expected sum{0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const double factor = kSineParts[i] * sine + kCosineParts[i] * cosine;
    sum.value += factor * four[i].value.real();
    sum.allowed += std::abs(factor) *
                   (allowed(four[i], columns, Roundings::any) + 4 * kRoundoff * four[i].size);
  }
  return {sum};
}

}  // namespace

/// Compares with sums in double. A factor's elements are ordered by pair: four each, with blocks
/// all of the pair's.
CheckResult check_gradient(const Subject& subject, const Problem& p, const TensorReader& tensors,
                           const CheckRequest& request) {
  const Operands& operands = subject.operands;
  std::vector<Stage> all;
  for (std::uint32_t stage = 0; stage < p.stages(); ++stage) {
    all.push_back({{},
                   factor(p, operands.twiddles, stage, false),
                   factor(p, operands.twiddles, stage, true)});
    for_elements(p, stage, [&](auto, auto, auto, std::uint32_t row, std::uint32_t column) {
      all.back().elements.push_back({row, column});
    });
  }
  const Roundings how = subject.roundings();
  HostThreads threads(request.threads);
  const GradientSums sums = sums_of_all(p, operands, all, how, threads);
  const auto numbers_of = [&](std::uint32_t stage, std::uint32_t pair) {
    const Sum* const its = &sums[stage][std::size_t{4} * p.block * p.block * pair];
    if (p.parameters == Parameters::rotation)
      return angle(its, p.n, operands.twiddles.number(stage, pair, 0),
                   operands.twiddles.number(stage, pair, 1));
    return elements(its, p, how);
  };
  const std::vector<float> found = tensors.floats("twiddles_g", threads);
  const std::size_t numbers = std::size_t{p.pairs()} * p.twiddle_parameters();  // per factor
  kernels::Checked checked{{"gradient", program::Type::f32, program::Type::f32}};
  checked.lines = p.stages();
  checked.compare = [&](std::span<const kernels::Strip> stages, kernels::Comparison& into) {
    for (const kernels::Strip& stage : stages) {
      std::size_t at = 0;
      for (std::uint32_t pair = 0; pair < p.pairs(); ++pair)
        for (const Expected& one : numbers_of(static_cast<std::uint32_t>(stage.line), pair)) {
          into.add({stage.line, at, static_cast<double>(found[stage.line * numbers + at]),
                    one.value, one.allowed});
          ++at;
        }
    }
  };
  // A rounding in one factor affects all rows that depend on it, and all four elements of a
  // twiddle.
  checked.independent = subject.seeded() ? 0.25 / p.stages() : 0;
  return kernels::check(checked, {CheckMode::full}, threads);
}

}  // namespace tessera::butterfly
