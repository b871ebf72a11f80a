#include <cmath>

#include <doctest/doctest.h>

#include "tests/cli/saved.h"

using namespace tessera;

TEST_SUITE("cli") {
  TEST_CASE("saved Y is the stencil of saved x, each weight where its name says") {
    const test::CommandFolder folder;
    test::run_saving(folder, test::tensors_config(
                                 R"("kernel": "stencil", "rows": 7, "columns": 5, "channels": 2,
                                    "weights": {"nw": 1, "n": 2, "ne": 3, "w": 4, "m": 5, "e": 6,
                                                "sw": 7, "s": 8, "se": 9})"));
    const std::vector<double> x = test::saved(folder, "x").values;
    const data::NumpyArray y = test::saved(folder, "Y");
    CHECK(y.shape == std::vector<std::uint64_t>{7, 5, 2});
    double worst = 0;
    for (int row = 0; row < 7; ++row)
      for (int column = 0; column < 5; ++column)
        for (int channel = 0; channel < 2; ++channel) {
          double sum = 0, weight = 0;
          for (int down = -1; down <= 1; ++down)
            for (int across = -1; across <= 1; ++across) {
              weight += 1;
              const int r = row + down, c = column + across;
              const int from = (r * 5 + c) * 2 + channel;
              if (r >= 0 && r < 7 && c >= 0 && c < 5)
                sum += weight * x[static_cast<std::size_t>(from)];
            }
          const int at = (row * 5 + column) * 2 + channel;
          worst = std::max(worst, std::abs(sum - y.values[static_cast<std::size_t>(at)]));
        }
    CHECK(worst < 1e-4);
  }
}
