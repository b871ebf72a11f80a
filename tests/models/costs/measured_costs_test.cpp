#include "models/costs/measured_costs.h"

#include <doctest/doctest.h>

#include "sim/program/assembler.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using program::Executor;
using program::Reg;

namespace {

/// `instructions` adds and the end, for a worker or the supervisor.
program::Codelet adds(std::uint32_t instructions, Executor executor) {
  program::Assembler code;
  for (std::uint32_t i = 0; i < instructions; ++i) code.add_immediate(Reg::t0, Reg::t0, 1);
  if (executor == Executor::supervisor)
    code.emit({.mnemonic = isa::Mnemonic::jalr, .rs1 = static_cast<std::uint8_t>(Reg::ra)});
  else
    code.control(0);
  return {"adds", code.take()};
}

program::Program sample(std::uint32_t instructions, Executor executor) {
  program::Program program(1);
  const std::uint32_t codelet = program.add_codelet(adds(instructions, executor));
  program.main().steps.push_back(
      {program::ComputeSet{"adds", {{TileId{0}, codelet, executor, 0, {}}}}});
  return program;
}

std::uint64_t cycles(const MachineConfig& machine, std::uint32_t instructions, Executor executor) {
  MeasuredCosts costs(machine);
  return costs.tile(sample(instructions, executor)).compute_cycles;
}

/// `count` exchanges of a tile with itself.
program::Program exchanges(std::uint32_t count) {
  program::Program program(1);
  const auto buffer = program.add_buffer({TileId{0}, 16, 8, true, {}, {}, "bytes"});
  for (std::uint32_t i = 0; i < count; ++i)
    program.main().steps.push_back({program::Exchange{"e", {{{buffer}, 4, {{buffer, 8}}}}}});
  return program;
}

/// Each tile stores `bytes` bytes, at consecutive addresses.
std::vector<OuterLoad> stores(std::uint32_t tiles, std::uint32_t bytes) {
  std::vector<OuterLoad> loads;
  for (std::uint32_t tile = 0; tile < tiles; ++tile)
    loads.push_back(
        {TileId{tile},
         {{.address = std::uint64_t{tile} * bytes, .local = 0, .row_bytes = bytes, .outward = 1}}});
  return loads;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a worker's instruction costs a slot of the barrel, a supervisor's its cycles") {
    MachineConfig machine;
    machine.tile.contexts = 4;
    machine.tile.supervisor.plain_cycles = 3;
    CHECK(cycles(machine, 20, Executor::one_worker) - cycles(machine, 10, Executor::one_worker) ==
          10 * 4);
    CHECK(cycles(machine, 20, Executor::supervisor) - cycles(machine, 10, Executor::supervisor) ==
          10 * 3);
    machine.tile.slots.plain = 2;
    CHECK(cycles(machine, 20, Executor::all_workers) - cycles(machine, 10, Executor::all_workers) ==
          10 * 4 * 2);
  }

  TEST_CASE("a call's price needs no room of the machine's, unless no tile has that much") {
    MachineConfig machine = test::small_machine(1);
    const std::uint64_t whole = cycles(machine, 1000, Executor::one_worker);
    machine.tile.program_kib = 1;
    CHECK(cycles(machine, 1000, Executor::one_worker) == whole);
    machine.tile.sram_kib = 1;
    CHECK(cycles(machine, 1000, Executor::one_worker) == whole);
    program::Program large = sample(1, Executor::one_worker);
    large.add_buffer({TileId{0}, 1U << 30, 8, true, {}, {}, "bytes"});
    MeasuredCosts costs(machine);
    CHECK_THROWS_WITH_AS(static_cast<void>(costs.tile(large)),
                         doctest::Contains("takes 1073741824 bytes, allowed 1024 "
                                           "(machine.tile.sram_kib = 1)"),
                         UserError);
  }

  TEST_CASE("steps that are not measured do not count, nor does the way to the first barrier") {
    MeasuredCosts costs({});
    program::Program program = sample(10, Executor::all_workers);
    const TileCost counted = costs.tile(program);
    CHECK(counted.supersteps == 1);
    program.main().steps.front().measured = false;
    CHECK(costs.tile(program).supersteps == 0);
    CHECK(costs.tile(program).compute_cycles == 0);
  }

  TEST_CASE("an exchange takes its instructions") {
    MachineConfig machine;
    MeasuredCosts costs(machine);
    const std::uint64_t one = costs.tile(exchanges(1)).compute_cycles;
    const TileCost two = costs.tile(exchanges(2));
    CHECK(two.supersteps == 2);
    CHECK(one >= 2 * machine.tile.supervisor.plain_cycles);
    CHECK(two.compute_cycles == 2 * one + machine.tile.supervisor.plain_cycles);
  }

  TEST_CASE("the fabric estimates its exchanges: ports, pairs, ways; ideal the fixed cost alone") {
    MachineConfig machine;
    machine.fabric.fixed_cycles = 100;
    const auto estimate = [&](const ExchangeLoad& load) {
      return MeasuredCosts(machine).exchange(load);
    };
    CHECK(estimate({400, 0, 0, 64}) == 200);
    CHECK(estimate({0, 400, 0, 64}) == 200);
    CHECK(estimate({0, 0, 400, 64}) == 150);
    machine.fabric.receive_bytes_per_cycle = 16;
    CHECK(estimate({400, 800, 0, 64}) == 200);
    machine.fabric.receive_bytes_per_cycle = 4;
    machine.fabric.pair_sharing = false;
    CHECK(estimate({0, 400, 400, 64}) == 300);
    machine.fabric.columns = 16;
    machine.fabric.cycles_per_hop = 2;
    CHECK(estimate({0, 400, 0, 1472}) == 200 + 2 * (15 + 45));
    CHECK(estimate({0, 400, 0, 8}) == 206);
    machine.fabric.kind = "ideal";
    CHECK(estimate({0, 400, 400, 64}) == 100);
  }

  TEST_CASE("rough prices of external memory are near, however many requests are under way") {
    for (const std::uint32_t outstanding : {1U, 4U, 16U, 64U}) {
      CAPTURE(outstanding);
      MachineConfig machine = test::outside_machine(64, 2, true);
      machine.external.request_bytes = 1024;
      machine.external.outstanding = outstanding;
      machine.external.dram.bytes_per_clock = 16;
      MeasuredCosts costs(machine);
      for (const std::uint32_t bytes : {131'072U, 130'000U, 20'000U}) {
        const std::vector<OuterLoad> loads = stores(64, bytes);
        const auto closely = static_cast<double>(costs.outside(loads, true));
        CHECK(static_cast<double>(costs.outside(loads, false)) ==
              doctest::Approx(closely).epsilon(0.05));
      }
    }
  }
}
