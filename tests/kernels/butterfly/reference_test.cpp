#include "kernels/butterfly/reference.h"

#include <complex>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/butterfly/twiddles.h"

namespace {

using namespace tessera;
using namespace tessera::butterfly;
using Complex = std::complex<double>;

/// All factors applied to a vector, each as its twiddles are defined.
std::vector<Complex> multiplied(const Problem& problem, const Twiddles& twiddles,
                                std::vector<Complex> x) {
  const std::uint32_t b = problem.block;
  for (std::uint32_t stage = 0; stage < problem.stages(); ++stage) {
    const std::uint32_t bit = 1U << problem.bit(stage);
    std::vector<Complex> y(x.size());
    for (std::uint32_t feature = 0; feature < problem.features; ++feature) {
      const std::uint32_t number = feature / b;
      const std::uint32_t row = ((number & bit) != 0 ? b : 0) + feature % b;
      for (std::uint32_t column = 0; column < 2 * b; ++column) {
        const std::uint32_t from = (number & ~bit) | (column < b ? 0 : bit);
        y[feature] += twiddles.element(stage, problem.pair(stage, number), row, column) *
                      x[from * b + column % b];
      }
    }
    x = std::move(y);
  }
  return x;
}

Problem problem_of(Number dtype, Parameters parameters, Order order, std::uint32_t block = 1) {
  Problem problem;
  problem.features = 32;
  problem.n = 5;
  problem.dtype = dtype;
  problem.parameters = parameters;
  problem.order = order;
  problem.block = block;
  problem.shape.depth = problem.shape.columns = block;
  return problem;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("factors of the reference multiply as twiddles are defined") {
    for (const Problem& problem :
         {problem_of(Number::f32, Parameters::free, Order::increasing),
          problem_of(Number::f32, Parameters::free, Order::decreasing, 4),
          problem_of(Number::f16, Parameters::rotation, Order::decreasing),
          problem_of(Number::complex_f32, Parameters::free, Order::decreasing),
          problem_of(Number::complex_f32, Parameters::rotation, Order::increasing)}) {
      const std::uint32_t parts = problem.is_complex() ? 2 : 1;
      const Twiddles twiddles(problem, 3);
      const data::DenseOperand x(problem.features, std::uint64_t{problem.n} * parts, problem.type(),
                                 4, 1);
      std::vector<std::uint32_t> columns(problem.n);
      std::iota(columns.begin(), columns.end(), 0U);
      Columns found, next;
      exact_columns(problem, x, columns, found);
      for (const Factor& each : factors(problem, twiddles)) {
        apply(each, found, problem.type(), Roundings::any, next);
        std::swap(found, next);
      }
      for (std::uint32_t column = 0; column < problem.n; ++column) {
        std::vector<Complex> values;
        for (std::uint32_t row = 0; row < problem.features; ++row)
          values.emplace_back(x.element(row, std::uint64_t{column} * parts),
                              parts == 2 ? x.element(row, std::uint64_t{column} * parts + 1) : 0);
        values = multiplied(problem, twiddles, values);
        for (std::uint32_t row = 0; row < problem.features; ++row)
          for (std::uint32_t part = 0; part < parts; ++part)
            CHECK(found.value[(std::size_t{row} * parts + part) * Columns::kWidth + column] ==
                  doctest::Approx(part == 0 ? values[row].real() : values[row].imag())
                      .epsilon(1e-12));
      }
    }
  }
}
