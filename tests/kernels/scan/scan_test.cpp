#include "kernels/scan/scan.h"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/cli/saved.h"
#include "tests/kernels/right.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::scan;
using test::small_machine;

TEST_SUITE("run") {
  TEST_CASE("points of the list `right` are right, in the predicted cycles where they say so") {
    test::check_right("scan");
  }

  TEST_CASE("the searched plan is no slower than any group") {
    MeasuredCosts costs(small_machine(16));
    Options options;
    options.elements = 5000;
    const std::uint64_t searched = Scan(options, costs).prediction().cycles;
    for (std::uint32_t group = 1; group <= 16; ++group) {
      options.plan = Plan{group};
      CHECK(searched <= Scan(options, costs).prediction().cycles);
    }
  }

  TEST_CASE("a larger machine takes no longer") {
    for (const std::uint64_t elements : {1U, 50U, 3000U}) {
      std::uint64_t least = UINT64_MAX;
      for (const std::uint32_t tiles : {1U, 2U, 3U, 5U, 8U, 13U, 34U, 64U}) {
        MeasuredCosts costs(small_machine(tiles));
        Options options;
        options.elements = elements;
        const std::uint64_t cycles = Scan(options, costs).prediction().cycles;
        CAPTURE(elements);
        CAPTURE(tiles);
        CHECK(cycles <= least + least / 100);
        least = std::min(least, cycles);
      }
    }
  }

  TEST_CASE("a group of more tiles than have elements is refused") {
    MeasuredCosts costs(small_machine(6));
    Options options;
    options.elements = 4;
    options.plan = Plan{5};
    CHECK_THROWS_WITH_AS(Scan(options, costs),
                         "workload.plan.group: found 5, allowed 1 to 4 (tiles that have elements)",
                         UserError);
    options.plan = Plan{1, 5};
    CHECK_THROWS_WITH_AS(
        Scan(options, costs),
        "workload.plan.tiles: found 5, allowed 1 to 4 (tiles that can have elements)", UserError);
  }
}

TEST_SUITE("cli") {
  TEST_CASE("saved Y is the running sum of saved x") {
    for (const char* exclusive : {"false", "true"}) {
      const test::CommandFolder folder;
      test::run_saving(folder, test::tensors_config(fmt::format(
                                   R"("kernel": "scan", "elements": 100, "dtype": "f32",
                                      "exclusive": {})",
                                   exclusive)));
      const std::vector<double> x = test::saved(folder, "x").values;
      const std::vector<double> y = test::saved(folder, "Y").values;
      REQUIRE(y.size() == 100);
      double sum = 0, worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double before = sum;
        sum += x[i];
        worst = std::max(worst, std::abs(y[i] - (exclusive == std::string("true") ? before : sum)));
      }
      CHECK(worst < 1e-5);
    }
  }
}
