#include "kernels/latency/latency.h"

#include <doctest/doctest.h>

#include "sim/config/config.h"
#include "sim/config/presets.h"
#include "tests/kernels/right.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::latency;

namespace {

constexpr std::uint32_t kTurns = 27720;  ///< divides evenly by 1 to 12 contexts

MachineConfig bow(std::uint32_t contexts) {
  MachineConfig machine = config::load_machine("bow", config::machine_presets());
  machine.tiles = 1;
  machine.tile.contexts = contexts;
  return machine;
}

/// Cycles of `steps` steps beyond what starting and ending take, as the machine's own code is run.
std::uint64_t cycles_of(Options options, const MachineConfig& machine, std::uint32_t steps) {
  MeasuredCosts costs(machine);
  const auto cycles = [&](std::uint32_t all) {
    options.steps = all;
    return Latency(options, costs).prediction().cycles;
  };
  return cycles(2 * steps) - cycles(steps);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("every operation and number of chains is exact in the predicted cycles") {
    test::check_right("latency");
  }
}

TEST_SUITE("theory") {
  TEST_CASE("dependent loads are six times faster on six contexts of a Bow and no faster on more") {
    const auto cycles = [](std::uint32_t contexts) { return cycles_of({}, bow(contexts), kTurns); };
    CHECK(cycles(1) == 6 * kTurns);
    CHECK(cycles(2) == 3 * kTurns);
    CHECK(cycles(3) == 2 * kTurns);
    CHECK(cycles(4) == 2 * kTurns);  // every second turn of four cycles
    CHECK(cycles(5) == 2 * kTurns);
    for (std::uint32_t contexts = 6; contexts <= 12; ++contexts) CHECK(cycles(contexts) == kTurns);
  }

  TEST_CASE("contexts gain less where a context's chains alternate") {
    const auto gain = [](std::uint32_t chains) {
      Options options;
      options.chains = chains;
      return static_cast<double>(cycles_of(options, bow(1), 2 * kTurns)) /
             static_cast<double>(cycles_of(options, bow(6), 2 * kTurns));
    };
    CHECK(gain(1) == 6);
    CHECK(gain(2) == 3);
    CHECK(gain(3) == 2);
    CHECK(gain(6) == 1);
  }

  TEST_CASE("a step of a lone chain takes the latency of its operation") {
    struct Law {
      Operation operation;
      std::uint32_t LatencyConfig::*latency;
    };
    const Law laws[] = {{Operation::load, &LatencyConfig::load},
                        {Operation::integer, &LatencyConfig::integer},
                        {Operation::integer_multiply, &LatencyConfig::integer_multiply},
                        {Operation::integer_divide, &LatencyConfig::integer_divide},
                        {Operation::f32_add, &LatencyConfig::f32_add},
                        {Operation::f32_multiply, &LatencyConfig::f32_multiply},
                        {Operation::f32_fma, &LatencyConfig::f32_fma},
                        {Operation::f32_divide, &LatencyConfig::float_divide},
                        {Operation::square_root, &LatencyConfig::square_root},
                        {Operation::branch, &LatencyConfig::branch_taken}};
    for (const Law& law : laws) {
      for (const std::uint32_t latency : {1U, 2U, 40U}) {
        MachineConfig machine = test::small_machine(1);
        machine.tile.contexts = 1;
        machine.tile.issue = IssueKind::single;
        machine.tile.latency.*law.latency = latency;
        Options options;
        options.operation = law.operation;
        CAPTURE(static_cast<int>(law.operation));
        CHECK(cycles_of(options, machine, 1000) == 1000 * latency);
      }
    }
  }
}
