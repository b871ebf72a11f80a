#include "sim/program/fingerprint.h"

#include <set>

#include <doctest/doctest.h>

#include "sim/program/image.h"
#include "tests/sim/program/samples.h"

using namespace tessera;
using namespace tessera::program;

namespace {

using Change = std::function<void(Program&)>;

/// A program with one step of each kind, in two loops.
Program sample(const Change& change = {}) {
  Program program(2);
  samples::add_codelet(program, "one", 24);
  const BufferId a = samples::add_initialised(program, 0, 64);
  const BufferId b = samples::add_kept(program, 1, 64);
  const BufferId flags[] = {samples::add_initialised(program, 0, 4),
                            samples::add_initialised(program, 1, 4)};
  ComputeSet set{"set", {{TileId{0}, 0, Executor::all_workers, 0, {Place{a}, 7U}}}};
  Exchange exchange{"exchange", {{{a, 0}, 16, {{b, 0}, {b, 16}}}, {{b, 32}, 8, {{a, 32}}}}};
  Exchange transfer{"transfer",
                    {},
                    {},
                    kEveryStart,
                    HostTransfer{HostTransfer::Direction::read,
                                 {{{a}, 16, [](std::span<std::byte>, std::uint64_t) {}}}}};
  Repeat repeat{3, {{{set}, {exchange, false}}}};
  While loop{"while", {{{set}}}, {{{exchange}}}, {{flags[0]}, {flags[1]}}};
  program.main().steps = {{set}, {exchange}, {transfer}, {repeat}, {loop}};
  if (change) change(program);
  return program;
}

template <class Action>
Action& action(Program& program, std::size_t step) {
  return std::get<Action>(program.main().steps[step].action);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("programs that differ in anything have different fingerprints") {
    const std::vector<Change> changes = {
        {},
        [](Program& p) {
          p.add_codelet({"two", {}});
        },
        [](Program& p) { p.start_workers(2); },
        [](Program& p) { samples::add_buffer(p, 0, 4); },
        [](Program& p) { samples::add_buffer(p, 1, 4); },
        [](Program& p) { samples::add_kept(p, 0, 4); },
        [](Program& p) { samples::add_initialised(p, 0, 4); },
        [](Program& p) { p.main().steps.pop_back(); },
        [](Program& p) { p.main().steps[0].measured = false; },
        [](Program& p) { std::swap(p.main().steps[0], p.main().steps[1]); },
        [](Program& p) { action<ComputeSet>(p, 0).vertices[0].worker = 1; },
        [](Program& p) { action<ComputeSet>(p, 0).vertices[0].arguments[1] = 8U; },
        [](Program& p) { action<ComputeSet>(p, 0).vertices[0].arguments.emplace_back(0U); },
        [](Program& p) { action<ComputeSet>(p, 0).vertices[0].executor = Executor::supervisor; },
        [](Program& p) { action<Exchange>(p, 1).copies[0].bytes = 8; },
        [](Program& p) { action<Exchange>(p, 1).copies[0].source.offset = 4; },
        [](Program& p) { action<Exchange>(p, 1).copies[0].destinations.pop_back(); },
        [](Program& p) { action<Exchange>(p, 1).copies.pop_back(); },
        [](Program& p) { action<Exchange>(p, 1).name = "other"; },
        [](Program& p) { action<Exchange>(p, 2).host->pieces[0].bytes = 8; },
        [](Program& p) { action<Exchange>(p, 2).host->direction = HostTransfer::Direction::write; },
        [](Program& p) { action<Exchange>(p, 2).host.reset(); },
        [](Program& p) { action<Exchange>(p, 2).turns.count = 4; },
        [](Program& p) { action<Repeat>(p, 3).count = 4; },
        [](Program& p) { action<Repeat>(p, 3).body.steps.pop_back(); },
        [](Program& p) { action<While>(p, 4).decisions[1].offset = 4; },
        [](Program& p) { std::swap(action<While>(p, 4).test, action<While>(p, 4).body); },
    };
    std::set<Fingerprint> seen;
    for (const Change& change : changes) seen.insert(fingerprint(sample(change)));
    CHECK(seen.size() == changes.size());
    CHECK(fingerprint(sample()) == fingerprint(sample()));
  }

  TEST_CASE("programs are compiled alike for machines that a compiler cannot tell apart") {
    MachineConfig machine = samples::machine(2);
    machine.tile.contexts = 4;
    machine.tile.worker_stack_bytes = 64;
    machine.tile.supervisor_stack_bytes = 128;
    machine.tile.latency.load = 9;
    machine.tile.issue = IssueKind::interleaved;
    machine.tile.matrix_unit = {};
    machine.sync.chip_cycles = 7;
    const Program program = sample();
    const Images given = compile(program, machine, samples::CountingExchanges());
    const Images kept = compile(program, compiled_for(machine), samples::CountingExchanges());
    for (std::size_t tile = 0; tile < given.tiles.size(); ++tile) {
      CHECK(given.tiles[tile].code->bytes == kept.tiles[tile].code->bytes);
      CHECK(given.tiles[tile].memory == kept.tiles[tile].memory);
      CHECK(given.tiles[tile].segments.size() == kept.tiles[tile].segments.size());
    }
    const ResourceUsage asked = resource_usage(program, machine, samples::CountingExchanges());
    CHECK(asked.memory.max_bytes == summarise_memory(given).max_bytes);
    CHECK(asked.steps.size() == given.steps.size());
  }
}
