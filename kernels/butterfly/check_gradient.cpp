#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/butterfly/butterfly.h"
#include "kernels/butterfly/gradient.h"
#include "kernels/butterfly/reference.h"
#include "kernels/check/comparison.h"
#include "sim/base/parallel.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

constexpr double kRoundoff = 0x1p-24;  // of the sums, f32 for every type
constexpr std::size_t kGrain = 16;     // columns that are added up together

/// The gradient of one element of a factor: the sum over columns of what comes back to its row
/// times what went in at its column.
struct Sum {
  Complex value;
  double error = 0;  ///< of what is multiplied
  double size = 0;   ///< of the products' magnitudes
};
/// By factor, by element of the factor.
using Sums = std::vector<std::vector<Sum>>;

double magnitude(const Complex& value) { return std::abs(value.real()) + std::abs(value.imag()); }

Sums no_sums(const std::vector<Factor>& factors) {
  Sums sums;
  for (const Factor& each : factors) sums.emplace_back(each.elements.size());
  return sums;
}

void add_column(const Problem& problem, const Operands& operands,
                const std::vector<Factor>& factors, std::uint64_t column, Sums& sums) {
  std::vector<Bounded> x{exact_column(problem, operands.x, column)};
  for (std::size_t stage = 0; stage + 1 < factors.size(); ++stage)
    x.push_back(apply(factors[stage], x.back(), problem.type()));
  Bounded gradient = exact_column(problem, operands.gradient, column);
  for (std::size_t stage = factors.size(); stage-- > 0;) {
    for (std::size_t i = 0; i < sums[stage].size(); ++i) {
      const Element& element = factors[stage].elements[i];
      const Complex& g = gradient.value[element.row];
      const Complex& in = x[stage].value[element.column];
      const double g_error = gradient.error[element.row];
      Sum& sum = sums[stage][i];
      sum.value += g * std::conj(in);
      sum.error += magnitude(g) * x[stage].error[element.column] +
                   g_error * (magnitude(in) + x[stage].error[element.column]);
      sum.size += magnitude(g) * magnitude(in);
    }
    if (stage > 0) gradient = apply(adjoint(factors[stage]), gradient, problem.type());
  }
}

/// Errors of what is multiplied, and roundings of as many partial sums as there are columns, none
/// of which is larger than all magnitudes together.
double allowed(const Sum& sum, std::uint64_t columns) {
  const double roundings = 8 * std::sqrt(static_cast<double>(columns) + 8);
  return 1.01 * sum.error + kRoundoff * roundings * sum.size + 0x1p-140;
}

/// A number of the result and how far it may be off.
struct Expected {
  double value;
  double allowed;
};

std::vector<Expected> elements(const Sum* four, std::uint64_t columns, bool is_complex) {
  std::vector<Expected> numbers;
  for (int i = 0; i < 4; ++i) {
    numbers.push_back({four[i].value.real(), allowed(four[i], columns)});
    if (is_complex) numbers.push_back({four[i].value.imag(), allowed(four[i], columns)});
  }
  return numbers;
}

/// Of the rotation (cos, -sin; sin, cos) by its angle.
std::vector<Expected> angle(const Sum* four, std::uint64_t columns, double cosine, double sine) {
  constexpr std::array<int, 4> kSineParts{-1, 0, 0, -1};
  constexpr std::array<int, 4> kCosineParts{0, -1, 1, 0};
  Expected sum{0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const double factor = kSineParts[i] * sine + kCosineParts[i] * cosine;
    sum.value += factor * four[i].value.real();
    sum.allowed += std::abs(factor) * (allowed(four[i], columns) + 4 * kRoundoff * four[i].size);
  }
  return {sum};
}

}  // namespace

/// All sums in double; elements of a factor stand in `factors` four by four, pair after pair.
CheckResult Butterfly::check_gradient(const MemoryReader& memory,
                                      const CheckRequest& request) const {
  const Problem& p = options_.problem;
  const std::vector<Factor> all = factors(p, operands_.twiddles);
  Sums sums = no_sums(all);
  HostThreads threads(request.threads);
  const std::size_t chunks = ceil_div<std::size_t>(p.n, kGrain);
  // As many at a time as there are threads: sums of a chunk are as large as all twiddles.
  for (std::size_t chunk = 0; chunk < chunks; chunk += request.threads) {
    std::vector<Sums> parts(std::min<std::size_t>(request.threads, chunks - chunk), no_sums(all));
    threads.for_ranges(parts.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        for (std::size_t j = (chunk + i) * kGrain;
             j < std::min<std::size_t>((chunk + i + 1) * kGrain, p.n); ++j)
          add_column(p, operands_, all, j, parts[i]);
    });
    for (const Sums& part : parts)
      for (std::size_t stage = 0; stage < sums.size(); ++stage)
        for (std::size_t i = 0; i < sums[stage].size(); ++i) {
          sums[stage][i].value += part[stage][i].value;
          sums[stage][i].error += part[stage][i].error;
          sums[stage][i].size += part[stage][i].size;
        }
  }
  kernels::Comparison comparison({"gradient", program::Type::f32, program::Type::f32, false});
  const GradientLayout layout(geometry_);
  const auto numbers_of = [&](std::uint32_t stage, std::uint32_t pair, const Sum* four) {
    if (p.parameters == Parameters::rotation)
      return angle(four, p.n, operands_.twiddles.number(stage, pair, 0),
                   operands_.twiddles.number(stage, pair, 1));
    return elements(four, p.n, p.is_complex());
  };
  const std::uint32_t numbers = p.parameters == Parameters::rotation ? 1 : p.is_complex() ? 8 : 4;
  std::vector<std::byte> bytes;
  for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
    bytes.resize(layout.share(t).size() / layout.pair_bytes() * numbers * sizeof(float));
    if (bytes.empty()) continue;
    memory.read({program::BufferId(t)}, bytes);
    std::size_t at = 0;
    layout.for_pairs(t, [&](std::uint32_t stage, std::uint32_t pair) {
      for (const Expected& one : numbers_of(stage, pair, &sums[stage][std::size_t{4} * pair])) {
        comparison.add({stage, std::uint64_t{pair} * numbers + at % numbers,
                        data::load_element(program::Type::f32, bytes, at), one.value, one.allowed});
        ++at;
      }
    });
  }
  return comparison.result("full");
}

}  // namespace tessera::butterfly
