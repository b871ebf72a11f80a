#include "models/tile/tile.h"

#include <set>
#include <utility>

#include <doctest/doctest.h>

#include "tests/models/tile/lone_tile.h"

using namespace tessera;

namespace {

/// Cycles of: run `slots` on all workers, `between` plain instructions, join, end.
std::uint64_t launch_and_join(std::uint32_t slots, std::uint32_t between, std::uint32_t stagger = 0,
                              IssueKind issue = IssueKind::barrel) {
  LoneTile tile;
  tile.config().issue = issue;
  if (tile.config().issue == IssueKind::single) tile.config().contexts = 1;
  tile.config().supervisor.launch_stagger_cycles = stagger;
  const std::uint32_t worker = tile.idle_worker(slots);
  tile.supervisor();
  tile.run(worker, kAll);
  tile.nops(between);
  tile.join();
  tile.end();
  return tile.cycles();
}

constexpr std::uint64_t kSetUp = 3;  // instructions before `run`
constexpr std::uint64_t kEnd = 1;

}  // namespace

TEST_SUITE("timing") {
  TEST_CASE("a worker takes contexts x slots between launch and join") {
    CHECK(launch_and_join(10, 0) == kSetUp + 6 + 60 + 6 + kEnd);
    CHECK(launch_and_join(11, 0) == kSetUp + 6 + 66 + 6 + kEnd);
  }

  TEST_CASE("a worker that returns ends as by xctl, and does so every time it is run") {
    const auto end_of = [](bool returns) {
      LoneTile lone;
      const std::uint32_t worker =
          returns ? lone.worker({{.mnemonic = isa::Mnemonic::addi, .rd = 5, .rs1 = 5, .imm = 1},
                                 {.mnemonic = isa::Mnemonic::jalr, .rd = 5, .rs1 = 1},
                                 {.mnemonic = isa::Mnemonic::xctl, .imm = 1}})
                  : lone.idle_worker(3);
      lone.supervisor();
      for (int i = 0; i < 2; ++i) {
        lone.run(worker, 2);
        lone.join();
      }
      lone.end();
      return run_ahead(lone.tile()).at;
    };
    CHECK(end_of(true) == end_of(false));
  }

  TEST_CASE("no worker of any seed begins with the random numbers of another") {
    std::set<std::pair<std::uint64_t, std::uint64_t>> states;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      LoneTile lone;
      lone.seed(seed);
      const std::uint32_t worker = lone.idle_worker(1);
      lone.supervisor();
      lone.run(worker, 0);
      lone.end();
      Tile& tile = lone.tile();
      run_ahead(tile);
      for (std::uint32_t i = 0; i < tile.workers()->count(); ++i) {
        const std::uint64_t* const random = tile.workers()->context(i).random;
        states.emplace(random[0], random[1]);
      }
    }
    CHECK(states.size() == 4 * 6);
  }

  TEST_CASE("a single context has a slot every cycle") {
    CHECK(launch_and_join(10, 0, 0, IssueKind::single) == kSetUp + 6 + 10 + 6 + kEnd);
  }

  TEST_CASE("supervisor instructions overlap with workers at one cycle each") {
    const std::uint64_t alone = launch_and_join(10, 0);
    CHECK(launch_and_join(10, 59) == alone);
    CHECK(launch_and_join(10, 60) == alone);
    CHECK(launch_and_join(10, 61) == alone + 1);
  }

  TEST_CASE("workers of one run start a stagger apart and join waits for the last") {
    CHECK(launch_and_join(10, 0, 7) == launch_and_join(10, 0) + 35);
  }

  TEST_CASE("a run waits for a worker that is still busy, others start at once") {
    for (const std::uint32_t second : {0U, 1U}) {
      LoneTile tile;
      const std::uint32_t worker = tile.idle_worker(10);
      tile.supervisor();
      tile.run(worker, 0);
      tile.run_to_end(worker, second);
      const std::uint64_t first_end = kSetUp + 6 + 60;
      const std::uint64_t last_end = second == 0 ? first_end + 6 + 60 : 2 * (kSetUp + 6) + 60;
      CHECK(tile.cycles() == last_end + 6 + kEnd);
    }
  }

  TEST_CASE("join without workers costs its own cycles, and a tile ends with its workers") {
    LoneTile idle;
    idle.supervisor();
    idle.join();
    idle.end();
    CHECK(idle.cycles() == 6 + kEnd);
    LoneTile busy;
    const std::uint32_t worker = busy.idle_worker(100);
    busy.supervisor();
    busy.run(worker, 3);
    busy.end();
    CHECK(busy.cycles() == kSetUp + 6 + 600);
  }

  TEST_CASE("ldcw copies words into the weight store at the load rate") {
    for (const std::uint32_t rate : {8U, 16U, 12U}) {
      LoneTile tile;
      tile.config().matrix_unit.weight_load_bytes_per_cycle = rate;
      tile.supervisor();
      tile.code().load_address(LoneTile::Reg::t0, 0x1000);
      // Words 3 to 12: imm[11:6] = count - 1, imm[5:0] = first word.
      tile.code().emit({.mnemonic = isa::Mnemonic::ldcw, .rs1 = 5, .imm = (9 << 6) | 3});
      tile.end();
      for (std::uint32_t i = 0; i < 10; ++i) tile.write(0x1000 + 8 * i, std::uint64_t{100} + i);
      CHECK(tile.cycles() == 2 + 6 + ceil_div(80U, rate) + kEnd);
      CHECK(tile.loaded().supervisor().x[5] == 0x1000 + 80);
    }
  }

  TEST_CASE("a barrier is left at its release and the superstep counts up") {
    LoneTile lone;
    lone.supervisor();
    lone.nops(4);
    lone.code().control(16);
    lone.nops(2);
    lone.end();
    Tile& tile = lone.tile();
    const Arrival arrival = run_ahead(tile);
    CHECK(arrival.kind == Arrival::Kind::sync);
    CHECK(arrival.zone == 0);
    CHECK(arrival.at == Cycle(5));
    CHECK(arrival.span.instructions == 5);
    tile.pass_barrier(Cycle(500), true);
    CHECK(tile.now() == Cycle(500));
    CHECK(tile.supervisor().superstep == 1);
    const Arrival last = run_ahead(tile);
    CHECK(last.kind == Arrival::Kind::done);
    CHECK(last.at == Cycle(503));
    tile.finish(true);
    CHECK(tile.statistics().compute == Cycle(5 + 3));
    CHECK(tile.statistics().sync == Cycle(495));
    CHECK(tile.statistics().instructions == 8);
  }

  TEST_CASE("a wait blocks until the exchange is done, first for the others, then for the bytes") {
    struct Case {
      std::uint64_t begin, done;
      std::uint64_t at, wait, exchange;
    };
    // The wait issues at 2 (after exch), so it continues at max(2, done) and ends one cycle later.
    for (const Case& c : {Case{50, 70, 71, 48, 20}, Case{1, 70, 71, 0, 68}, Case{1, 2, 3, 0, 0}}) {
      LoneTile lone;
      lone.supervisor();
      lone.code().start_exchange(LoneTile::Reg::a0);
      lone.code().wait_for_exchange(LoneTile::Reg::zero);
      lone.end();
      Tile& tile = lone.tile();
      const Arrival waiting = run_ahead(tile);
      CHECK(waiting.kind == Arrival::Kind::transfer);
      REQUIRE(tile.started().size() == 1);
      CHECK(tile.started().front().at == Cycle(1));
      tile.deliver(Address(0),
                   {Cycle(c.begin), Cycle(c.begin), Cycle(c.done), Bytes(8), Bytes(16)});
      const Arrival last = run_ahead(tile);
      CHECK(last.at == Cycle(c.at));
      CHECK(last.span.wait == Cycle(c.wait));
      CHECK(last.span.exchange == Cycle(c.exchange));
      tile.finish(true);
      CHECK(tile.statistics().received == Bytes(16));
    }
  }

  TEST_CASE("an exchange that is done before its wait costs nothing") {
    LoneTile lone;
    lone.supervisor();
    lone.code().start_exchange(LoneTile::Reg::a0);
    lone.code().control(16);
    lone.nops(30);
    lone.code().wait_for_exchange(LoneTile::Reg::zero);
    lone.end();
    Tile& tile = lone.tile();
    CHECK(run_ahead(tile).kind == Arrival::Kind::sync);
    tile.deliver(Address(0), {Cycle(1), Cycle(1), Cycle(110), Bytes(0), Bytes(0)});
    tile.pass_barrier(Cycle(100), true);
    const Arrival last = run_ahead(tile);
    CHECK(last.kind == Arrival::Kind::done);
    CHECK(last.at == Cycle(100 + 30 + 1 + 1));
    CHECK(last.span.exchange == Cycle(0));
  }
}
