
#include <doctest/doctest.h>

#include "kernels/gemm/gemm.h"
#include "tests/kernels/check/mutations.h"
#include "tests/kernels/check/numpy_file.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::gemm;
using tessera::test::constant;
using tessera::test::NumpyFile;
using tessera::test::random_element;
using tessera::test::scaled;
using tessera::test::small_machine;

namespace {

struct CheckedTypes {
  Type dtype, partials;
};
constexpr CheckedTypes kCheckedTypes[] = {
    {Type::f16, Type::f16}, {Type::f16, Type::f32}, {Type::f32, Type::f32}};

Options checked_options(Product product, CheckedTypes types) {
  return {.product = product, .dtype = types.dtype, .partials = types.partials};
}

/// The outcome of the full and the sampled check on a product of the given data.
template <class A, class B>
std::string verdict(Options options, const A& a, const B& b) {
  const Product& p = options.product;
  const NumpyFile a_file(p.m, p.k, a);
  const NumpyFile b_file(p.k, p.n, b);
  options.a = a_file.path();
  options.b = b_file.path();
  return test::verdict<Gemm>(options, small_machine(4));
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("right products of tiny, subnormal, cancelling and constant data pass") {
    for (const CheckedTypes& types : kCheckedTypes) {
      const Options options = checked_options({32, 32, 256}, types);
      CHECK(verdict(options, scaled(2e-3, 1), scaled(2e-3, 2)) == "passed");
      CHECK(verdict(options, scaled(6e-5, 1), scaled(1, 2)) == "passed");
      CHECK(verdict(options, scaled(1e-6, 1), scaled(1e-3, 2)) == "passed");
      if (types.dtype == Type::f32) {
        CHECK(verdict(options, scaled(1e-20, 1), scaled(1e-20, 2)) == "passed");
        CHECK(verdict(options, scaled(1e-23, 1), scaled(1e-22, 2)) == "passed");
      }
      const auto turning = [](std::uint64_t i, std::uint64_t k) {
        return (k < 128 ? 1 : -1) * (3 + random_element(1, i, k % 128));
      };
      const auto repeated = [](std::uint64_t k, std::uint64_t j) {
        return random_element(2, k % 128, j);
      };
      CHECK(verdict(options, turning, repeated) == "passed");
      CHECK(verdict(options, constant(0.1), constant(0.3)) == "passed");
      CHECK(verdict(options, constant(0), constant(0.3)) == "passed");
    }
    CHECK(verdict(checked_options({16, 16, 8000}, kCheckedTypes[0]), constant(0.1),
                  constant(0.1)) == "passed");
  }

  TEST_CASE("finite data whose product overflows is reported as overflow, with its value") {
    CHECK(verdict(checked_options({16, 16, 64}, kCheckedTypes[1]), constant(200), constant(200))
              .find(" = 2.56e+06 overflows: the largest f16 is 65504, found inf; 256 such elements "
                    "found") != std::string::npos);
    const auto turning = [](std::uint64_t k, std::uint64_t) { return k < 32 ? 200.0 : -200.0; };
    CHECK(verdict(checked_options({16, 16, 64}, kCheckedTypes[0]), constant(200), turning)
              .find(" = 0 overflows: the largest f16 is 65504, which intermediate sums exceed") !=
          std::string::npos);
    CHECK(verdict(checked_options({16, 16, 64}, kCheckedTypes[2]), constant(1e20), constant(1e20))
              .find(" = 6.4e+41 overflows: the largest f32 is 3.40282e+38, found inf") !=
          std::string::npos);
  }
}
