#include <string>

#include <doctest/doctest.h>

#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "tests/kernels/check/mutations.h"
#include "tests/kernels/check/numpy_file.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::spmm_tilewise;
using program::Type;

namespace {

/// What checks of both kinds say of a product of given data.
template <class A, class W>
std::string verdict(Type dtype, Type partials, const A& a, const W& w) {
  Options options{.m = 32};
  options.weights.k = 256;
  options.weights.n = 48;
  options.weights.dtype = dtype;
  options.weights.pruning.granularity = 16;
  options.partials = partials;
  const test::NumpyFile a_file(options.m, options.weights.k, a);
  const test::NumpyFile w_file(options.weights.k, options.weights.n, w);
  options.a = a_file.path();
  options.weights.matrix = w_file.path();
  return test::verdict<SpmmTilewise>(options, test::small_machine(4));
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("right products of tiny, subnormal, cancelling and constant data pass") {
    using test::constant;
    using test::scaled;
    const auto turning = [](std::uint64_t, std::uint64_t k) { return k < 128 ? 3.1 : -3.1; };
    const auto repeated = [](std::uint64_t k, std::uint64_t j) {
      return test::random_element(2, k % 128, j);
    };
    for (const auto& [dtype, partials] :
         {std::pair{Type::f16, Type::f16}, {Type::f16, Type::f32}, {Type::f32, Type::f32}}) {
      CHECK(verdict(dtype, partials, scaled(2e-3, 1), scaled(2e-3, 2)) == "passed");
      CHECK(verdict(dtype, partials, scaled(1e-6, 1), scaled(1e-3, 2)) == "passed");
      CHECK(verdict(dtype, partials, turning, repeated) == "passed");
      CHECK(verdict(dtype, partials, constant(0.1), constant(0.3)) == "passed");
    }
    CHECK(verdict(Type::f16, Type::f32, constant(200), constant(200))
              .find("overflows: f16 ends at 65504, found inf") != std::string::npos);
  }
}
