#include "kernels/butterfly/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "kernels/check/register_tile.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

Complex element(const Problem& problem, const Twiddles& twiddles, std::uint32_t stage,
                std::uint32_t pair, std::uint32_t row, std::uint32_t column) {
  if (problem.parameters == Parameters::rotation) {
    const double cosine = twiddles.number(stage, pair, 0);
    const double sine = twiddles.number(stage, pair, 1);
    if (row == column) return cosine;
    return row == 0 ? -sine : sine;
  }
  const std::uint32_t at = 2 * row + column;
  if (!problem.is_complex()) return twiddles.number(stage, pair, at);
  return {twiddles.number(stage, pair, 2 * at), twiddles.number(stage, pair, 2 * at + 1)};
}

/// Roundings of a sum of products with blocks, in those of the type: in f32, rounded after every
/// block of the matrix unit or after every product; f32 sums of f16 are rounded once, at the end.
double block_roundings(const Problem& problem) {
  const double all = 4.0 * problem.padded();
  if (problem.dtype != Number::f16) return all / 2;
  // That one stands beside the others: a third of its square is its variance at most.
  if (problem.partials == program::Type::f32)
    return 1.0 / 3 +
           all * data::unit_roundoff(program::Type::f32) / data::unit_roundoff(program::Type::f16);
  if (!problem.shape.on_unit()) return all / 2;
  const std::uint32_t blocks = problem.padded() / problem.shape.depth;
  return 2.0 * (blocks + 1);
}

Factor block_factor(const Problem& problem, const Twiddles& twiddles, std::uint32_t stage) {
  const std::uint32_t b = problem.block;
  const std::uint32_t blocks = problem.features / b;
  const std::uint32_t stride =
      problem.order == Order::increasing ? 1U << stage : blocks >> (stage + 1);
  Factor matrix{problem.features, {}, block_roundings(problem)};
  for (std::uint32_t pair = 0; pair < blocks / 2; ++pair) {
    const std::uint32_t first = (pair / stride * 2 * stride + pair % stride) * b;
    const auto feature = [&](std::uint32_t at) { return first + at / b * stride * b + at % b; };
    for (std::uint32_t i = 0; i < 2 * b; ++i)
      for (std::uint32_t j = 0; j < 2 * b; ++j)
        matrix.elements.push_back({feature(i), feature(j), twiddles.element(stage, pair, i, j)});
  }
  return matrix;
}

/// Factor `stage`: blocks of 2 x `stride` features, element (i, j) of a twiddle on the diagonals of
/// the block's quarters.
Factor factor(const Problem& problem, const Twiddles& twiddles, std::uint32_t stage) {
  if (problem.blocked()) return block_factor(problem, twiddles, stage);
  Factor matrix{problem.features, {}};
  const std::uint32_t stride =
      problem.order == Order::increasing ? 1U << stage : problem.features >> (stage + 1);
  for (std::uint32_t pair = 0; pair < problem.features / 2; ++pair) {
    const std::uint32_t first = pair / stride * 2 * stride + pair % stride;
    for (std::uint32_t i = 0; i < 2; ++i)
      for (std::uint32_t j = 0; j < 2; ++j)
        matrix.elements.push_back({first + i * stride, first + j * stride,
                                   element(problem, twiddles, stage, pair, i, j)});
  }
  return matrix;
}

}  // namespace

std::vector<Factor> factors(const Problem& problem, const Twiddles& twiddles) {
  std::vector<Factor> all;
  for (std::uint32_t stage = 0; stage < problem.stages(); ++stage)
    all.push_back(factor(problem, twiddles, stage));
  if (problem.pass != Pass::grad_input) return all;
  std::reverse(all.begin(), all.end());
  for (Factor& each : all) each = adjoint(std::move(each));
  return all;
}

Factor adjoint(Factor factor) {
  for (Element& one : factor.elements) {
    std::swap(one.row, one.column);
    one.value = std::conj(one.value);
  }
  return factor;
}

std::vector<std::vector<Complex>> dense_product(const std::vector<Factor>& factors) {
  const std::uint32_t n = factors.front().rows;
  std::vector<std::vector<Complex>> product(n, std::vector<Complex>(n));
  for (std::uint32_t i = 0; i < n; ++i) product[i][i] = 1;
  for (const Factor& each : factors) {
    std::vector<std::vector<Complex>> next(n, std::vector<Complex>(n));
    for (const Element& one : each.elements)
      for (std::uint32_t j = 0; j < n; ++j) next[one.row][j] += one.value * product[one.column][j];
    product = std::move(next);
  }
  return product;
}

namespace {

/// Calls take(row, column, value) for the real numbers that an element is.
template <class Take>
void for_real(const Element& one, std::uint32_t parts, const Take& take) {
  const double real = one.value.real();
  const double imaginary = one.value.imag();
  for (std::uint32_t part = 0; part < parts; ++part)
    take(one.row * parts + part, one.column * parts + part, real);
  if (imaginary == 0) return;
  take(one.row * parts, one.column * parts + 1, -imaginary);
  take(one.row * parts + 1, one.column * parts, imaginary);
}

}  // namespace

RealFactor real_factor(const Problem& problem, const Factor& factor) {
  const std::uint32_t parts = problem.is_complex() ? 2 : 1;
  // What is added up of a complex product is rounded up to three times more.
  RealFactor matrix{std::vector<std::uint32_t>(std::size_t{factor.rows} * parts + 1),
                    {},
                    {},
                    factor.roundings * (problem.complex_code() ? 3 : 1)};
  for (const Element& one : factor.elements)
    for_real(one, parts,
             [&](std::uint32_t row, std::uint32_t, double) { ++matrix.begin[row + 1]; });
  std::partial_sum(matrix.begin.begin(), matrix.begin.end(), matrix.begin.begin());
  matrix.column.resize(matrix.begin.back());
  matrix.value.resize(matrix.begin.back());
  std::vector<std::uint32_t> next(matrix.begin.begin(), matrix.begin.end() - 1);
  for (const Element& one : factor.elements)
    for_real(one, parts, [&](std::uint32_t row, std::uint32_t column, double value) {
      const std::uint32_t at = next[row]++;
      matrix.column[at] = column;
      matrix.value[at] = value;
    });
  return matrix;
}

void exact_columns(const Problem& problem, const data::DenseOperand& operand,
                   std::span<const std::uint32_t> columns, Columns& into) {
  constexpr std::size_t kWidth = Columns::kWidth;
  const std::uint64_t parts = problem.is_complex() ? 2 : 1;
  into.value.assign(problem.features * parts * kWidth, 0);
  into.error.assign(problem.features * parts * kWidth, 0);
  std::array<float, 2 * kWidth> numbers;
  for (std::size_t i = 0; i < columns.size();) {
    std::size_t end = i + 1;  // of columns side by side
    while (end < columns.size() && columns[end] == columns[end - 1] + 1) ++end;
    const auto some = std::span(numbers).first((end - i) * parts);
    for (std::uint64_t row = 0; row < problem.features; ++row) {
      operand.read_elements((row * problem.n + columns[i]) * parts, some);
      for (std::size_t k = 0; k < some.size(); ++k)
        into.value[(row * parts + k % parts) * kWidth + i + k / parts] =
            static_cast<double>(some[k]);
    }
    i = end;
  }
}

namespace {

/// What one row of a factor makes of columns.
struct RowOf {
  using L = kernels::Lanes<double>;
  static constexpr std::size_t kRegisters = Columns::kWidth / L::kCount;
  std::array<L::Type, kRegisters> sum{}, off{};

  /// What a weight of 1 takes of an input is its error and the rounding of its product, `rounding`
  /// of its value; of independent roundings the squares.
  template <Roundings how>
  void add(double weight, double rounding, const double* value, const double* error) {
    const double size = how == Roundings::any ? std::abs(weight) : weight * weight;
    for (std::size_t r = 0; r < kRegisters; ++r) {
      const L::Type in = L::load(value + r * L::kCount);
      const L::Type before = L::load(error + r * L::kCount);
      sum[r] = L::multiply_add(weight, in, sum[r]);
      const L::Type rounded = how == Roundings::any ? (in < 0 ? -in : in) : in * in;
      off[r] = L::multiply_add(
          size,
          L::multiply_add(rounding, rounded, how == Roundings::any ? before : before * before),
          off[r]);
    }
  }
};

template <Roundings how>
void apply_all(const RealFactor& factor, const Columns& x, program::Type type, Columns& y) {
  constexpr std::size_t kWidth = Columns::kWidth;
  constexpr double kDeviations = 8;
  const double roundoff = data::unit_roundoff(type);
  const double rounding = factor.roundings * roundoff *
                          (how == Roundings::any ? 1 : kDeviations * kDeviations * roundoff);
  const double half_smallest = type == program::Type::f16 ? 0x1p-25 : 0x1p-150;
  const std::size_t rows = factor.begin.size() - 1;
  y.value.resize(rows * kWidth);
  y.error.resize(rows * kWidth);
  const double least =
      4 * half_smallest * static_cast<double>(factor.value.size()) / static_cast<double>(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    RowOf its;
    for (std::uint32_t e = factor.begin[row]; e < factor.begin[row + 1]; ++e) {
      const std::size_t at = factor.column[e] * kWidth;
      its.add<how>(factor.value[e], rounding, &x.value[at], &x.error[at]);
    }
    std::array<double, kWidth> off;
    std::memcpy(&y.value[row * kWidth], its.sum.data(), sizeof its.sum);
    std::memcpy(off.data(), its.off.data(), sizeof its.off);
    for (std::size_t i = 0; i < kWidth; ++i) {
      y.error[row * kWidth + i] = (how == Roundings::any ? off[i] : std::sqrt(off[i])) + least +
                                  roundoff * std::abs(y.value[row * kWidth + i]);
    }
  }
}

}  // namespace

void apply(const RealFactor& factor, const Columns& x, program::Type type, Roundings roundings,
           Columns& y) {
  roundings == Roundings::any ? apply_all<Roundings::any>(factor, x, type, y)
                              : apply_all<Roundings::independent>(factor, x, type, y);
}

std::vector<double> multiply(const std::vector<std::vector<Complex>>& dense, const Columns& x,
                             std::uint32_t parts) {
  constexpr std::size_t kWidth = Columns::kWidth;
  std::vector<double> y(x.value.size());
  for (std::size_t i = 0; i < dense.size(); ++i)
    for (std::size_t k = 0; k < dense.size(); ++k)
      for (std::size_t c = 0; c < kWidth; ++c) {
        const std::size_t in = k * parts * kWidth + c;
        const std::size_t out = i * parts * kWidth + c;
        const Complex product =
            dense[i][k] * Complex(x.value[in], parts == 2 ? x.value[in + kWidth] : 0);
        y[out] += product.real();
        if (parts == 2) y[out + kWidth] += product.imag();
      }
  return y;
}

}  // namespace tessera::butterfly
