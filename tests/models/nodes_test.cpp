#include "sim/machine/nodes.h"

#include <doctest/doctest.h>

#include "tests/models/sample_machine.h"
#include "tests/refusal.h"

using namespace tessera;

/// Machines with nodes of several classes.
namespace {

using program::BufferId;
using program::Executor;
using program::Program;
using sample::add_words;

/// Two compute tiles, two memories without workers, one tile with twelve workers.
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

/// The first word of memory 2 goes to all tiles that compute; each adds one, so does the memory's
/// supervisor.
struct Spread {
  Program program;
  std::vector<BufferId> results;
};
Spread spread(std::uint32_t nodes) {
  Spread spread{Program(nodes), {}};
  Program& program = spread.program;
  const BufferId source = add_words(program, 2, 4000, 41);
  program::Exchange pass{"pass", {}};
  program::ComputeSet work{"work", {}};
  for (const std::uint32_t tile : {0U, 1U, 2U, 4U}) {
    if (tile >= nodes) continue;
    const BufferId word = tile == 2 ? source : add_words(program, tile, 4000, 0);
    spread.results.push_back(add_words(program, tile, 4, 0));
    if (tile != 2) pass.copies.push_back({{source}, 4000, {{word}}});
    work.vertices.push_back(tile == 2
                                ? call(program, tile, Executor::supervisor,
                                       sample::spin_and_return(), word, spread.results.back())
                                : call(program, tile, Executor::all_workers,
                                       sample::spin_and_store(), word, spread.results.back()));
  }
  program.main().steps = {{pass}, {work}};
  return spread;
}

std::string error_of(const MachineConfig& config, const Program& program,
                     const std::function<void(program::Images&)>& spoil = {}) {
  return sample::run(
      config, program, {}, [](const Simulation&, const RunResult&) { return "no error"; }, spoil);
}

/// `code` as the program of node `tile`, instead of its own.
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
  TEST_CASE("nodes of every class run their programs, alike on any number of host threads") {
    const MachineConfig config = machine();
    const Spread made = spread(node_count(config));
    std::string first;
    for (const unsigned threads : {1U, 2U, 3U}) {
      const std::string found = sample::run(
          config, made.program,
          {.threads = threads, .check_races = true, .tile_steps = 100, .shuffle = threads},
          [&](const Simulation& machine, const RunResult& result) {
            return sample::text(result) + sample::words_of(machine, made.results);
          });
      CHECK(found.ends_with(" 42 42 42 42"));
      if (first.empty()) first = found;
      CHECK(found == first);
    }
    CHECK(!test::holds(first, "exit"));
  }

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

  TEST_CASE("nodes that are stuck are named with their class and what they wait for") {
    const MachineConfig config = machine();
    Program program(4);
    program.part({0, 0, 1, 2});
    std::vector<program::ExchangeId> pass;
    pass.reserve(2);
    for (int i = 0; i < 2; ++i)
      pass.push_back(program.add_exchange(
          {"pass", {{{add_words(program, 2, 4, 0)}, 4, {{add_words(program, 3, 4, 0)}}}}}));
    for (const std::uint32_t zone : {1U, 2U})
      program.steps(zone).steps = {{program::Start{pass[zone - 1]}},
                                   {program::Wait{pass[zone - 1]}},
                                   {program::Start{pass[2 - zone]}},
                                   {program::Wait{pass[2 - zone]}}};
    const std::string found = error_of(config, program);
    CAPTURE(found);
    CHECK(found.starts_with("exit 3: no progress: nothing will release the tiles that wait\n"));
    test::check_holds(found,
                      {"  tile 2 (memory): in exchange 0, waiting for 1 of 2 participants since",
                       "  tile 3 (memory): in exchange 1, waiting for 1 of 2 participants since"});
    CHECK(!test::holds(found, "large"));  // it waits for nobody
  }
}
