#include "kernels/spmm_static/plan.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "kernels/spmm_static/spmm_static.h"
#include "models/costs/measured_costs.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::spmm_static;

namespace {

Options options_of(std::uint32_t block, Type dtype, std::uint32_t n, double density) {
  Options options;
  options.weights = {.m = block == 1 ? 192 : 32 * block,
                     .k = block == 1 ? 144 : 24 * block,
                     .block = block,
                     .density = density,
                     .dtype = dtype};
  options.n = n;
  return options;
}

SpmmStatic planned(Options options, Algorithm algorithm, MachineCosts& costs) {
  options.plan.algorithm = algorithm;
  return {options, costs};
}

/// Calls visit(options) for blocks, widths and densities.
template <class Visit>
void for_all_options(const Visit& visit) {
  for (const std::uint32_t block : {1U, 4U, 8U, 16U})
    for (const std::uint32_t n : {4U, 96U})
      for (const double density : {0.02, 0.5}) {
        const Type dtype = block == 4 ? Type::f32 : Type::f16;
        CAPTURE(block);
        CAPTURE(n);
        CAPTURE(density);
        visit(options_of(block, dtype, n, density));
      }
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("where a plan of given cuts fits, the best one does") {
    Options options;
    options.weights = {.m = 256, .k = 256, .density = 0.05, .dtype = Type::f16};
    options.n = 32;
    int narrow = 0;  // only some cuts fit
    for (std::uint32_t sram_kib = 13; sram_kib <= 17; ++sram_kib) {
      CAPTURE(sram_kib);
      MeasuredCosts costs(test::small_machine(24, sram_kib));
      const auto fits = [&](std::uint32_t parts, std::uint32_t bands) {
        options.plan.parts = parts;
        options.plan.bands = bands;
        try {
          static_cast<void>(costs.needs(SpmmStatic(options, costs).build()));
          return true;
        } catch (const UserError&) {
          return false;
        }
      };
      const bool best = fits(0, 0);
      for (const std::uint32_t parts : {2U, 4U}) {
        const bool given = fits(parts, 2);
        CHECK((best || !given));
        narrow += best && !given ? 1 : 0;
      }
    }
    CHECK(narrow > 0);
  }

  TEST_CASE("the best plan is never slower than the published one") {
    for (const std::uint32_t tiles : {7U, 40U, 1472U}) {
      CAPTURE(tiles);
      MeasuredCosts costs(test::small_machine(tiles, 624));
      for_all_options([&](const Options& options) {
        if (tiles > 1000 && options.n < 96) return;
        const auto published = planned(options, Algorithm::published, costs).prediction();
        CHECK(planned(options, Algorithm::best, costs).prediction().cycles <= published.cycles);
      });
    }
  }

  TEST_CASE("a plan that is printed and pinned again is the same plan") {
    MeasuredCosts costs(test::small_machine(7, 624));
    for (const std::uint32_t block : {1U, 16U}) {
      const Options options = options_of(block, Type::f16, 96, 0.5);
      for (const Algorithm algorithm : {Algorithm::best, Algorithm::published}) {
        const SpmmStatic chosen = planned(options, algorithm, costs);
        Options pinned = options;
        pinned.plan.parts = chosen.plan()["parts"];
        pinned.plan.bands = chosen.plan()["bands"];
        int same = 0;
        for (const Dealing dealing : {Dealing::blocks, Dealing::work, Dealing::rows})
          for (const Sums sums : {Sums::home, Sums::placed}) {
            pinned.plan.dealing = dealing;
            pinned.plan.sums = sums;
            const SpmmStatic again = planned(pinned, algorithm, costs);
            if (again.plan() == chosen.plan()) ++same;
            if (again.plan() == chosen.plan())
              CHECK(again.prediction().cycles == chosen.prediction().cycles);
          }
        CHECK(same == 1);
      }
    }
  }
}
