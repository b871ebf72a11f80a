#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/saved.h"

using namespace tessera;
using test::CommandFolder;
using test::run_saving;
using test::tensors_config;

/// Inputs and results in files: what is saved is what was computed, whatever lies where.
TEST_SUITE("cli") {
  TEST_CASE("a Fourier transform's X is that of x, in one dimension and two") {
    const CommandFolder folder;
    for (const std::string sizes : {R"("points": 64)", R"("points": 16, "rows": 8)"})
      for (const std::string layout : {"blocked", "natural"}) {
        run_saving(folder, tensors_config(fmt::format(R"("kernel": "fft", {}, "layout": "{}")",
                                                      sizes, layout)));
        const data::NumpyArray x = test::saved(folder, "x");
        const data::NumpyArray found = test::saved(folder, "X");
        CHECK(x.dtype == "<c8");
        const std::uint64_t rows = x.shape.at(0), points = x.shape.at(1);
        double worst = 0;
        for (std::uint64_t k = 0; k < rows * points; ++k) {
          std::complex<double> sum;
          for (std::uint64_t i = 0; i < rows * points; ++i) {
            const std::uint64_t down = (k / points) * (i / points);
            const std::uint64_t across = (k % points) * (i % points);
            const double turns = static_cast<double>(down) / static_cast<double>(rows) +
                                 static_cast<double>(across) / static_cast<double>(points);
            sum += std::complex(x.values[2 * i], x.values[2 * i + 1]) *
                   std::polar(1.0, -2 * std::numbers::pi * turns);
          }
          worst = std::max(
              worst, std::abs(sum - std::complex(found.values[2 * k], found.values[2 * k + 1])));
        }
        CHECK(worst < 1e-4);
      }
  }

  TEST_CASE("each array of a batch has a Fourier transform of its own") {
    const CommandFolder folder;
    for (const std::string layout : {"blocked", "natural"}) {
      run_saving(folder,
                 tensors_config(fmt::format(
                     R"("kernel": "fft", "points": 16, "batch": 10, "layout": "{}")", layout)));
      const std::vector<double> x = test::saved(folder, "x").values;
      const data::NumpyArray found = test::saved(folder, "X");
      CHECK(found.shape == std::vector<std::uint64_t>{10, 16, 2});
      double worst = 0;
      for (std::size_t row = 0; row < 160; row += 16)
        for (std::size_t k = 0; k < 16; ++k) {
          std::complex<double> sum;
          for (std::size_t i = 0; i < 16; ++i)
            sum += std::complex(x[2 * (row + i)], x[2 * (row + i) + 1]) *
                   std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k) / 16);
          worst = std::max(worst, std::abs(sum - std::complex(found.values[2 * (row + k)],
                                                              found.values[2 * (row + k) + 1])));
        }
      CHECK(worst < 1e-5);
    }
  }
}
