#include <algorithm>
#include <array>
#include <cstring>

#include <doctest/doctest.h>

#include "models/costs/measured_costs.h"
#include "models/fabric/fabric.h"
#include "models/simulation.h"
#include "sim/plan/lower.h"
#include "sim/plan/search.h"
#include "sim/program/assembler.h"
#include "tests/kernels/small_machine.h"
#include "tests/models/in_child.h"

using namespace tessera;
using plan::Description;
using program::BufferId;

namespace {

constexpr std::uint32_t kAdds = 50;

std::uint32_t add_code(const Description& description) {
  program::Assembler code;
  for (std::uint32_t i = 0; i < kAdds; ++i)
    code.add_immediate(program::Reg::t0, program::Reg::t0, 1);
  code.control(0);
  return description.code()->add_codelet({"adds", code.take()});
}

std::function<std::uint64_t(plan::Tile)> everywhere(std::uint64_t bytes) {
  return [bytes](plan::Tile) { return bytes; };
}

/// Repeats `times`: every tile pulls 64 bytes of tile 0 and 32 of the next tile, then computes.
Description ring(plan::Tile tiles, std::uint64_t bytes, std::uint32_t times = 1) {
  Description d(tiles);
  const auto x = d.array({"x", everywhere(bytes), false, [](plan::Tile, std::span<std::byte>) {}});
  const auto y = d.array({"y", everywhere(96), true});
  const std::uint32_t code = add_code(d);
  d.repeat(times, [&] {
    d.exchange("move", tiles, [=](plan::Tile tile, plan::Pulls& pulls) {
      pulls.push_back({{y, 0}, 0, {x, 0}, 64});
      pulls.push_back({{y, 64}, (tile + 1) % tiles, {x, 64}, 32});
    });
    d.compute("adds", tiles, [=](plan::Tile tile, plan::Calls& calls) {
      calls.add({TileId{tile}, code, program::Executor::all_workers, 0, {program::Place{y}}});
    });
  });
  d.tensor({{"y", program::Role::result, program::Type::f32, {tiles, 24}},
            y,
            [](plan::Tile tile, program::Runs& runs) {
              runs.add({0, std::uint64_t{24} * tile, 24, 1});
            }});
  return d;
}

const program::Sequence& body(const program::Program& program) {
  return std::get<program::Repeat>(program.main().steps.front().action).body;
}

/// Option 0 needs `bytes` / (variant + 1) and gets slower with each variant; option 1 never fits.
plan::Space space_of(std::uint64_t bytes) {
  plan::Space space;
  space.bounds = {1, 2};
  space.variants = [](std::size_t option) { return option == 0 ? 8U : 1U; };
  space.describe = [bytes](std::size_t option, std::uint32_t variant) {
    return ring(4, option == 0 ? bytes / (variant + 1) : 100 * bytes, variant + 1);
  };
  return space;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("pulls of the same bytes are one multicast, others are copies of their own") {
    const program::Program program = plan::lower(ring(4, 128));
    program::validate(program);
    const auto& copies = std::get<program::Exchange>(body(program).steps.front().action).copies;
    CHECK(copies.size() == 5);
    CHECK(std::count_if(copies.begin(), copies.end(), [](const program::Copy& copy) {
            return copy.bytes == 64 && copy.destinations.size() == 4;
          }) == 1);
    CHECK(std::get<program::ComputeSet>(body(program).steps.back().action).vertices.size() == 4);
    CHECK(program.tensors().front().parts.size() == 4);
  }

  TEST_CASE("copies of a group of tiles do the same on arrays of their own, and are fed apart") {
    Description d(7);
    BufferId given{}, mirror{};
    d.in_copies({2, 3}, [&] {
      given =
          d.array({"given", [](plan::Tile tile) { return tile == 1 ? 16U : 0U; }, false,
                   [](plan::Tile tile, std::span<std::byte> into) { into[0] = std::byte(tile); }});
      mirror = d.array({"mirror", [](plan::Tile tile) { return tile == 0 ? 16U : 0U; }, true});
      d.exchange("move", 1, [=](plan::Tile tile, plan::Pulls& pulls) {
        pulls.push_back({{mirror}, tile + 1, {given}, 16});
      });
      d.host("feed", program::HostTransfer::Direction::read, 2,
             [=](plan::Tile tile, plan::HostPieces& pieces) {
               if (tile == 1)
                 pieces.push_back({{given}, 16, [](auto into, std::uint64_t number) {
                                     into[0] = std::byte(number);
                                   }});
             });
    });
    d.exchange("between copies", 1, [=](plan::Tile, plan::Pulls& pulls) {
      pulls.push_back({{mirror}, 4, {mirror}, 16});
    });
    const program::Program program = plan::lower(d);
    program::validate(program);
    CHECK(program.buffers().size() == 6);
    std::array<std::byte, 16> bytes{};
    program.buffer(BufferId{2}).contents(bytes);
    CHECK(bytes[0] == std::byte{1});
    CHECK(std::get<program::Exchange>(program.main().steps[0].action).copies.size() == 3);
    const program::HostTransfer& feed =
        *std::get<program::Exchange>(program.main().steps[1].action).host;
    REQUIRE(feed.pieces.size() == 3);
    feed.pieces[2].contents(bytes, 10);
    CHECK(bytes[0] == std::byte{32});
    const auto& between = std::get<program::Exchange>(program.main().steps[2].action).copies;
    REQUIRE(between.size() == 1);
    CHECK(program.buffer(between.front().source.buffer).tile == TileId{4});
  }

  TEST_CASE("the time of a tile that stands for all is the machine's, but for the loop's code") {
    const MachineConfig machine = test::small_machine(4);
    MeasuredCosts costs(machine);
    plan::Pricing pricing(costs);
    const Description description = ring(4, 128, 3);
    const std::vector<plan::Tile> one{0};
    const Prediction predicted = pricing.time(description, one);
    CHECK(predicted.compute_cycles > 3 * kAdds);
    const auto run = [&]() -> std::string {
      const program::Program program = plan::lower(description);
      const auto exchanges = fabric::make_exchange_compiler(machine.fabric);
      Simulation built(machine, program, program::compile(program, machine, *exchanges), {});
      const auto time = built.run().time;
      if (time.sync.count() != predicted.sync_cycles) return "other barriers";
      const std::uint64_t loop = time.compute.count() - predicted.compute_cycles;
      return loop < 20 ? "near" : fmt::format("{} cycles more", loop);
    };
    CHECK(in_child(run) == "near");
  }

  TEST_CASE("times are means of what the slowest tile takes with the data expected at moments") {
    // A worker adds as many times as its tile's word says.
    program::Assembler code;
    code.emit({.mnemonic = isa::Mnemonic::lw, .rd = 10, .rs1 = 10, .imm = 0});
    code.emit({.mnemonic = isa::Mnemonic::lw, .rd = 10, .rs1 = 10, .imm = 0});
    code.emit({.mnemonic = isa::Mnemonic::rpt, .rs1 = 10, .imm = 8});
    code.add_immediate(program::Reg::t0, program::Reg::t0, 1);
    code.control(0);
    const auto cycles = [&](std::uint32_t moments, std::uint32_t step) {
      Description d(2);
      d.expect(moments);
      plan::Array words{"words", everywhere(16)};
      words.expected = [step](plan::Tile tile, std::span<std::byte> into, std::uint32_t moment) {
        const std::uint32_t adds = tile == 0 ? 100 : 40 + step * moment;
        std::memcpy(into.data(), &adds, sizeof adds);
      };
      const auto array = d.array(std::move(words));
      const std::uint32_t number = d.code()->add_codelet({"adds", code.bytes()});
      d.compute("adds", 2, [=](plan::Tile, plan::Calls& calls) {
        calls.add({TileId{0}, number, program::Executor::one_worker, 0, {program::Place{array}}});
      });
      MeasuredCosts costs(test::small_machine(2));
      plan::Pricing pricing(costs);
      return pricing.time(d, std::array<plan::Tile, 2>{0, 1}).cycles;
    };
    CHECK(cycles(2, 60) == cycles(1, 0));  // 100 and 40, then 100 and 100
    // The mean of 100, 100 and 160 is 120, 20 above 100.
    CHECK(cycles(3, 60) == cycles(1, 0) + std::uint64_t{20} * test::small_machine(2).tile.contexts);
  }

  TEST_CASE("memory of a tile covers what is compiled") {
    const MachineConfig machine = test::small_machine(4);
    MeasuredCosts costs(machine);
    const Description description = ring(4, 128, 3);
    const std::vector<plan::Tile> tiles{0};
    const auto memory = plan::Pricing(costs).memory(description, tiles);
    REQUIRE(memory);
    const std::uint64_t compiled = costs.resource_usage(plan::lower(description)).memory.max_bytes;
    CHECK(program::total(*memory) >= compiled);
    CHECK(program::total(*memory) <= compiled + 256);
  }

  TEST_CASE("the search takes the first variant that fits, and else the plan of least memory") {
    MeasuredCosts costs(test::small_machine(4, 256));
    plan::Pricing pricing(costs);
    const plan::Found roomy = plan::search(space_of(100'000), pricing);
    CHECK(roomy.fits);
    CHECK(roomy.variant == 0);
    const plan::Found narrow = plan::search(space_of(600'000), pricing);
    CHECK(narrow.fits);
    CHECK(narrow.option == 0);
    CHECK(narrow.variant == 2);
    CHECK(narrow.prediction.cycles > roomy.prediction.cycles);
    const plan::Found closest = plan::search(space_of(9'000'000), pricing);
    CHECK_FALSE(closest.fits);
    CHECK(closest.option == 0);
    CHECK(program::total(closest.memory) > 1'000'000);
  }

  TEST_CASE(
      "a variant that alone fits is found: tensors fall in steps, what is beside them grows") {
    MeasuredCosts costs(test::small_machine(4, 256));
    plan::Pricing pricing(costs);
    plan::Space space;
    space.bounds = {1};
    space.variants = [](std::size_t) { return 20U; };
    space.describe = [](std::size_t, std::uint32_t variant) {
      Description d = ring(4, variant < 13 ? 600'000 : 230'000);
      const std::uint32_t code = add_code(d);
      for (std::uint32_t i = 0; variant > 13 && i < 150 * variant; ++i)
        d.compute("more", 4, [code](plan::Tile tile, plan::Calls& calls) {
          calls.add({TileId{tile}, code, program::Executor::all_workers, 0, {7U, 8U, 9U, 10U}});
        });
      return d;
    };
    const plan::Found found = plan::search(space, pricing);
    CHECK(found.fits);
    CHECK(found.variant == 13);
  }

  TEST_CASE("the search climbs from the options that are expected to be best to ones like them") {
    MeasuredCosts costs(test::small_machine(4, 256));
    plan::Pricing pricing(costs);
    plan::Space space;  // option i takes 1 + |i - 7| iterations
    space.bounds = {9, 1, 5, 3};
    std::vector<std::size_t> seen;
    space.describe = [&](std::size_t option, std::uint32_t) {
      if (seen.empty() || seen.back() != option) seen.push_back(option);
      return ring(4, 128, static_cast<std::uint32_t>(option < 7 ? 8 - option : option - 6));
    };
    space.alike = [](std::size_t option) { return std::vector{option - 1, option + 1}; };
    space.most_estimated = 4;
    CHECK(plan::search(space, pricing).option == 4);
    CHECK(std::vector(seen.begin(), seen.begin() + 4) == std::vector<std::size_t>{1, 3, 2, 4});
    space.most_estimated = 40;
    CHECK(plan::search(space, pricing).option == 7);
  }
}
