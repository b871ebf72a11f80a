#include "sim/machine/nodes.h"

#include <doctest/doctest.h>

#include "tests/models/sample_machine.h"
#include "tests/refusal.h"

using namespace tessera;

/// Machines with several classes of nodes.
namespace {

using program::BufferId;
using program::Executor;
using program::Program;
using sample::add_words;

/// Two compute tiles, two memory nodes without workers, one tile with twelve workers.
MachineConfig machine() {
  MachineConfig config = sample::machine(2);
  NodeConfig memory{"memory", 2, config.tile, {}};
  memory.tile.sram_kib = 64;
  memory.tile.contexts = 0;
  memory.ports = {{PortConfig::Direction::send, 4, 2}, {PortConfig::Direction::receive, 4, 1}};
  NodeConfig large{"large", 1, config.tile, {}};
  large.tile.contexts = 12;
  config.nodes = {memory, large};
  return config;
}

program::Vertex call(Program& program, std::uint32_t tile, Executor executor,
                     program::Codelet codelet, BufferId from, BufferId to) {
  program::Vertex vertex{TileId{tile}, program.add_codelet(std::move(codelet)), executor, 0, {}};
  vertex.arguments = {program::Place{from}, program::Place{to}};
  return vertex;
}

std::string error_of(const MachineConfig& config, const Program& program,
                     const std::function<void(program::Images&)>& spoil = {}) {
  return sample::run(
      config, program, {}, [](const Simulation&, const RunResult&) { return "no error"; }, spoil);
}

/// The error of running `code` on node `tile` in place of its own program.
std::string fault_of(const MachineConfig& config, std::uint32_t tile,
                     const std::function<void(program::Assembler&)>& code) {
  return error_of(config, Program(node_count(config)), [&](program::Images& images) {
    auto image = std::make_shared<program::CodeImage>();
    program::Assembler out;
    code(out);
    out.control(0);
    image->bytes = out.take();
    images.tiles[tile].code = image;
  });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("nodes that a program does not name end at once and change nothing") {
    const auto run = [](const MachineConfig& config) {
      return sample::run(config, sample::ring(2, 3).program, {},
                         [](const Simulation&, RunResult result) {
                           std::string text = fmt::format("{} tiles\n", result.tiles.size());
                           while (result.tiles.size() > 2 && result.tiles.back().instructions == 0)
                             result.tiles.pop_back();
                           return text + sample::text(result);
                         });
    };
    const std::string alone = run(sample::machine(2));
    const std::string beside = run(machine());
    REQUIRE(alone.starts_with("2 tiles"));
    REQUIRE(beside.starts_with("5 tiles"));
    CHECK(alone.substr(1) == beside.substr(1));
  }

  TEST_CASE("workers are refused where there are none, by the compiler and by the tile") {
    const MachineConfig config = machine();
    Program program(3);
    const BufferId word = add_words(program, 2, 4, 0);
    program.main().steps = {{program::ComputeSet{
        "work", {call(program, 2, Executor::all_workers, sample::spin_and_store(), word, word)}}}};
    CHECK(error_of(config, program) ==
          "exit 2: program: work: a vertex for workers on tile 2 (memory), which has none: its "
          "supervisor alone runs there");
    const auto expect = [&](const std::function<void(program::Assembler&)>& code) {
      const std::string found = fault_of(config, 2, code);
      CAPTURE(found);
      CHECK(
          found.starts_with("exit 2: tile 2 (memory), supervisor: there are no workers on nodes "
                            "of its class\n"));
    };
    expect([](program::Assembler& out) {
      out.run(program::Reg::zero, program::Reg::zero, program::Reg::zero);
    });
    expect([](program::Assembler& out) { out.control(1); });
    expect([](program::Assembler& out) { out.emit({.mnemonic = isa::Mnemonic::ldcw}); });
  }

  TEST_CASE("a buffer may fill the SRAM of its class, and no more") {
    const MachineConfig config = machine();
    const auto filled = [&](std::uint32_t tile, std::uint32_t kib) {
      Program program(node_count(config));
      add_words(program, tile, std::uint64_t{kib} * 1024, 7);
      return error_of(config, program);
    };
    CHECK(filled(2, 63) == "no error");
    const std::string found = filled(3, 65);
    CHECK(found.starts_with("exit 2: the program does not fit: tile 3 (memory) needs "));
    CHECK(test::holds(found, " bytes of 65536 (machine.nodes[0].tile.sram_kib = 64), "));
    const std::string small = filled(1, 17);
    CHECK(small.starts_with("exit 2: the program does not fit: tile 1 needs "));
    CHECK(test::holds(small, " bytes of 16384 (machine.tile.sram_kib = 16), "));
  }
}
