#include "kernels/matrix_unit/matrix_unit.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::matrix_unit;

namespace {

using test::small_machine;

/// "passed", then cycles less the predicted ones.
std::string run(const Options& options, const MachineConfig& machine) {
  return test::run_workload<MatrixUnit>(
      options, machine, [](const RunResult& result, const MatrixUnit& workload) {
        return fmt::format(" {}", static_cast<std::int64_t>(result.time.total().count()) -
                                      static_cast<std::int64_t>(workload.prediction().cycles));
      });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("every number of positions gives the right sums in the predicted cycles") {
    for (const Mode mode : {Mode::f16, Mode::f16_f32, Mode::f32}) {
      for (const std::uint32_t n : {1U, 6U, 11U, 16U, 18U, 23U, 24U, 31U, 96U}) {
        CAPTURE(n);
        CHECK(run({n, mode, 1}, small_machine(2)) == "passed 0");
      }
    }
  }

  TEST_CASE("an instruction of half the rate takes two slots in the matrix unit") {
    MachineConfig machine = small_machine(2);
    machine.tile.matrix_unit.f16.interval = 2;
    CHECK(run({96, Mode::f16, 1}, machine) == "passed 0");
  }

  TEST_CASE("a machine without the type is the user's error") {
    MachineConfig machine = small_machine(2);
    machine.tile.matrix_unit.f16_f32.outputs = 0;
    MeasuredCosts costs(machine);
    CHECK_THROWS_AS(MatrixUnit({16, Mode::f16_f32, 1}, costs), UserError);
  }
}
