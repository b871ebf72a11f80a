#include <cmath>

#include <doctest/doctest.h>

#include "tests/cli/saved.h"

using namespace tessera;

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
