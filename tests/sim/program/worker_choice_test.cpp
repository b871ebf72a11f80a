#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/program/resource_choice.h"
#include "tests/sim/program/planned_workload.h"

using namespace tessera;
using namespace tessera::test;

namespace {

using Cycles = std::function<std::uint64_t(std::uint32_t workers)>;

/// The chosen number of started contexts out of 24; 0: all.
std::uint32_t started(const Cycles& cycles, const Cycles& flops = {}, bool compete = true) {
  MachineConfig machine;
  machine.tile.contexts = 24;
  SizedCosts costs(machine, compete);
  const std::unique_ptr<Workload> workload = plan_for_workers(
      [&](MachineCosts& of) {
        const std::uint32_t workers = of.machine().tile.contexts;
        const std::uint64_t all = cycles(workers);
        return std::make_unique<PlannedWorkload>(Prediction{all, all, 0, 0},
                                                 flops ? flops(workers) : 1);
      },
      costs);
  CHECK(workload->build().workers() == workload->workers());
  CHECK(workload->facts().value("started_contexts", 0U) == workload->workers());
  return workload->workers();
}

std::uint64_t none_fit(std::uint32_t workers) {
  throw UserError(fmt::format("{} do not fit", workers));
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("the number of workers is the fastest predicted one") {
    CHECK(started([](std::uint32_t workers) { return workers; }) == 1);
    CHECK(started([](std::uint32_t workers) { return 100 - workers; }) == 0);
    CHECK(started([](std::uint32_t workers) { return 1000 / workers + 100 * workers; }) == 3);
    CHECK(started([](std::uint32_t workers) { return workers < 18 ? 50 - workers : 40; }) == 15);
    CHECK(started([](std::uint32_t workers) { return workers > 12 && workers < 24 ? 9 : 10; }) ==
          18);
    CHECK(started([](std::uint32_t workers) {
            return workers == 2 ? 7 : workers == 4 ? 8 : 9;
          }) == 2);
    CHECK(started([](std::uint32_t /*workers*/) { return 7; }) == 0);
  }

  TEST_CASE("all workers start where contexts have slots of their own") {
    CHECK(started([](std::uint32_t workers) { return workers; }, {}, false) == 0);
  }

  TEST_CASE("all workers start where fewer would do less") {
    const auto same = [](std::uint32_t workers) { return workers; };
    CHECK(started(same, same) == 0);
  }

  TEST_CASE("fewer workers start where more do not fit") {
    CHECK(started([](std::uint32_t workers) {
            return workers > 10 ? none_fit(workers) : 100 - workers;
          }) == 10);
    CHECK_THROWS_WITH_AS(started(none_fit), "24 do not fit", UserError);
  }

  TEST_CASE("a pinned plan for one number of workers finds it") {
    const auto pinned = [](std::uint32_t workers) -> std::uint64_t {
      if (workers != 17) throw KeyError("workload.plan.pool_bytes", fmt::format("of {}", workers));
      return 5;
    };
    CHECK(started(pinned) == 17);
    const auto wrong = [](std::uint32_t workers) -> std::uint64_t {
      throw KeyError("workload.plan.pool_bytes", fmt::format("of {}", workers));
    };
    CHECK_THROWS_WITH_AS(started(wrong), "workload.plan.pool_bytes: of 24", KeyError);
  }
}
