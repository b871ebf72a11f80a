#include "kernels/butterfly/reference.h"

#include <algorithm>
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

/// The same of blocks, which are added up in f32 and rounded after every block of the matrix unit;
/// or after every product.
Factor block_factor(const Problem& problem, const Twiddles& twiddles, std::uint32_t stage) {
  const std::uint32_t b = problem.block;
  const std::uint32_t blocks = problem.features / b;
  const std::uint32_t stride =
      problem.order == Order::increasing ? 1U << stage : blocks >> (stage + 1);
  const bool narrow = problem.dtype == Number::f16 && problem.shape.on_unit();
  const std::uint32_t sums = narrow ? problem.padded() / problem.shape.depth + 1 : problem.padded();
  Factor matrix{problem.features, {}, 2.0 * sums};
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

Bounded exact_column(const Problem& problem, const data::DenseOperand& operand,
                     std::uint64_t column) {
  const std::uint32_t parts = problem.is_complex() ? 2 : 1;
  Bounded x{std::vector<Complex>(problem.features), std::vector<double>(problem.features)};
  for (std::uint32_t i = 0; i < problem.features; ++i)
    x.value[i] = {operand.element(i, column * parts),
                  parts == 2 ? operand.element(i, column * parts + 1) : 0};
  return x;
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

Bounded apply(const Factor& factor, const Bounded& x, program::Type type, Roundings roundings) {
  constexpr double kDeviations = 8;
  const bool independent = roundings == Roundings::independent;
  const double roundoff = data::unit_roundoff(type);
  const double half_smallest = type == program::Type::f16 ? 0x1p-25 : 0x1p-150;
  Bounded y{std::vector<Complex>(factor.rows), std::vector<double>(factor.rows)};
  for (const Element& one : factor.elements) {
    const double size = std::abs(one.value.real()) + std::abs(one.value.imag());
    const Complex& input = x.value[one.column];
    const double input_size = std::abs(input.real()) + std::abs(input.imag());
    y.value[one.row] += one.value * input;
    const double before = size * x.error[one.column];
    const double rounded = roundoff * size * input_size;
    y.error[one.row] += independent ? before * before + kDeviations * kDeviations *
                                                            factor.roundings * rounded * rounded
                                    : before + factor.roundings * rounded;
  }
  const double products = static_cast<double>(factor.elements.size()) / factor.rows;
  for (std::uint32_t i = 0; i < factor.rows; ++i)
    y.error[i] = (independent ? std::sqrt(y.error[i]) : y.error[i]) + 4 * products * half_smallest +
                 roundoff * (std::abs(y.value[i].real()) + std::abs(y.value[i].imag()));
  return y;
}

}  // namespace tessera::butterfly
