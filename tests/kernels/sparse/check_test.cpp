#include "kernels/sparse/check.h"

#include <doctest/doctest.h>

#include "kernels/sparse/operand/weights.h"
#include "sim/data/element.h"

using namespace tessera;
using namespace tessera::sparse;
using program::Type;

namespace {

constexpr std::uint32_t kColumns = 19;

BlockMatrix weights(std::uint32_t block, Type type) {
  WeightOptions options;
  options.m = 70;
  options.k = 90;
  options.block = block;
  options.density = 0.4;
  options.dtype = type;
  return make_weights(options);
}

/// Y as a machine that rounds every sum to `partials` finds it; element (row, column) is off by
/// `offset`.
struct Machine {
  const BlockMatrix& w;
  const data::DenseOperand& x;
  Type partials, result;
  std::uint32_t wrong_row = ~0U, wrong_column = 0;
  double offset = 0;

  void operator()(std::uint32_t row, std::span<double> into) const {
    for (std::uint32_t j = 0; j < into.size(); ++j) {
      double sum = 0;
      for (std::uint64_t e = w.row_begin[row / w.block]; e < w.row_begin[row / w.block + 1]; ++e) {
        for (std::uint32_t i = 0; i < w.block; ++i) {
          const auto value = static_cast<double>(w.values(e)[row % w.block * w.block + i]);
          sum = data::rounded(partials, sum + value * x.element(w.column[e] * w.block + i, j));
        }
      }
      into[j] = data::rounded(result, sum);
      if (row == wrong_row && j == wrong_column) into[j] += offset;
    }
  }
};

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("products with the stated roundings pass, in full and sampled") {
    for (const std::uint32_t block : {1U, 4U, 16U}) {
      for (const auto& [result, partials] :
           {std::pair{Type::f16, Type::f16}, {Type::f16, Type::f32}, {Type::f32, Type::f32}}) {
        const BlockMatrix w = weights(block, result);
        const data::DenseOperand x(90, kColumns, result, 1, 2);
        const Machine y{w, x, partials, result};
        for (const CheckMode mode : {CheckMode::automatic, CheckMode::full, CheckMode::sample}) {
          const CheckResult check = check_product(w, x, y, rounding_of(result, partials), {mode});
          CHECK(check.passed);
          CHECK(check.max_error <= check.bound);
          CHECK(check.method == (mode == CheckMode::sample ? "sample" : "full"));
          CHECK(check.max_error > (mode == CheckMode::sample ? 0 : 0.005));
        }
      }
    }
  }

  TEST_CASE("one result that is a little off fails in full and one that is far off fails sampled") {
    const BlockMatrix w = weights(4, Type::f32);
    const data::DenseOperand x(90, kColumns, Type::f32, 1, 2);
    const Rounding rounding = rounding_of(Type::f32, Type::f32);
    Machine y{w, x, Type::f32, Type::f32, 41, 7, 1e-4};
    CHECK_FALSE(check_product(w, x, y, rounding, {CheckMode::full}).passed);
    y.offset = 0.01;
    CHECK_FALSE(check_product(w, x, y, rounding, {CheckMode::sample}).passed);
    y.offset = std::nan("");
    CHECK_FALSE(check_product(w, x, y, rounding, {CheckMode::full}).passed);
    CHECK_FALSE(check_product(w, x, y, rounding, {CheckMode::sample}).passed);
  }

  TEST_CASE("sums in f16 do not pass as sums in f32") {
    const BlockMatrix w = weights(1, Type::f16);
    const data::DenseOperand x(90, kColumns, Type::f16, 1, 2);
    const Machine y{w, x, Type::f16, Type::f16};
    CHECK_FALSE(
        check_product(w, x, y, rounding_of(Type::f16, Type::f32), {CheckMode::full}).passed);
  }

  TEST_CASE("an empty row is exactly zero") {
    const BlockMatrix w{2, 3, 1, {0, 0, 1}, {1}, {0.5F}, 1};
    const data::DenseOperand x(3, 1, Type::f32, 1, 2);
    double found = 0;
    const ResultRow y = [&](std::uint32_t row, std::span<double> into) {
      into[0] = row == 0 ? found : 0.5 * x.element(1, 0);
    };
    CHECK(check_product(w, x, y, rounding_of(Type::f32, Type::f32), {CheckMode::full}).passed);
    found = 1e-20;
    CHECK_FALSE(
        check_product(w, x, y, rounding_of(Type::f32, Type::f32), {CheckMode::full}).passed);
  }
}
