#include <numeric>

#include <doctest/doctest.h>

#include "models/costs/measured_costs.h"
#include "sim/plan/lower.h"
#include "sim/plan/pricing.h"
#include "tests/models/sample_machine.h"

using namespace tessera;
using program::Place;

namespace {

/// For worker 0: *argument 1 = max(*argument 0 - 1, 0).
program::Codelet count_down() {
  program::Assembler code;
  code.load_word(program::Reg::t0, program::Reg::a0, 0);
  code.load_word(program::Reg::t1, program::Reg::t0, 0);
  code.emit({.mnemonic = isa::Mnemonic::beq, .rs1 = 6, .rs2 = 0, .imm = 8});
  code.add_immediate(program::Reg::t1, program::Reg::t1, -1);
  code.emit({.mnemonic = isa::Mnemonic::sw, .rs1 = 5, .rs2 = 6});
  code.control(0);
  return {"count_down", code.take()};
}

plan::BufferId add_words(plan::Description& d, std::string_view name,
                         std::vector<std::uint32_t> values) {
  return d.array({name, [](plan::Tile) -> std::uint64_t { return 4; }, true,
                  [values = std::move(values)](plan::Tile tile, std::span<std::byte> bytes) {
                    std::memcpy(bytes.data(), &values[tile], sizeof values[tile]);
                  }});
}

/// A loop that ends when all words in `left` are zero; in its body each tile decrements its word
/// and increments its iteration count. `turns` is the expected number of iterations.
plan::Description described(const std::vector<std::uint32_t>& left, bool counts_down = true,
                            std::uint64_t turns = 0) {
  const auto tiles = static_cast<plan::Tile>(left.size());
  plan::Description d(tiles);
  const std::uint32_t down = d.code()->add_codelet(count_down());
  const std::uint32_t up = d.code()->add_codelet(sample::add_one());
  const plan::BufferId words = add_words(d, "left", left);
  const plan::BufferId counts = add_words(d, "turns", std::vector<std::uint32_t>(tiles, 0));
  std::vector<plan::Tile> all(tiles);
  std::iota(all.begin(), all.end(), 0);
  d.while_any("loop", all, {words}, turns, [&] {
    d.compute("work", tiles, [=](plan::Tile, plan::Calls& calls) {
      const auto call = [&](std::uint32_t codelet, plan::BufferId word) {
        calls.add({{}, codelet, program::Executor::one_worker, 0, {Place{word}}});
      };
      if (counts_down) call(down, words);
      call(up, counts);
    });
  });
  return d;
}

struct Counting {
  program::Program program;
  std::vector<program::BufferId> turns;  ///< by tile: its number of iterations
};

Counting counting(const std::vector<std::uint32_t>& left, bool counts_down = true) {
  Counting made{plan::lower(described(left, counts_down)), {}};
  for (std::uint32_t id = 0; id < made.program.buffers().size(); ++id)
    if (made.program.buffers()[id].name == "turns") made.turns.push_back(program::BufferId(id));
  return made;
}

std::string run(const Counting& sample, RunOptions options,
                const std::function<std::string(const RunResult&)>& view = {},
                const std::function<void(program::Images&)>& spoil = {}) {
  options.check_races = true;
  const auto seen = [&](const Simulation& machine, const RunResult& result) {
    return (view ? view(result) : "") + sample::words_of(machine, sample.turns);
  };
  return sample::run(sample::machine(sample.program.tiles()), sample.program, options, seen, spoil);
}

std::string supersteps(const RunResult& result) {
  return fmt::format("{} supersteps:", result.supersteps);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a loop on flags runs as often as the tile that needs it most") {
    CHECK(run(counting({0, 0, 0}), {}) == " 0 0 0");
    CHECK(run(counting({0, 1, 0}), {}) == " 1 1 1");
    CHECK(run(counting({2, 0, 7}), {}) == " 7 7 7");
    CHECK(run(counting({300}), {}) == " 300");
  }

  TEST_CASE("each flag counts, wherever it lies, and a test takes one superstep or two") {
    for (const std::uint32_t tiles : {2U, 5U, 63U, 64U, 65U, 100U, 131U}) {
      const std::uint32_t a_test = tiles > 64 ? 2 : 1;
      for (std::uint32_t tile = 0; tile < tiles; tile += tile < 12 || tile + 12 > tiles ? 1 : 9) {
        std::vector<std::uint32_t> left(tiles, 0);
        left[tile] = 2;
        std::string expected = fmt::format("{} supersteps:", 3 * a_test + 2);
        for (std::uint32_t i = 0; i < tiles; ++i) expected += " 2";
        CAPTURE(tiles);
        CAPTURE(tile);
        CHECK(run(counting(left), {}, supersteps) == expected);
      }
    }
  }

  TEST_CASE("the supersteps of a loop are named after it and cost the same in every turn") {
    // Steps: spread 0, decide 1 (in the superstep of the exchange), work 2.
    const auto steps = [](const RunResult& result) {
      std::string text;
      for (const SuperstepRecord& step : result.steps)
        text += fmt::format("{} ", step.program_step);
      return text + "|";
    };
    CHECK(run(counting({3, 0}), {}, steps) == "0 2 0 2 0 2 0 | 3 3");
    const auto times = [](const RunResult& result) {
      const auto cycles = [&](std::size_t i) { return result.steps.at(i).time.total().count(); };
      const bool same = cycles(2) == cycles(4) && cycles(3) == cycles(5);
      return std::string(same ? "the same" : "not the same");
    };
    CHECK(run(counting({9, 0}), {}, times) == "the same 9 9");
    const auto images =
        sample::compile(counting(std::vector<std::uint32_t>(70, 0)).program, sample::machine(70));
    std::string names;
    for (const program::StepInfo& step : images.steps) names += step.name + ", ";
    CHECK(names == "loop: gather, loop: reduce, loop: spread, loop: decide, work, ");
  }

  TEST_CASE("a loop that never ends runs into the cycle limit") {
    RunOptions options{.max_cycles = 20'000};
    const std::string text = run(counting({1, 0}, false), options);
    CHECK(text.find("exit 3: tiles ran past the limit of 20000 cycles") == 0);
  }

  TEST_CASE("a tile that decides otherwise than its zone is named with another") {
    // Tile 2 gets the address of a zero word for its decision.
    const auto spoil = [](program::Images& images) {
      program::Segment& data = images.tiles[2].segments.at(0);
      const std::uint32_t zeros = 16U * 1024 - 8;
      std::memcpy(data.bytes.data() + data.bytes.size() - 24, &zeros, sizeof zeros);
    };
    const Counting sample = counting({1, 0, 0, 0});
    CHECK(run(sample, {}, {}, spoil) ==
          "exit 3: tiles of sync zone 0 branched apart: tile 0 waits before step 2 (work), tile 2 "
          "before no step");
  }

  TEST_CASE("a loop is predicted for the turns that are expected") {
    for (const std::uint32_t tiles : {1U, 2U, 30U, 70U, 131U})
      for (const std::uint32_t turns : {0U, 1U, 9U}) {
        CAPTURE(tiles);
        CAPTURE(turns);
        const std::vector<std::uint32_t> left(tiles, turns);
        MeasuredCosts costs(sample::machine(tiles));
        const Prediction predicted =
            plan::Pricing(costs).time(described(left, true, turns), std::vector<plan::Tile>{0});
        const auto found = [&](const RunResult& result) {
          const auto near = [](std::uint64_t expected, Cycle simulated) {
            const std::uint64_t cycles = simulated.count();
            return 20 * cycles >= 19 * expected && 20 * cycles <= 21 * expected;
          };
          const TimeParts& time = result.time;
          return std::string(near(predicted.cycles, time.total()) &&
                                     predicted.sync_cycles == time.sync.count()
                                 ? "near"
                                 : fmt::format("{} of {}", time.total().count(), predicted.cycles));
        };
        std::string expected = "near";
        for (std::uint32_t i = 0; i < tiles; ++i) expected += fmt::format(" {}", turns);
        CHECK(run(counting(left), {}, found) == expected);
      }
  }
}
