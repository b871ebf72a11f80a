#include <string>

#include <doctest/doctest.h>

#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "tests/kernels/check/mutations.h"
#include "tests/kernels/check/numpy_file.h"
#include "tests/kernels/right.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::spmm_tilewise;
using program::Type;

namespace {

using test::small_machine;

Options odd(double sparsity) {
  Options options;
  options.m = 53;
  options.weights.k = 71;
  options.weights.n = 77;
  options.weights.pruning.sparsity = sparsity;
  options.weights.pruning.granularity = 24;
  return options;
}

void check(const Options& options, std::uint32_t tiles) {
  CHECK(test::run_workload<SpmmTilewise>(options, small_machine(tiles, 128)) == "passed");
}

/// Every type of inputs and partials.
void check_types(Options options, std::uint32_t tiles) {
  check(options, tiles);
  options.partials = Type::f32;
  check(options, tiles);
  options.weights.dtype = Type::f32;
  check(options, tiles);
}

/// What checks of both kinds say of a product of given data.
template <class A, class W>
std::string verdict(Type dtype, Type partials, const A& a, const W& w) {
  Options options;
  options.m = 32;
  options.weights.k = 256;
  options.weights.n = 48;
  options.weights.dtype = dtype;
  options.weights.pruning.granularity = 16;
  options.partials = partials;
  const test::NumpyFile a_file(options.m, options.weights.k, a);
  const test::NumpyFile w_file(options.weights.k, options.weights.n, w);
  options.a = a_file.path();
  options.weights.matrix = w_file.path();
  return test::verdict<SpmmTilewise>(options, small_machine(4));
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("points of the list `right` give the right results") {
    test::check_right("spmm_tilewise");
  }

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

  TEST_CASE("tiles that keep nothing and tiles that keep all give the right sums") {
    Options options = odd(0.75);
    options.weights.spread = 30;
    options.weights.pruning.granularity = 10;
    const auto workload = test::planned<SpmmTilewise>(options, small_machine(12, 128));
    CHECK(workload.pattern().tiles.front().rows.empty());
    CHECK(workload.pattern().tiles.back().rows.size() > 60);
    check_types(options, 12);
  }

  TEST_CASE("single weights in kept, in pruned and in all columns give the right sums") {
    for (const double overlay : {0.001, 0.05, 0.4, 1.0}) {
      for (const double sparsity : {0.5, 0.95, 1.0}) {
        CAPTURE(overlay);
        CAPTURE(sparsity);
        Options options = odd(sparsity);
        options.weights.pruning.method = Method::tew;
        options.weights.pruning.overlay = overlay;
        for (const std::uint32_t tiles : {2U, 12U, 40U}) check_types(options, tiles);
      }
    }
  }

  TEST_CASE("an unbalanced pattern is reported, and dealt so that tiles are nearly balanced") {
    Options options = odd(0.75);
    options.m = 1600;
    options.weights.k = 256;
    options.weights.n = 96;
    options.weights.spread = 0.5;
    const auto workload = test::planned<SpmmTilewise>(options, small_machine(48, 128));
    CHECK(kept_rows(workload.pattern()).ratio() > 2);
    CHECK(workload.chosen_plan().cycles.ratio() < 1.5);
    CHECK(test::run_workload<SpmmTilewise>(options, small_machine(48, 128)) == "passed");
  }
}
