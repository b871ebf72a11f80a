#include "tests/models/overlap/against_stepper.h"
#include "tests/refusal.h"

using namespace tessera;

namespace {

using program::BufferId;
using program::ExchangeId;
using program::Program;
using program::Start;
using program::Wait;

/// A buffer on a tile; its first word is the number of iterations of a call that reads it.
BufferId add_words(Program& program, std::uint32_t tile, std::uint32_t words, std::uint32_t first) {
  return sample::add_words(program, tile, std::uint64_t{4} * words, first);
}

program::Step spin(Program& program, std::uint32_t tile, BufferId words) {
  const std::uint32_t codelet = program.add_codelet(sample::spin_and_store());
  program::Vertex vertex{TileId{tile}, codelet, program::Executor::all_workers, 0, {}};
  vertex.arguments = {program::Place{words}, program::Place{add_words(program, tile, 1, 0)}};
  return {program::ComputeSet{"spin", {vertex}}};
}

std::string times(const RunResult& result) {
  std::string text;
  for (const SuperstepRecord& step : result.steps)
    text +=
        fmt::format("{} = {} + {} + {} + {} ({} ports), {} beside; ", step.time.total().count(),
                    step.time.compute.count(), step.time.exchange.count(), step.time.sync.count(),
                    step.time.wait.count(), step.time.port_wait.count(), step.overlapped.count());
  return text;
}

std::string run(const Program& program) {
  MachineConfig config = sample::machine(program.tiles());
  config.tile.sram_kib = 64;
  return sample::run(config, program, {.check_races = true},
                     [](const Simulation&, const RunResult& result) { return times(result); });
}

/// Two exchanges in flight together: from tile 0 to tile 1, and from `second_pair` to the next
/// tile. Exchange `awaited` is waited for first.
std::string two_exchanges(std::uint32_t second_pair, std::size_t awaited) {
  Program program(4);
  const auto pass = [&](std::uint32_t from) {
    return program.add_exchange(
        {"pass",
         {{{add_words(program, from, 1000, 0)}, 4000, {{add_words(program, from + 1, 1000, 0)}}}}});
  };
  const ExchangeId both[] = {pass(0), pass(second_pair)};
  program.main().steps = {{program::ComputeSet{"begin", {}}},
                          {Start{both[0]}},
                          {Start{both[1]}},
                          {Wait{both[awaited]}},
                          {Wait{both[1 - awaited]}}};
  return run(program);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("random programs of overlapping exchanges and zones run as cycle by cycle") {
    sample::check_seeds(0, 300);
  }

  TEST_CASE("computing hides an exchange that is in flight") {
    Program program(2);
    const BufferId from = add_words(program, 0, 1000, 0);
    const BufferId to = add_words(program, 1, 1000, 0);
    const ExchangeId pass = program.add_exchange({"pass", {{{from}, 4000, {{to}}}}});
    const program::Step work = spin(program, 0, add_words(program, 0, 1, 300));
    program.main().steps = {{Start{pass}}, work, {Wait{pass}}};
    // 100 + 4000 / 4 cycles on either tile: in parallel with the call on one, with a few
    // instructions of the supervisor on the other.
    CHECK(run(program) == "1955 = 1865 + 0 + 90 + 0 (0 ports), 1100 beside; ");
    program.main().steps = {{Start{pass}}, {Wait{pass}}, work};
    CHECK(run(program) == "3054 = 1865 + 1099 + 90 + 0 (0 ports), 0 beside; ");
  }

  TEST_CASE("exchanges in flight share the ports of their tiles, and others none") {
    CHECK(two_exchanges(0, 0) == "2294 = 7 + 2197 + 90 + 0 (0 ports), 2 beside; ");
    CHECK(two_exchanges(0, 1) == "2295 = 7 + 1100 + 90 + 1098 (1098 ports), 2200 beside; ");
    CHECK(two_exchanges(2, 0) == "1194 = 5 + 1099 + 90 + 0 (0 ports), 0 beside; ");
  }

  TEST_CASE("tiles that wait for each other's exchanges are named with what each waits for") {
    Program program(2);
    program.part({0, 1});
    std::array<ExchangeId, 2> pass;
    for (ExchangeId& each : pass)
      each = program.add_exchange(
          {"pass", {{{add_words(program, 0, 1, 0)}, 4, {{add_words(program, 1, 1, 0)}}}}});
    for (std::uint32_t zone = 0; zone < 2; ++zone)
      program.steps(zone).steps = {
          {Start{pass[zone]}}, {Wait{pass[zone]}}, {Start{pass[1 - zone]}}, {Wait{pass[1 - zone]}}};
    const std::string found = run(program);
    CHECK(found.find("exit 3: no progress: nothing will release the tiles that wait\n"
                     "  tile 0: in exchange 0, waiting for 1 of 2 participants since cycle") == 0);
    CHECK(test::holds(found, "  tile 1: in exchange 1, waiting for 1 of 2"));
  }
}
