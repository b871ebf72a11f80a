
#include <doctest/doctest.h>

#include "tests/models/sample_machine.h"
#include "tests/refusal.h"

using namespace tessera;

/// Streams between classes of nodes: bytes, ports, repetitions.
namespace {

using program::BufferId;
using program::Program;
using program::Stream;
using program::Walk;

/// Two tiles in two columns, with two memory tiles above them.
MachineConfig machine() {
  MachineConfig config = sample::machine(2);
  NodeConfig memory{"memory", 2, config.tile, {}};
  memory.tile.contexts = 0;
  config.nodes = {memory};
  config.fabric.kind = "streams";
  config.fabric.columns = 2;
  config.fabric.fixed_cycles = 10;
  config.sync.chip_cycles = 0;
  config.fabric.streams = {
      {.name = "down", .from = "memory", .along = StreamConfig::Along::column},
      {.name = "across", .from = "memory", .bytes_per_cycle = 2.5},
      {.name = "up", .to = "memory", .bytes_per_cycle = 8, .receive_ports = 2}};
  return config;
}

BufferId add_buffer(Program& program, std::uint32_t tile, std::uint32_t bytes, bool filled) {
  if (!filled) return sample::add_kept(program, tile, bytes);
  return sample::add_kept(program, tile, bytes, [](std::span<std::byte> to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::byte(i + 1);
  });
}

Walk all_of(BufferId buffer, std::uint32_t bytes) { return {{buffer}, bytes, {}, {}}; }

struct Found {
  std::uint64_t cycles;
  std::vector<std::vector<int>> bytes;
  std::string error;
};

/// Runs the program with race checks on several host threads; reads the buffers in `results`.
Found run(const MachineConfig& config, const Program& program,
          const std::vector<BufferId>& results) {
  Found found{};
  const auto view = [&](const Simulation& simulation, const RunResult& result) {
    std::string out = fmt::format("{} ", result.time.total().count());
    for (const BufferId id : results) {
      std::vector<std::byte> bytes(program.buffer(id).bytes);
      simulation.memory().read({id}, bytes);
      for (const std::byte byte : bytes) out += fmt::format("{} ", static_cast<int>(byte));
    }
    return out;
  };
  const std::string text =
      sample::run(config, program, {.threads = 2, .check_races = true, .shuffle = 3}, view);
  std::istringstream in(text);
  if (!(in >> found.cycles)) return {0, {}, text};
  for (const BufferId id : results) {
    std::vector<int>& bytes = found.bytes.emplace_back(program.buffer(id).bytes);
    for (int& byte : bytes) in >> byte;
  }
  return found;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a stream takes its bytes over its rate, and streams at one port follow each other") {
    const auto cycles_of = [](const std::vector<Stream>& streams, Program program) {
      program.main().steps = {{program::Exchange{"move", {}, {}, {}, {}, streams}}};
      const Found found = run(machine(), program, {});
      CHECK(found.error == "");
      return found.cycles;
    };
    Program program(4);
    const BufferId from = add_buffer(program, 2, 1000, true);
    const BufferId other = add_buffer(program, 3, 1000, true);
    const BufferId a = add_buffer(program, 0, 1000, false);
    const BufferId b = add_buffer(program, 0, 1000, false);
    const BufferId c = add_buffer(program, 1, 1000, false);
    const Walk source = all_of(from, 1000);
    const std::uint64_t none = cycles_of({{"down", source, {all_of(a, 1000)}}}, program) - 250;
    // ceil(1000 / 2.5); multicast; one sender twice; two senders to one tile; two to two
    CHECK(cycles_of({{"across", source, {all_of(a, 1000)}}}, program) == none + 400);
    CHECK(cycles_of({{"across", source, {all_of(a, 1000), all_of(c, 1000)}}}, program) ==
          none + 400);
    CHECK(cycles_of({{"across", source, {all_of(a, 1000)}}, {"across", source, {all_of(c, 1000)}}},
                    program) == none + 800);
    CHECK(cycles_of({{"across", source, {all_of(a, 1000)}},
                     {"across", all_of(other, 1000), {all_of(b, 1000)}}},
                    program) == none + 800);
    CHECK(cycles_of({{"across", source, {all_of(a, 1000)}},
                     {"across", all_of(other, 1000), {all_of(c, 1000)}}},
                    program) == none + 400);
    // Each kind of stream has its own ports; two receive ports take two streams at once.
    CHECK(cycles_of({{"across", source, {all_of(a, 1000)}}, {"down", source, {all_of(b, 1000)}}},
                    program) == none + 400);
    CHECK(cycles_of({{"up", all_of(a, 1000), {all_of(from, 1000)}},
                     {"up", all_of(c, 1000), {all_of(other, 1000)}}},
                    program) == none + 125);
  }

  TEST_CASE("a stream's walks, zeros and turns move the bytes that they name") {
    Program program(4);
    const BufferId from = add_buffer(program, 2, 24, true);  // 2 rows of 3 columns of 4 bytes
    const BufferId to = add_buffer(program, 0, 72, false);
    // Two of three columns in both rows, one zero column before and one zero row below: 3 x 3.
    Walk source{{from}, 4, {{1, 0}, {1, 0}, {2, 12, 0, 1}, {2, 4, 1, 0}}, {}};
    source.steps[0] = 4;
    // Adjacent columns are stored 12 bytes apart.
    Walk into{{to}, 4, {{1, 0}, {1, 0}, {3, 4}, {3, 12}}, {}};
    into.steps[0] = 36;
    program::Exchange exchange{"move", {}, {}, {}, {}, {{"down", source, {into}}}};
    exchange.turns.count = exchange.turns.radices[0] = 2;
    const program::ExchangeId id = program.add_exchange(exchange);
    program.main().steps = {{program::Repeat{2, {{{program::Start{id}}, {program::Wait{id}}}}}}};
    const Found found = run(machine(), program, {to});
    REQUIRE(found.error == "");
    std::vector<int> expected(72);
    for (int turn = 0; turn < 2; ++turn)
      for (int row = 0; row < 2; ++row)
        for (int column = 0; column < 2; ++column)
          for (int byte = 0; byte < 4; ++byte) {
            const int at = turn * 36 + (column + 1) * 12 + row * 4 + byte;
            expected[static_cast<std::size_t>(at)] = row * 12 + (column + turn) * 4 + byte + 1;
          }
    CHECK(found.bytes[0] == expected);
  }

  TEST_CASE("streams that do not lead where a program sends are our own bug, copies the user's") {
    Program program(4);
    const BufferId from = add_buffer(program, 2, 8, true);
    const BufferId to = add_buffer(program, 1, 8, false);
    program.main().steps = {
        {program::Exchange{"move", {}, {}, {}, {}, {{"down", all_of(from, 8), {all_of(to, 8)}}}}}};
    CHECK(test::holds(run(machine(), program, {}).error,
                      "streams down do not lead from tile 2 (memory) "
                      "to tile 1"));
    program.main().steps = {{program::Exchange{"move", {{{from}, 8, {{to}}}}}}};
    CHECK(test::holds(run(machine(), program, {}).error, "machine.fabric.kind: found streams"));
  }
}
