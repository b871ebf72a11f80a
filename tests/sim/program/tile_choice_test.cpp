#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/program/resource_choice.h"
#include "tests/sim/program/planned_workload.h"

using namespace tessera;
using namespace tessera::test;

namespace {

using Predicted = std::function<Prediction(std::uint32_t tiles)>;

/// The chosen number of used tiles out of `all`, each planned at most once; 0: all tiles.
std::uint32_t used(std::uint32_t all, const Predicted& predicted,
                   const std::function<std::uint64_t(std::uint32_t)>& flops = {}) {
  MachineConfig machine{.tiles = all};
  SizedCosts costs(machine);
  std::vector<std::uint32_t> planned;
  const std::unique_ptr<Workload> workload = plan_for_tiles(
      [&](MachineCosts& of) {
        const std::uint32_t tiles = of.machine().tiles;
        CHECK(std::ranges::find(planned, tiles) == planned.end());
        planned.push_back(tiles);
        return std::make_unique<PlannedWorkload>(predicted(tiles), flops ? flops(tiles) : 1);
      },
      costs);
  return workload->facts().value("used_tiles", 0U);
}

/// A prediction of which half is exchange.
Prediction halves(std::uint64_t cycles) { return {cycles, cycles - cycles / 2, cycles / 2, 0}; }

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("the number of tiles is the fastest predicted one among those with many divisors") {
    const auto best_at = [](std::uint32_t best) {
      return [best](std::uint32_t tiles) { return halves(tiles == best ? 900 : 1000); };
    };
    for (const std::uint32_t best : {96U, 88U, 64U, 60U}) CHECK(used(98, best_at(best)) == best);
    CHECK(used(98, best_at(98)) == 0);
    CHECK(used(98, best_at(95)) == 0);
    CHECK(used(98, best_at(56)) == 0);  // the six candidates before it are no better
    for (const std::uint32_t best : {32U, 16U, 4U}) CHECK(used(98, best_at(best)) == best);
    CHECK(used(98, best_at(1)) == 1);
    CHECK(used(63, best_at(60)) == 60);
    CHECK(used(9, best_at(8)) == 8);
    CHECK(used(1, best_at(1)) == 0);
    CHECK(used(64, [](std::uint32_t tiles) { return halves(100 + tiles); }) == 1);
  }

  TEST_CASE("no fewer tiles are tried than some that are much worse") {
    std::uint32_t least = 64;
    CHECK(used(64, [&](std::uint32_t tiles) {
            least = std::min(least, tiles);
            return halves(100'000 / tiles);
          }) == 0);
    CHECK(least == 56);
  }

  TEST_CASE(
      "on machines of few tiles a single tile is tried, however slow the numbers between are") {
    const auto one_or_all = [](std::uint32_t all) {
      return [all](std::uint32_t tiles) {
        return halves(tiles == 1 ? 900 : tiles == all ? 1000 : 2000);
      };
    };
    for (const std::uint32_t all : {2U, 3U, 4U, 7U, 16U}) CHECK(used(all, one_or_all(all)) == 1);
    CHECK(used(17, one_or_all(17)) == 0);
  }

  TEST_CASE("one of few tiles is tried where exchanges and barriers are a small part") {
    const auto mostly_computes = [](std::uint32_t all, std::uint64_t moving) {
      return used(all, [=](std::uint32_t tiles) {
        return tiles == 1 ? Prediction{900, 900, 0, 0} : Prediction{1000, 1000 - moving, moving, 0};
      });
    };
    CHECK(mostly_computes(7, 100) == 1);
    CHECK(mostly_computes(7, 50) == 0);
    CHECK(mostly_computes(17, 100) == 0);
  }

  TEST_CASE("all tiles are used where little of the time is exchanges and barriers") {
    CHECK(used(64, [](std::uint32_t tiles) {
            return Prediction{1000 + tiles, 760 + tiles, 140, 100};
          }) == 0);
    CHECK(used(64, [](std::uint32_t tiles) {
            return Prediction{1000 + tiles, 720 + tiles, 180, 100};
          }) == 1);
  }

  TEST_CASE("all tiles are used in long runs, which are not planned again") {
    CHECK(used(64, [](std::uint32_t tiles) { return halves(200'000 + tiles); }) == 0);
    CHECK(used(64, [](std::uint32_t tiles) { return halves(100'000 + tiles); }) == 1);
  }

  TEST_CASE("all tiles are used where fewer would do less, or do not fit") {
    const auto fewer = [](std::uint32_t tiles) { return halves(100 + tiles); };
    CHECK(used(64, fewer, [](std::uint32_t tiles) { return tiles; }) == 0);
    CHECK(used(64, [&](std::uint32_t tiles) {
            if (tiles < 64) throw UserError(fmt::format("{} do not fit", tiles));
            return fewer(tiles);
          }) == 0);
  }

  TEST_CASE("a pinned number of tiles is used, and refused where the machine has fewer") {
    MachineConfig machine{.tiles = 10};
    SizedCosts costs(machine);
    const auto plan = [](MachineCosts& of) {
      return std::make_unique<PlannedWorkload>(halves(of.machine().tiles), 1);
    };
    CHECK(plan_for_tiles(plan, costs, 7)->prediction().cycles == 7);
    CHECK(plan_for_tiles(plan, costs, 7)->facts().value("used_tiles", 0U) == 7);
    CHECK_FALSE(plan_for_tiles(plan, costs, 10)->facts().contains("used_tiles"));
    CHECK_THROWS_WITH_AS(plan_for_tiles(plan, costs, 11),
                         doctest::Contains("found 11, allowed 0 to 10"), KeyError);
  }
}
