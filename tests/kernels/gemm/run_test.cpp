#include <vector>

#include <doctest/doctest.h>

#include "kernels/gemm/gemm.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::gemm;

namespace {

using test::small_machine;

Options options_of(Product product, Type dtype = Type::f16) {
  Options options;
  options.product = product;
  options.dtype = dtype;
  return options;
}

/// Runs a product with race checks in a process of its own; "passed" or what went wrong, then what
/// `view` says.
std::string run(const Options& options, const MachineConfig& machine,
                const std::function<std::string(const RunResult&, const Gemm&)>& view = {}) {
  return test::run_workload<Gemm>(options, machine, view);
}

Options pinned(Options options, std::uint32_t m, std::uint32_t n, std::uint32_t k,
               std::uint32_t cuts, Stationary stationary) {
  options.plan = Plan{m, n, k, cuts, stationary, options.partials.value_or(options.dtype)};
  return options;
}

Options natural(Options options) {
  options.layout = Layout::natural;
  return options;
}

std::string compute_error(const RunResult& result, const Gemm& gemm) {
  return fmt::format(" {}", static_cast<std::int64_t>(result.time.compute.count()) -
                                static_cast<std::int64_t>(gemm.prediction().compute_cycles));
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("products of odd shapes and all types are right under the plan chosen") {
    const std::vector<Product> products{{1, 1, 1},    {3, 5, 7},     {16, 16, 16}, {17, 33, 15},
                                        {100, 4, 64}, {2, 200, 130}, {61, 47, 129}};
    for (const Product& product : products) {
      for (const std::uint32_t tiles : {1U, 6U}) {
        CHECK(run(options_of(product), small_machine(tiles)) == "passed");
        CHECK(run(options_of(product, Type::f32), small_machine(tiles)) == "passed");
      }
      Options wide = options_of(product);
      wide.partials = Type::f32;
      CHECK(run(wide, small_machine(4)) == "passed");
    }
  }

  TEST_CASE("every way to cut a product is right in both orientations") {
    for (const Stationary stationary : {Stationary::a, Stationary::b}) {
      for (const Type partials : {Type::f16, Type::f32}) {
        for (const std::uint32_t cuts : {1U, 2U}) {
          Options options = options_of({50, 70, 100});
          options.partials = partials;
          const Options whole = pinned(options, 1, 1, 1, cuts, stationary);
          CHECK(run(whole, small_machine(2)) == "passed");
          CHECK(run(pinned(options, 2, 3, 1, cuts, stationary), small_machine(7)) == "passed");
          CHECK(run(pinned(options, 2, 1, 3, cuts, stationary), small_machine(8)) == "passed");
        }
      }
      CHECK(run(pinned(options_of({50, 70, 100}, Type::f32), 2, 2, 3, 2, stationary),
                small_machine(12)) == "passed");
    }
  }

  TEST_CASE("rows become blocks and blocks rows, whatever the shape, type and cut") {
    const std::vector<Product> products{{1, 1, 1}, {3, 5, 7}, {17, 33, 15}, {61, 47, 129}};
    for (const Product& product : products) {
      for (const std::uint32_t tiles : {1U, 6U}) {
        CHECK(run(natural(options_of(product)), small_machine(tiles)) == "passed");
        CHECK(run(natural(options_of(product, Type::f32)), small_machine(tiles)) == "passed");
      }
      Options wide = natural(options_of(product));
      wide.partials = Type::f32;
      CHECK(run(wide, small_machine(5)) == "passed");
    }
    for (const Type partials : {Type::f16, Type::f32}) {
      Options options = natural(options_of({50, 70, 100}));
      options.partials = partials;
      CHECK(run(pinned(options, 2, 3, 1, 2, Stationary::b), small_machine(7)) == "passed");
      CHECK(run(pinned(options, 2, 1, 3, 2, Stationary::b), small_machine(8)) == "passed");
    }
    const Options single = natural(options_of({50, 70, 100}, Type::f32));
    CHECK(run(pinned(single, 2, 2, 3, 2, Stationary::b), small_machine(13)) == "passed");
  }

  TEST_CASE("compute cycles of re-layout are those of the predicted code") {
    for (const std::uint32_t rows : {1U, 6U, 11U, 60U}) {
      for (const Type dtype : {Type::f16, Type::f32}) {
        const Options options =
            pinned(natural(options_of({rows, 48, 112}, dtype)), 1, 1, 1, 1, Stationary::b);
        CAPTURE(rows);
        CHECK(run(options, small_machine(1), compute_error) == "passed 0");
      }
      Options wide = natural(options_of({rows, 48, 112}));
      wide.partials = Type::f32;
      CAPTURE(rows);
      CHECK(run(pinned(wide, 1, 1, 1, 1, Stationary::b), small_machine(1), compute_error) ==
            "passed 0");
    }
  }

  TEST_CASE("compute cycles are those of the predicted code, machine constants applied") {
    for (const std::uint32_t rows : {1U, 6U, 11U, 16U, 18U, 23U, 60U}) {
      for (const Type dtype : {Type::f16, Type::f32}) {
        const Options options =
            pinned(options_of({rows, 48, 112}, dtype), 1, 1, 1, 1, Stationary::b);
        CAPTURE(rows);
        CHECK(run(options, small_machine(1), compute_error) == "passed 0");
      }
    }
  }
}
