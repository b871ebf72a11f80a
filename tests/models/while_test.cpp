#include <doctest/doctest.h>

#include "sim/program/any_flag.h"
#include "tests/models/in_child.h"
#include "tests/models/sample_machine.h"

using namespace tessera;
using program::Place;

namespace {

/// For worker 0: the word at argument 1 = the word at argument 0 (once) less 1, not below 0.
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

/// Adds 1 to the word at argument 0.
program::Codelet count_up() {
  program::Assembler code;
  code.load_word(program::Reg::t0, program::Reg::a0, 0);
  code.load_word(program::Reg::t1, program::Reg::t0, 0);
  code.add_immediate(program::Reg::t1, program::Reg::t1, 1);
  code.emit({.mnemonic = isa::Mnemonic::sw, .rs1 = 5, .rs2 = 6});
  code.control(0);
  return {"count_up", code.take()};
}

program::BufferId add_word(program::Program& program, std::uint32_t tile, std::uint32_t value,
                           std::string_view name) {
  program::Buffer word{};
  word.tile = TileId{tile};
  word.bytes = 4;
  word.keep = true;
  word.name = name;
  word.contents = [value](std::span<std::byte> bytes) {
    std::memcpy(bytes.data(), &value, sizeof value);
  };
  return program.add_buffer(word);
}

program::Vertex one_worker(std::uint32_t tile, std::uint32_t codelet, program::BufferId word) {
  return {TileId{tile}, codelet, program::Executor::one_worker, 0, {Place{word}}};
}

struct Counting {
  program::Program program;
  std::vector<program::BufferId> turns;  ///< of each tile: how often it ran the body
};

/// Each tile of `left` counts its word down in the body of a loop that ends when all are zero.
Counting counting(const std::vector<std::uint32_t>& left, bool counts_down = true) {
  const auto tiles = static_cast<std::uint32_t>(left.size());
  Counting made{program::Program(tiles), {}};
  const std::uint32_t down = made.program.add_codelet(count_down());
  const std::uint32_t up = made.program.add_codelet(count_up());
  program::ComputeSet work{"work", {}};
  std::vector<Place> flags;
  for (std::uint32_t i = 0; i < tiles; ++i) {
    const program::BufferId word = add_word(made.program, i, left[i], "left");
    made.turns.push_back(add_word(made.program, i, 0, "turns"));
    flags.push_back({word});
    if (counts_down) work.vertices.push_back(one_worker(i, down, word));
    work.vertices.push_back(one_worker(i, up, made.turns.back()));
  }
  const program::Sequence body{{{work}}};
  program::While loop = program::while_any(made.program, "loop", flags, body);
  made.program.main().steps = {{std::move(loop)}};
  return made;
}

std::string run(const Counting& sample, RunOptions options,
                const std::function<std::string(const RunResult&)>& view = {},
                const std::function<void(program::Images&)>& spoil = {}) {
  return in_child([&] {
    const MachineConfig config = sample::machine(sample.program.tiles());
    program::Images images = sample::compile(sample.program, config);
    if (spoil) spoil(images);
    options.check_races = true;
    Machine machine(config, sample.program, images, options);
    const RunResult result = machine.run();
    std::string text = view ? view(result) : "";
    for (const program::BufferId id : sample.turns) {
      std::uint32_t word = 0;
      machine.memory().read({id}, std::as_writable_bytes(std::span(&word, 1)));
      text += fmt::format(" {}", word);
    }
    return text;
  });
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

  TEST_CASE("neither threads nor the order of tiles change a loop on flags") {
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 0; i < 90; ++i) left.push_back(i * 7 % 5);
    const Counting sample = counting(left);
    const std::string expected = run(sample, {}, sample::text);
    CHECK(expected.find("exit") == std::string::npos);
    for (const unsigned threads : {2U, 3U}) {
      RunOptions options;
      options.threads = threads;
      options.shuffle = threads;
      CHECK(run(sample, options, sample::text) == expected);
    }
  }

  TEST_CASE("a loop that never ends runs into the cycle limit") {
    RunOptions options;
    options.max_cycles = 20'000;
    const std::string text = run(counting({1, 0}, false), options);
    CHECK(text.find("exit 3: tiles ran past the limit of 20000 cycles") == 0);
  }

  TEST_CASE("a tile that decides otherwise than its zone is named with another") {
    // Tile 2 is given the address of a word of zeros for its decision.
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
}
