#include "kernels/stencil/stencil.h"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/cli/saved.h"
#include "tests/kernels/right.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::stencil;
using test::small_machine;

namespace {

Options options_of(std::uint32_t rows, std::uint32_t columns, std::uint32_t channels) {
  Options options;
  options.rows = rows;
  options.columns = columns;
  options.channels = channels;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("points of the list `right` are right, in the predicted cycles where they say so") {
    test::check_right("stencil");
  }

  TEST_CASE("the searched plan is no slower than any grid of tiles") {
    MeasuredCosts costs(small_machine(6));
    Options options = options_of(40, 31, 2);
    const std::uint64_t searched = Stencil(options, costs).prediction().cycles;
    for (const auto& [rows, columns] : {std::pair{6U, 1U}, {3U, 2U}, {2U, 3U}, {1U, 6U}, {2U, 2U}})
      for (const std::uint32_t worker_columns : {1U, 2U, 3U, 6U}) {
        options.plan = Plan{rows, columns, worker_columns};
        CHECK(searched <= Stencil(options, costs).prediction().cycles);
      }
  }

  TEST_CASE("where lists have a memory of their own a plan is chosen whose lists fit there") {
    Options options = options_of(31, 61, 1);
    options.steps = 5;
    for (const std::uint32_t tiles : {2U, 3U, 4U, 5U}) {
      MachineConfig machine = small_machine(tiles);
      machine.tile.program_kib = 4;
      CAPTURE(tiles);
      CHECK(test::run_workload<Stencil>(options, machine) == "passed");
    }
  }

  TEST_CASE("a grid of tiles that fits is found, however little SRAM there is") {
    Options options = options_of(61, 60, 4);
    options.dtype = program::Type::f16;
    options.steps = 3;
    for (std::uint32_t sram_kib = 12; sram_kib <= 18; ++sram_kib) {
      CAPTURE(sram_kib);
      MeasuredCosts costs(small_machine(6, sram_kib));
      const auto fits = [&](const std::optional<Plan>& plan) {
        options.plan = plan;
        try {
          Stencil(options, costs);
          return true;
        } catch (const UserError&) {
          return false;
        }
      };
      CHECK(fits(std::nullopt) == (fits(Plan{6, 1, 1}) || fits(Plan{3, 2, 1})));
    }
  }

  TEST_CASE("a plan that the machine or the grid has no parts for is refused") {
    MeasuredCosts costs(small_machine(6));
    const auto refused = [&](const Plan& plan, const char* message) {
      Options options = options_of(5, 9, 3);
      options.plan = plan;
      CHECK_THROWS_WITH_AS(Stencil(options, costs), message, UserError);
    };
    refused({6, 1, 1}, "workload.plan.tile_rows: found 6, allowed at most 5 (workload.rows)");
    refused({1, 10, 1},
            "workload.plan.tile_columns: found 10, allowed at most 9 (workload.columns)");
    refused({4, 2, 1},
            "workload.plan.tile_columns: found 2, allowed at most 1 (tile_rows x tile_columns: 6 "
            "tiles)");
    refused(
        {2, 2, 4},
        "workload.plan.worker_columns: found 4, allowed a divisor of 6 (machine.tile.contexts)");
    refused({2, 2, 1, Slices::tile, Code::compiled},
            "workload.plan.code: found compiled, allowed scheduled, or 4 channels");
  }
}

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
              if (r >= 0 && r < 7 && c >= 0 && c < 5)
                sum += weight * x[static_cast<std::size_t>((r * 5 + c) * 2 + channel)];
            }
          const auto at = static_cast<std::size_t>((row * 5 + column) * 2 + channel);
          worst = std::max(worst, std::abs(sum - y.values[at]));
        }
    CHECK(worst < 1e-4);
  }
}
