#include "models/costs/program_activity.h"

#include <cstring>

#include <doctest/doctest.h>

#include "sim/program/assembler.h"

using namespace tessera;
using program::BufferId;
using program::Place;
using program::Reg;

namespace {

/// Loads the word at argument 0 and runs that many iterations of adding one.
program::Codelet count_up() {
  program::Assembler code;
  code.load_word(Reg::t0, Reg::a0, 0);
  code.load_word(Reg::t2, Reg::t0, 0);
  code.emit({.mnemonic = isa::Mnemonic::beq, .rs1 = 7, .rs2 = 0, .imm = 12});
  code.add_immediate(Reg::t1, Reg::t1, 1);
  code.emit({.mnemonic = isa::Mnemonic::bdnz, .rs1 = 7, .imm = -4});
  code.control(0);
  return {"count_up", code.take()};
}

/// Stores -1 to the buffer at argument 0.
program::Codelet store_ones() {
  program::Assembler code;
  code.load_word(Reg::t0, Reg::a0, 0);
  code.add_immediate(Reg::t1, Reg::zero, -1);
  code.emit({.mnemonic = isa::Mnemonic::sw, .rs1 = 5, .rs2 = 6});
  code.control(0);
  return {"store_ones", code.take()};
}

program::Step call(program::Program& program, program::Codelet codelet, BufferId buffer) {
  const std::uint32_t number = program.add_codelet(std::move(codelet));
  return {program::ComputeSet{
      "call", {{TileId{0}, number, program::Executor::one_worker, 0, {Place{buffer}}}}}};
}

/// Integer instructions of tile 0.
std::uint64_t integers(const program::Program& program) {
  MachineConfig machine{.tiles = program.tiles(), .has_energy = true};
  machine.energy.area.sram_mm2_per_mib = 1;
  machine.energy.sram_bank_kib = 32;
  RunResult result;
  ProgramActivity activity;
  CHECK(activity.estimate(program, program::fingerprint(program), machine, result));
  return result.activity[0].counts[isa::index(isa::Activity::integer)];
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a tile that is run alone gets what the host gives it, time after time") {
    const auto make = [](std::uint32_t first) {
      program::Program program(1);
      const BufferId word = program.add_buffer({TileId{0}, 4, 8, false, {}, {}, "word"});
      const auto give = [first](std::span<std::byte> into, std::uint64_t number) {
        const std::uint32_t value = first + 100 * static_cast<std::uint32_t>(number);
        std::memcpy(into.data(), &value, sizeof value);
      };
      program::Sequence body;
      body.steps.push_back({program::Exchange{
          "given",
          {},
          {},
          program::kEveryStart,
          program::HostTransfer{program::HostTransfer::Direction::read, {{{word}, 4, give}}}}});
      body.steps.push_back(call(program, count_up(), word));
      program.main().steps.push_back({program::Repeat{3, body}});
      return program;
    };
    CHECK(integers(make(20)) - integers(make(10)) == 3 * 10);
    CHECK(integers(make(20)) > 20 + 120 + 220);
  }

  TEST_CASE("data from other tiles are zeros, never remains of another buffer") {
    program::Program program(2);
    const BufferId scratch = program.add_buffer({TileId{0}, 4, 8, false, {}, {}, "scratch"});
    const BufferId source = program.add_buffer({TileId{1}, 4, 8, true, {}, {}, "source"});
    const BufferId word = program.add_buffer({TileId{0}, 4, 8, false, {}, {}, "word"});
    program.main().steps.push_back(call(program, store_ones(), scratch));
    program.main().steps.push_back({program::Exchange{"send", {{{source}, 4, {{word}}}}}});
    program.main().steps.push_back(call(program, count_up(), word));
    CHECK(integers(program) < 100);
  }
}
