#include "models/tile/shared_pipeline.h"

#include <numeric>

#include <doctest/doctest.h>

#include "sim/isa/registers.h"
#include "tests/models/memory/random_external.h"
#include "tests/models/tile/lone_tile.h"
#include "tests/models/tile/plain_tile.h"
#include "tests/sim/engine/random_path.h"

namespace tessera {
namespace {

using engine::test::PathMaker;
using engine::test::RandomPath;

constexpr std::uint32_t kData = 0x2000;

std::uint64_t transfers_seen = 0;  ///< by compare()

TileConfig pipeline(IssueKind issue, std::uint32_t contexts, std::uint32_t reissue_cycles = 0) {
  TileConfig tile{
      .sram_kib = 16, .contexts = contexts, .issue = issue, .reissue_cycles = reissue_cycles};
  return tile;
}

/// The cycles of all workers by reason.
Stalls stalls_of(LoneTile& lone) {
  lone.loaded().finish(true);
  Stalls sum;
  for (const Workers::CodeletStalls& each : lone.loaded().workers()->stalls()) sum += each.measured;
  return sum;
}

/// The instructions that a supervisor executes from its code in [begin, end).
std::vector<Executed> supervisor_path(LoneTile& lone, std::uint32_t begin, std::uint32_t end) {
  std::vector<Executed> path;
  for (std::uint32_t pc = begin; pc < end; pc += 4)
    path.push_back({lone.instruction(pc), pc, !path.empty(), false});
  return path;
}

/// External memory of a tile, with DMA for its workers.
ExternalConfig random_memory(std::mt19937& random) {
  const sample::Draw one_of = [&random](std::initializer_list<std::uint32_t> values) {
    return values.begin()[random() % values.size()];
  };
  ExternalConfig external = sample::random_external(one_of);
  external.reach = ExternalReach::tile;
  external.worker_dma = WorkerDmaConfig{};
  return external;
}

/// Compares with PlainTile: a supervisor launches random workers one after the other, with nops in
/// between, and joins. Loops have up to `most` iterations; `transfers` percent of the instructions
/// are external-memory transfers.
void compare(std::uint32_t seed, IssueKind kind, int most = 40, int transfers = 0) {
  std::mt19937 random(seed);
  TileConfig tile = engine::test::random_pipeline(seed);
  tile.issue = kind;
  tile.contexts = 1 + seed % 5;
  if (kind == IssueKind::revolver)
    tile.reissue_cycles = 1 + static_cast<std::uint32_t>(random() % 12);
  tile.sram_kib = 16;
  LoneTile lone(tile);
  PlainTile plain(tile);
  std::vector<std::byte> outside(1U << 20);
  if (transfers > 0) {
    const ExternalConfig external = random_memory(random);
    const double clock_ghz = 0.5 + 0.25 * static_cast<double>(random() % 4);
    lone.reach(external, clock_ghz, outside);
    plain.reach(external, clock_ghz);
  }
  std::vector<RandomPath> paths;
  std::vector<std::uint32_t> entries;
  for (std::uint32_t w = 0; w < tile.contexts; ++w) {
    paths.push_back(
        PathMaker(seed * 100 + w, most, transfers).make(5 + static_cast<int>(random() % 40)));
    entries.push_back(lone.worker(paths.back().code));
  }
  lone.supervisor();
  std::vector<std::uint32_t> pieces{lone.code().here()};
  lone.code().load_immediate(program::Reg::a0, kData);
  for (std::uint32_t w = 0; w < tile.contexts; ++w) {
    lone.nops(static_cast<std::uint32_t>(random() % 20));
    lone.run(entries[w], w);
    pieces.push_back(lone.code().here());
  }
  lone.join();
  pieces.push_back(lone.code().here());
  lone.end();

  PlainContext& supervisor = plain.start(tile.contexts, {}, 0);
  std::vector<const PlainContext*> workers;
  std::uint64_t now = 0;
  std::uint64_t running = 0;  // sum of all workers' cycles
  for (std::uint32_t w = 0; w <= tile.contexts; ++w) {
    supervisor.extend(supervisor_path(lone, pieces[w], pieces[w + 1]));
    now = plain.finish(supervisor);
    if (w == tile.contexts) break;
    now += tile.supervisor.launch_cycles;
    workers.push_back(&plain.start(w, paths[w].path, now));
    running -= now;
    supervisor.start(now);
  }
  for (const PlainContext* worker : workers) {
    running += plain.finish(*worker);
    now = std::max(now, worker->end());
  }
  const std::uint64_t end = (tile.slots.plain - 1) * std::max(1U, tile.reissue_cycles) + 1;
  CHECK(lone.cycles() == now + tile.supervisor.join_cycles + end);
  const Stalls stalls = stalls_of(lone);
  CHECK(std::accumulate(stalls.cycles.begin(), stalls.cycles.end(), std::uint64_t{0}) == running);
  CHECK(stalls.cycles[Stalls::issued] + stalls.cycles[Stalls::paired] == plain.issued());
  CHECK((stalls.cycles[Stalls::external] > 0) <= (plain.transfers() > 0));
  transfers_seen += plain.transfers();
}

TEST_SUITE("timing") {
  TEST_CASE("workers of a shared pipeline end as in a tile that is stepped cycle by cycle") {
    for (const IssueKind kind : {IssueKind::revolver, IssueKind::interleaved})
      for (std::uint32_t seed = 0; seed < 200; ++seed) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(seed);
        compare(seed, kind, seed % 5 == 0 ? 2000 : 40);
      }
  }

  TEST_CASE("workers that move bytes to and from outside end as in a tile that is stepped") {
    transfers_seen = 0;
    for (const IssueKind kind : {IssueKind::revolver, IssueKind::interleaved})
      for (std::uint32_t seed = 0; seed < 300; ++seed) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(seed);
        compare(seed, kind, seed % 3 == 0 ? 2000 : 40, 1 + static_cast<int>(seed % 4) * 15);
      }
    CHECK(transfers_seen > 3000);
  }

  TEST_CASE("the parts of a worker's cycles sum to all of them") {
    TileConfig tile = pipeline(IssueKind::interleaved, 3);
    tile.latency.integer = 2;
    LoneTile lone(tile);
    const RandomPath path = PathMaker(3).make(100);
    const std::uint32_t entry = lone.worker(path.code);
    lone.run_all(entry, kData);
    lone.cycles();
    lone.loaded().finish(true);
    REQUIRE(lone.loaded().workers()->stalls().size() == 1);
    const Workers::CodeletStalls& found = lone.loaded().workers()->stalls().front();
    CHECK(found.pc == entry);
    CHECK(found.measured.cycles[Stalls::issued] + 2 * found.measured.cycles[Stalls::paired] ==
          3 * path.path.size());
    CHECK(found.measured.cycles[Stalls::arithmetic] > 0);
    CHECK(found.measured.cycles[Stalls::arbitration] > 0);
  }

  TEST_CASE("a worker that reads the cycle counter sees the cycle of its issue") {
    using namespace engine::test;
    LoneTile lone(pipeline(IssueKind::revolver, 2, 4));
    const std::uint32_t entry =
        lone.worker({i_type(csrrs, 5, 0, 0xcc0), i_type(slli, 5, 5, 3),
                     r_type(isa::Mnemonic::add, 5, 5, 10), i_type(csrrs, 6, 0, 0xc00),
                     i_type(csrrs, 7, 0, 0xc00), s_type(sw, 6, 5, 0), s_type(sw, 7, 5, 4), end()});
    lone.run_all(entry, kData);
    lone.cycles();
    const auto first = lone.read<std::uint32_t>(kData);
    CHECK(lone.read<std::uint32_t>(kData + 4) == first + 4);
    CHECK(lone.read<std::uint32_t>(kData + 8) == first + 1);
    CHECK(lone.read<std::uint32_t>(kData + 12) == first + 5);
  }

  TEST_CASE("under single a run is a call") {
    LoneTile lone(pipeline(IssueKind::single, 1));
    const std::uint32_t idle = lone.idle_worker(50);
    lone.supervisor();
    lone.run(idle, 0);
    lone.nops(10);
    lone.join();
    lone.end();
    CHECK(lone.cycles() == 3 + 6 + 50 + 10 + 6 + 1);
  }
}

}  // namespace
}  // namespace tessera
