#include "kernels/matrix_unit/matrix_unit.h"

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "models/machine.h"
#include "sim/base/errors.h"
#include "tests/models/in_child.h"

using namespace tessera;
using namespace tessera::matrix_unit;

namespace {

MachineConfig small_machine() {
  MachineConfig machine;
  machine.name = "small";
  machine.tiles = 2;
  machine.tile.supervisor.launch_stagger_cycles = 4;
  return machine;
}

/// "passed", then cycles less the predicted ones.
std::string run(const Options& options, const MachineConfig& machine) {
  return in_child([&]() -> std::string {
    const MatrixUnit workload(options, machine);
    const program::Program program = workload.build();
    const auto exchanges = fabric::make_exchange_compiler(machine.fabric);
    RunOptions run_options;
    run_options.check_races = true;
    Machine built(machine, program, program::compile(program, machine, *exchanges), run_options);
    const RunResult result = built.run();
    const CheckResult check = workload.check(built.memory(), CheckMode::full);
    if (!check.passed) return fmt::format("wrong: {} over {}", check.max_error, check.bound);
    return fmt::format("passed {}", static_cast<std::int64_t>(result.time.total().count()) -
                                        static_cast<std::int64_t>(workload.prediction().cycles));
  });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("every number of positions gives the right sums in the predicted cycles") {
    for (const Mode mode : {Mode::f16, Mode::f16_f32, Mode::f32}) {
      for (const std::uint32_t n : {1U, 6U, 11U, 16U, 18U, 23U, 24U, 31U, 96U}) {
        CAPTURE(n);
        CHECK(run({n, mode, 1}, small_machine()) == "passed 0");
      }
    }
  }

  TEST_CASE("an instruction of half the rate takes two slots in the matrix unit") {
    MachineConfig machine = small_machine();
    machine.tile.matrix_unit.f16_macs = 32;
    CHECK(run({96, Mode::f16, 1}, machine) == "passed 0");
  }

  TEST_CASE("a machine without the type is the user's error") {
    MachineConfig machine = small_machine();
    machine.tile.matrix_unit.f16_f32_macs = 0;
    CHECK_THROWS_AS(MatrixUnit({16, Mode::f16_f32, 1}, machine), UserError);
  }
}
