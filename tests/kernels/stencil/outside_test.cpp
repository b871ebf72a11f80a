#include <doctest/doctest.h>

#include "kernels/stencil/stencil.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::stencil;

namespace {

Options outside(std::uint32_t rows, std::uint32_t columns, std::uint32_t steps) {
  Options options;
  options.rows = rows;
  options.columns = columns;
  options.channels = 3;
  options.steps = steps;
  options.external = true;
  return options;
}

/// Predicted cycles of the plan that is chosen, and its rounds.
std::pair<std::uint64_t, Rounds> chosen(const Options& options, const MachineConfig& machine) {
  MeasuredCosts costs(machine);
  const auto problem = std::make_shared<const Problem>(options, machine);
  const auto [plan, prediction] = planned(problem, costs);
  return {prediction.cycles, plan.rounds.value()};
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a grid stays on the tiles where they hold it and steps are many") {
    MachineConfig machine = test::outside_machine(4, 1, true);
    machine.tile.sram_kib = 64;
    const Options options = outside(60, 60, 6);
    const auto [cycles, rounds] = chosen(options, machine);
    CHECK(rounds.rows * rounds.columns == 1);
    Options streamed = options;
    streamed.plan = Plan{2, 2, 1};
    streamed.plan->rounds = Rounds{3, 1};
    CHECK(chosen(streamed, machine).first > cycles);
    machine.tile.sram_kib = 12;
    const Rounds small = chosen(options, machine).second;
    CHECK(small.rows * small.columns > 1);
    CHECK(test::run_workload<Stencil>(options, machine) == "passed");
  }
}
