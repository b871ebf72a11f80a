#include "sim/plan/step_calls.h"

#include <cstring>

#include <doctest/doctest.h>

#include "models/costs/measured_costs.h"
#include "sim/plan/lower.h"
#include "sim/program/assembler.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using plan::Description;

namespace {

constexpr std::uint32_t kTurns = 40;

/// Adds a worker that adds as many times as its tile's word says.
std::uint32_t counting_code(const Description& description) {
  program::Assembler code;
  code.emit({.mnemonic = isa::Mnemonic::lw, .rd = 10, .rs1 = 10, .imm = 0});
  code.emit({.mnemonic = isa::Mnemonic::lw, .rd = 10, .rs1 = 10, .imm = 0});
  code.emit({.mnemonic = isa::Mnemonic::rpt, .rs1 = 10, .imm = 8});
  code.add_immediate(program::Reg::t0, program::Reg::t0, 1);
  code.control(0);
  return description.code()->add_codelet({"adds", code.take()});
}

/// Tile t declares 100 (t + 1) cycles; its call runs kTurns (t + 1) adds.
Description counted(plan::Tile tiles, bool held) {
  Description d(tiles);
  const auto words = d.array({"words", [](plan::Tile) { return 16U; }, false,
                              [](plan::Tile tile, std::span<std::byte> into) {
                                const std::uint32_t turns = kTurns * (tile + 1);
                                std::memcpy(into.data(), &turns, sizeof turns);
                              }});
  const std::uint32_t code = counting_code(d);
  d.compute("adds", tiles, [=](plan::Tile tile, plan::Calls& calls) {
    const program::Vertex vertex{
        TileId{tile}, code, program::Executor::one_worker, 0, {program::Place{words}}};
    const std::uint64_t cycles = std::uint64_t{100} * (tile + 1);
    held ? calls.add_held(vertex, cycles) : calls.add(vertex, cycles);
  });
  return d;
}

MachineConfig four_tiles(IssueKind issue) {
  MachineConfig machine = test::small_machine(4);
  machine.tile.issue = issue;
  return machine;
}

/// One tile calls one worker's function twice in one step.
Description called_twice() {
  Description d(1);
  const auto turns = [](std::span<std::byte> into) {
    std::memcpy(into.data(), &kTurns, sizeof kTurns);
  };
  const auto words = d.array({"words", [](plan::Tile) { return 16U; }, false,
                              [=](plan::Tile, std::span<std::byte> into) { turns(into); }});
  const std::uint32_t code = counting_code(d);
  const plan::Function& adds = d.function(
      {"adds",
       {FittedCost::Axis::turns()},
       [=](const plan::Sizes&, std::span<const program::Place> of) {
         return program::Vertex{TileId{0}, code, program::Executor::one_worker, 0, {of[0]}};
       },
       [](const plan::Sizes&) { return std::vector<std::uint64_t>{16}; },
       [=](const plan::Sizes&, std::size_t, std::span<std::byte> into) { turns(into); }});
  d.compute("adds", 1, [=, &adds](plan::Tile, plan::Calls& calls) {
    calls.add(adds, {1}, {{words}});
    calls.add(adds, {1}, {{words}});
  });
  return d;
}

/// Predicted compute cycles of calls on four tiles, of which tile 1 is the sample.
std::uint64_t priced(bool held, bool closely, IssueKind issue) {
  MeasuredCosts costs(four_tiles(issue));
  plan::Pricing pricing(costs);
  const Description description = counted(4, held);
  const std::vector<plan::Tile> one{1};
  const plan::Schedules none;
  const Prediction found = pricing.time(description, one, closely ? &none : nullptr);
  return found.compute_cycles - pricing.time(Description(4), one).compute_cycles;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a plan that is priced closely waits for the slowest of all its tiles") {
    const std::uint64_t one = priced(false, false, IssueKind::barrel);
    CHECK(priced(false, true, IssueKind::barrel) == one + 200);
  }

  TEST_CASE("short calls of one step are priced closely as they run one behind the other") {
    for (const IssueKind issue : {IssueKind::barrel, IssueKind::interleaved}) {
      MeasuredCosts costs(four_tiles(issue));
      plan::Pricing pricing(costs);
      const Description twice = called_twice();
      const std::vector<plan::Tile> one{0};
      const plan::Schedules none;
      const std::uint64_t run = costs.tile(plan::lower(twice)).compute_cycles;
      CHECK(pricing.time(twice, one, &none).compute_cycles == run);
      CHECK(pricing.time(twice, one).compute_cycles > run);
    }
  }

  TEST_CASE("calls that arrays decide are run where they are priced closely") {
    const std::uint32_t contexts = four_tiles(IssueKind::barrel).tile.contexts;
    for (const IssueKind issue : {IssueKind::barrel, IssueKind::interleaved}) {
      CHECK(priced(true, false, issue) == priced(false, false, issue));
      const std::uint64_t run = priced(true, true, issue);
      const std::uint64_t adds =
          std::uint64_t{4} * kTurns * (issue == IssueKind::barrel ? contexts : 1);
      CHECK(run > adds);
      CHECK(run < adds + 200);
    }
  }
}
