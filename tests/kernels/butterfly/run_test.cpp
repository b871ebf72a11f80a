#include <algorithm>

#include <doctest/doctest.h>

#include "kernels/butterfly/butterfly.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::butterfly;

namespace {

using test::small_machine;

struct Butterfly : kernels::PlannedWorkload<Subject> {
  Butterfly(const Options& options, MachineCosts& costs)
      : PlannedWorkload("butterfly", options, costs) {}
};

Options options_of(std::uint32_t features, std::uint32_t n, Number dtype, Parameters parameters) {
  Options options;
  options.problem.features = features;
  options.problem.n = n;
  options.problem.dtype = dtype;
  options.problem.parameters = parameters;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a batch that does not fit at once is computed in rounds, or no plan fits") {
    const MachineConfig machine = small_machine(12, 64);
    std::uint32_t most = 0;
    for (std::uint32_t n = 400; n <= 1900; n += 250) {
      Options options = options_of(128, n, Number::f16, Parameters::free);
      options.problem.layout = Layout::blocked;
      CAPTURE(n);
      const auto fits = [&] {
        try {
          const auto butterfly = test::planned<Butterfly>(options, machine);
          most = std::max(most, butterfly.plan().at("rounds").get<std::uint32_t>());
          CHECK_NOTHROW(test::compiled_bytes(butterfly, machine));
          return true;
        } catch (const UserError&) {
          return false;
        }
      };
      if (fits()) continue;
      for (const std::uint32_t parts : {1U, 2U, 4U})
        for (const std::uint32_t rounds : {1U, 2U, 3U, 4U, 6U, 9U}) {
          options.plan = Plan{parts, 12 / parts, 1, 1, rounds};
          CAPTURE(config::resolved(*options.plan).dump());
          CHECK_THROWS_AS(test::planned<Butterfly>(options, machine), UserError);
        }
    }
    CHECK(most > 1);
  }

  TEST_CASE("the planner expects as much memory as the program needs, or a little more") {
    const MachineConfig machine = small_machine(16);
    for (const Layout layout : {Layout::planned, Layout::blocked})
      for (const Pass pass : {Pass::forward, Pass::grad_twiddles})
        for (const std::uint32_t block : {1U, 16U}) {
          Options options = options_of(512, 100, Number::f32, Parameters::free);
          options.problem.pass = pass;
          options.problem.block = block;
          options.problem.layout = layout;
          MeasuredCosts costs(machine);
          const Butterfly butterfly(options, costs);
          const auto usage = costs.resource_usage(butterfly.build());
          const auto needed = static_cast<double>(usage.memory.max_bytes);
          CAPTURE(config::name_of(kPasses, pass));
          CAPTURE(config::name_of(kLayouts, layout));
          CAPTURE(block);
          const auto expected = static_cast<double>(butterfly.tile_bytes());
          CHECK(expected >= needed);
          CHECK(expected <= 1.1 * needed);
        }
  }
}
