#include "kernels/sparse/check.h"

#include <doctest/doctest.h>

#include "kernels/sparse/operand/weights.h"
#include "sim/data/element.h"
#include "sim/data/random.h"
#include "tests/kernels/check/numpy_file.h"

using namespace tessera;
using namespace tessera::sparse;
using kernels::rounding_of;
using program::Type;

namespace {

constexpr std::uint32_t kColumns = 19;

BlockMatrix weights(std::uint32_t block, Type type) {
  return make_weights({.m = 70, .k = 90, .block = block, .density = 0.4, .dtype = type});
}

/// Rounded once.
double to_type(Type type, double value) {
  return type == Type::f16 ? kernels::to_half(value)
                           : static_cast<double>(static_cast<float>(value));
}

/// Y[m, 19] as a machine that rounds every sum to `partials` finds it; all elements are off by so
/// many roundings of the result, element (row, column) by `offset`.
struct Machine {
  const BlockMatrix& w;
  const std::vector<float>& x;
  Type partials, result;
  double bias = 0;
  std::uint32_t wrong_row = ~0U, wrong_column = 0;
  double offset = 0;

  [[nodiscard]] std::vector<float> y() const {
    std::vector<float> all;
    for (std::uint32_t row = 0; row < w.rows; ++row) {
      const std::uint32_t stripe = row / w.block;
      for (std::uint32_t j = 0; j < kColumns; ++j) {
        double sum = 0;
        for (std::uint64_t e = w.row_begin[stripe]; e < w.row_begin[stripe + 1]; ++e)
          for (std::uint32_t i = 0; i < w.block; ++i) {
            const auto weight = static_cast<double>(w.values(e)[row % w.block * w.block + i]);
            const std::uint64_t k = std::uint64_t{w.column[e]} * w.block + i;
            sum = to_type(partials, sum + weight * static_cast<double>(x[k * kColumns + j]));
          }
        if (bias != 0) sum *= 1 + 2 * bias * data::unit_roundoff(result);
        const bool wrong = row == wrong_row && j == wrong_column;
        all.push_back(static_cast<float>(data::rounded(result, sum) + (wrong ? offset : 0)));
      }
    }
    return all;
  }
};

/// A seeded X[90, 19].
std::vector<float> operand(Type type) {
  HostThreads threads(1);
  return kernels::rows_of(data::DenseOperand(90, kColumns, type, 1, 2), threads);
}

/// Row after row, each sum rounded to `partials` after every product.
ExactRow in_order(const BlockMatrix& w, std::size_t n, Type partials, Type result) {
  return
      [&w, n, partials, result](std::uint32_t row, std::span<const float> x, std::span<float> y) {
        const kernels::OrderedSums sums(partials, 1);
        std::fill(y.begin(), y.end(), 0.0F);
        for (std::uint64_t e = w.row_begin[row / w.block]; e < w.row_begin[row / w.block + 1]; ++e)
          add_block(sums, w, e, row % w.block, x, n, 0, y);
        kernels::OrderedSums::round(result, y);
      };
}

/// What full and sampled checks say of a dense W[24, depth] times X[depth, 19], each sum rounded to
/// `partials`, and each result off by `bias` roundings.
template <class W, class X>
std::string verdict(const std::pair<Type, Type>& types, std::uint32_t depth, const W& w_of,
                    const X& x_of, double bias = 0) {
  const Type type = types.first;
  const Type partials = types.second;
  constexpr std::uint32_t kRows = 24;
  BlockMatrix w{kRows, depth, 1, {0}, {}, {}, std::uint64_t{kRows} * depth};
  std::vector<float> x;
  for (std::uint32_t i = 0; i < kRows; ++i) {
    for (std::uint32_t k = 0; k < depth; ++k)
      w.append_elements(k, [&](auto, auto) { return data::rounded(type, w_of(i, k)); });
    w.end_row();
  }
  for (std::uint32_t k = 0; k < depth; ++k) {
    for (std::uint32_t j = 0; j < kColumns; ++j)
      x.push_back(static_cast<float>(data::rounded(type, x_of(k, j))));
  }
  const std::vector<float> y = Machine{w, x, partials, type, bias}.y();
  for (const CheckMode mode : {CheckMode::full, CheckMode::sample}) {
    const CheckResult check = check_product(w, x, kColumns, y, rounding_of(type, partials), {mode},
                                            in_order(w, kColumns, partials, type));
    if (!check.passed) return check.problem;
  }
  return "passed";
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("right products of tiny, subnormal, cancelling and constant data pass") {
    using test::constant;
    using test::scaled;
    const auto turning = [](std::uint32_t, std::uint32_t k) { return k < 64 ? 3.1 : -3.1; };
    const auto repeated = [](std::uint32_t k, std::uint32_t j) {
      return static_cast<double>(data::random_signed(3, 2, (k % 64) * 100 + j, 20));
    };
    for (const auto& types :
         {std::pair{Type::f16, Type::f16}, {Type::f16, Type::f32}, {Type::f32, Type::f32}}) {
      CHECK(verdict(types, 128, scaled(2e-3, 1), scaled(2e-3, 2)) == "passed");
      CHECK(verdict(types, 128, scaled(6e-5, 1), scaled(1, 2)) == "passed");
      CHECK(verdict(types, 128, scaled(1e-6, 1), scaled(1e-3, 2)) == "passed");
      CHECK(verdict(types, 128, turning, repeated) == "passed");
      CHECK(verdict(types, 128, constant(0.1), constant(0.3)) == "passed");
      CHECK(verdict(types, 128, constant(0), constant(0.3)) == "passed");
      CHECK(verdict(types, 16000, constant(0.1), constant(0.1)) == "passed");
      if (types.first == Type::f16) continue;
      CHECK(verdict(types, 128, scaled(1e-20, 1), scaled(1e-20, 2)) == "passed");
      CHECK(verdict(types, 128, scaled(1e-23, 1), scaled(1e-22, 2)) == "passed");
    }
  }

  TEST_CASE("finite data whose product overflows is reported as overflow, with its value") {
    using test::constant;
    CHECK(verdict({Type::f16, Type::f32}, 64, constant(200), constant(200))
              .starts_with("Y[0, 0] = 2.56e+06 overflows: f16 ends at 65504, found inf"));
    const auto turning = [](std::uint32_t, std::uint32_t k) { return k < 32 ? 200.0 : -200.0; };
    CHECK(verdict({Type::f16, Type::f16}, 64, turning, constant(200))
              .find(" = 0 overflows: f16 ends at 65504, which sums on the way go beyond") !=
          std::string::npos);
    CHECK(verdict({Type::f32, Type::f32}, 64, constant(1e20), constant(1e20))
              .find(" = 6.4e+41 overflows: f32 ends at 3.40282e+38, found inf") !=
          std::string::npos);
  }

  TEST_CASE("products with the stated roundings pass, in full and sampled") {
    for (const std::uint32_t block : {1U, 4U, 16U}) {
      for (const auto& [result, partials] :
           {std::pair{Type::f16, Type::f16}, {Type::f16, Type::f32}, {Type::f32, Type::f32}}) {
        const BlockMatrix w = weights(block, result);
        const std::vector<float> x = operand(result);
        const std::vector<float> y = Machine{w, x, partials, result}.y();
        for (const CheckMode mode : {CheckMode::automatic, CheckMode::full, CheckMode::sample}) {
          const CheckResult check = check_product(w, x, kColumns, y, rounding_of(result, partials),
                                                  {mode}, in_order(w, kColumns, partials, result));
          CHECK(check.passed);
          CHECK(check.max_error <= check.bound);
          CHECK(check.method == (mode == CheckMode::sample ? "sample" : "full"));
          CHECK(check.max_error > (mode == CheckMode::sample ? 0 : 0.005));
        }
      }
    }
  }

  TEST_CASE("roundings of equal rows and columns are no errors, and errors in all rows are found") {
    for (const Type partials : {Type::f16, Type::f32}) {
      const Type type = partials;
      const auto ones = [](std::uint32_t, std::uint32_t) { return 1.0; };
      const auto equal_columns = [](std::uint32_t k, std::uint32_t) { return 0.1 + 1e-3 * k; };
      const auto random = [](std::uint32_t k, std::uint32_t) {
        return static_cast<double>(data::random_signed(3, 2, k, 20));
      };
      CHECK(verdict({type, partials}, 128, ones, random) == "passed");
      CHECK(verdict({type, partials}, 128, equal_columns, ones) == "passed");
      CHECK(verdict({type, partials}, 128, ones, random, 1) != "passed");
    }
  }

  TEST_CASE("one result that is a little off fails in full and one that is far off fails sampled") {
    const BlockMatrix w = weights(4, Type::f32);
    const std::vector<float> x = operand(Type::f32);
    const ExactRow exact = in_order(w, kColumns, Type::f32, Type::f32);
    const auto passes = [&](double offset, CheckMode mode) {
      const Machine machine{w, x, Type::f32, Type::f32, 0, 41, 7, offset};
      return check_product(w, x, kColumns, machine.y(), rounding_of(Type::f32, Type::f32), {mode},
                           exact)
          .passed;
    };
    CHECK(passes(0, CheckMode::full));
    CHECK_FALSE(passes(1e-6, CheckMode::full));
    CHECK_FALSE(passes(0.01, CheckMode::sample));
    CHECK_FALSE(passes(std::nan(""), CheckMode::full));
    CHECK_FALSE(passes(std::nan(""), CheckMode::sample));
  }

  TEST_CASE("sums in f16 do not pass as sums in f32") {
    const BlockMatrix w = weights(1, Type::f16);
    const std::vector<float> x = operand(Type::f16);
    const std::vector<float> y = Machine{w, x, Type::f16, Type::f16}.y();
    const ExactRow exact = in_order(w, kColumns, Type::f32, Type::f16);
    CHECK_FALSE(check_product(w, x, kColumns, y, rounding_of(Type::f16, Type::f32),
                              {CheckMode::full}, exact)
                    .passed);
  }

  TEST_CASE("an empty row is exactly zero") {
    const BlockMatrix w{2, 3, 1, {0, 0, 1}, {1}, {0.5F}, 1};
    const std::vector<float> x{0.25F, -0.75F, 0.5F};
    std::vector<float> y{0, 0.5F * x[1]};
    const auto passes = [&] {
      return check_product(w, x, 1, y, rounding_of(Type::f32, Type::f32), {CheckMode::full},
                           in_order(w, 1, Type::f32, Type::f32))
          .passed;
    };
    CHECK(passes());
    y[0] = 1e-20F;
    CHECK_FALSE(passes());
  }
}
