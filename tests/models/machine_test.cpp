#include <doctest/doctest.h>

#include "models/simulation.h"
#include "tests/models/in_child.h"
#include "tests/models/sample_machine.h"

using namespace tessera;

namespace {

std::string run_ring(std::uint32_t tiles, std::uint32_t rounds,
                     const std::function<std::string(const RunResult&)>& view) {
  const sample::Ring ring = sample::ring(tiles, rounds);
  return sample::run(sample::machine(tiles), ring.program, {},
                     [&](const Simulation& machine, const RunResult& result) {
                       return view(result) + sample::words_of(machine, ring.words);
                     });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("words go around the ring, one more each round") {
    const auto nothing = [](const RunResult&) { return std::string(); };
    CHECK(run_ring(4, 1, nothing) == " 5 2 3 4");
    CHECK(run_ring(4, 6, nothing) == " 9 10 7 8");
  }

  TEST_CASE("the barrier takes its latency from the last arrival in every superstep") {
    const auto view = [](const RunResult& result) {
      std::string text;
      for (const SuperstepRecord& step : result.steps)
        text += fmt::format("{}:{} ", index(step.last_tile), step.time.sync.count());
      return text;
    };
    // Tile 2 spins longest in round 1, tile 0 in round 2 (it received tile 2's word); exchanges end
    // everywhere in the same cycle, so the lowest tile is named; a barrier closes the last one.
    CHECK(run_ring(3, 2, view) == "2:90 0:90 0:90 0:90  4 5 3");
  }

  TEST_CASE("memory that nothing has written is zero, or poisoned where races are looked for") {
    for (const bool check_races : {false, true}) {
      sample::Program program = sample::ring(2, 1).program;
      const program::BufferId undefined =
          sample::add_kept(program, 1, 4096);  // other buffers overlay parts of it
      const auto last_word = [&](const Simulation& machine, const RunResult&) {
        std::uint64_t word = 1;
        machine.memory().read({undefined, 4088}, std::as_writable_bytes(std::span(&word, 1)));
        return fmt::format("{:x}", word);
      };
      const std::string text =
          sample::run(sample::machine(2), program, {.check_races = check_races}, last_word);
      CHECK(text == std::string(check_races ? "ffffffffffffffff" : "0"));
    }
  }

  TEST_CASE("a process runs one machine after another, also behind one that failed") {
    const std::string text = in_child([] {
      std::string cycles;
      for (const std::uint64_t most : {1'000'000U, 1U, 1'000'000U, 1'000'000U}) {
        const MachineConfig config = sample::machine(4);
        const sample::Ring ring = sample::ring(4, 3);
        Simulation machine(config, ring.program, sample::compile(ring.program, config),
                           {.max_cycles = most});
        try {
          cycles += fmt::format("{} ", machine.run().time.total().count());
        } catch (const NoProgress&) {
          cycles += "stopped ";
        }
      }
      return cycles;
    });
    const std::string one = text.substr(0, text.find(' ') + 1);
    CHECK(text == one + "stopped " + one + one);
  }

  TEST_CASE("a program runs again on other inputs, in the time that follows") {
    const std::string text = in_child([&] {
      const MachineConfig config = sample::machine(3);
      const sample::Ring ring = sample::ring(3, 2);
      sample::Program several = ring.program;
      std::vector<program::BufferId> inputs;
      for (std::uint32_t i = 0; i < 3; ++i)
        inputs.push_back(
            several.add_buffer({.tile = TileId{i},
                                .bytes = 4,
                                .keep = true,
                                .contents = {},
                                .name = "inputs",
                                .inputs = [i](std::span<std::byte> bytes, std::uint32_t run) {
                                  bytes[0] = std::byte(10 * run + i);
                                }}));
      inputs.push_back(ring.words[0]);
      const program::Images images = sample::compile(several, config);
      Simulation machine(config, several, images, {});
      std::string seen;
      for (int run = 0; run < 3; ++run) {
        const RunResult result = run == 0 ? machine.run() : machine.run_again(several, images);
        Cycle sum;
        for (const RunRecord& record : result.runs) {
          check(record.cycles == result.runs[0].cycles, "a run takes another time");
          check(record.supersteps == 4, "{} supersteps", record.supersteps);
          sum += record.cycles;
        }
        check(sum == result.time.total(), "the runs do not sum to the time");
        check(result.steps.size() == 4 * result.runs.size(), "steps are missing");
        seen += sample::words_of(machine, inputs);
      }
      return seen;
    });
    CHECK(text == " 0 1 2 4 10 11 12 4 20 21 22 4");
  }
}
