#include "kernels/butterfly/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

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

RealFactor real_factor(const Problem& problem, const Factor& factor) {
  const std::size_t parts = problem.is_complex() ? 2 : 1;
  std::vector<std::vector<std::pair<std::size_t, double>>> rows(factor.rows * parts);
  for (const Element& one : factor.elements) {
    const double real = one.value.real();
    const double imaginary = one.value.imag();
    for (std::uint32_t part = 0; part < parts; ++part)
      rows[one.row * parts + part].push_back({one.column * parts + part, real});
    if (imaginary == 0) continue;
    rows[one.row * parts].push_back({one.column * parts + 1, -imaginary});
    rows[one.row * parts + 1].push_back({one.column * parts, imaginary});
  }
  // What is added up of a complex product is rounded up to three times more.
  RealFactor matrix{{0}, {}, {}, factor.roundings * (problem.complex_code() ? 3 : 1)};
  for (const auto& row : rows) {
    for (const auto& [column, value] : row) {
      matrix.column.push_back(static_cast<std::uint32_t>(column));
      matrix.value.push_back(value);
    }
    matrix.begin.push_back(static_cast<std::uint32_t>(matrix.column.size()));
  }
  return matrix;
}

Columns exact_columns(const Problem& problem, const data::DenseOperand& operand,
                      std::span<const std::uint32_t> columns) {
  const std::uint32_t parts = problem.is_complex() ? 2 : 1;
  const std::size_t rows = std::size_t{problem.features} * parts;
  Columns x{std::vector<double>(rows * Columns::kWidth),
            std::vector<double>(rows * Columns::kWidth)};
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < columns.size(); ++i)
      x.value[row * Columns::kWidth + i] =
          operand.element(row / parts, std::uint64_t{columns[i]} * parts + row % parts);
  return x;
}

namespace {

/// What a weight of 1 takes of an input's error, and of the rounding of its product; of independent
/// ones the square.
std::vector<double> passed_on(const Columns& x, double roundings, double roundoff, Roundings how) {
  constexpr double kDeviations = 8;
  std::vector<double> passed(x.value.size());
  if (how == Roundings::any) {
    for (std::size_t i = 0; i < passed.size(); ++i)
      passed[i] = x.error[i] + roundings * roundoff * std::abs(x.value[i]);
  } else {
    const double square = kDeviations * kDeviations * roundings * roundoff * roundoff;
    for (std::size_t i = 0; i < passed.size(); ++i)
      passed[i] = x.error[i] * x.error[i] + square * x.value[i] * x.value[i];
  }
  return passed;
}

}  // namespace

Columns apply(const RealFactor& factor, const Columns& x, program::Type type, Roundings roundings) {
  constexpr std::size_t kWidth = Columns::kWidth;
  const bool any = roundings == Roundings::any;
  const double roundoff = data::unit_roundoff(type);
  const double half_smallest = type == program::Type::f16 ? 0x1p-25 : 0x1p-150;
  const std::size_t rows = factor.begin.size() - 1;
  const std::vector<double> passed = passed_on(x, factor.roundings, roundoff, roundings);
  Columns y{std::vector<double>(rows * kWidth), std::vector<double>(rows * kWidth)};
  const double least =
      4 * half_smallest * static_cast<double>(factor.value.size()) / static_cast<double>(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    std::array<double, kWidth> sum{}, off{};
    for (std::uint32_t e = factor.begin[row]; e < factor.begin[row + 1]; ++e) {
      const double weight = factor.value[e];
      const double size = any ? std::abs(weight) : weight * weight;
      const double* const in = &x.value[factor.column[e] * kWidth];
      const double* const before = &passed[factor.column[e] * kWidth];
      for (std::size_t i = 0; i < kWidth; ++i) {
        sum[i] += weight * in[i];
        off[i] += size * before[i];
      }
    }
    for (std::size_t i = 0; i < kWidth; ++i) {
      y.value[row * kWidth + i] = sum[i];
      y.error[row * kWidth + i] =
          (any ? off[i] : std::sqrt(off[i])) + least + roundoff * std::abs(sum[i]);
    }
  }
  return y;
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
