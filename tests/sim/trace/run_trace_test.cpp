#include "sim/trace/run_trace.h"

#include <filesystem>
#include <functional>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/trace/recording.h"
#include "tests/folder.h"
#include "tests/refusal.h"
#include "tests/sim/trace/perfetto_reader.h"
#include "tests/sim/trace/vcd_reader.h"

using namespace tessera;
using test::check_holds;
using test::holds;

namespace {

namespace fs = std::filesystem;

trace::Settings settings(std::uint64_t most_bytes) {
  trace::Settings settings;
  settings.tiles = {TileId{1}};
  settings.most_bytes = most_bytes;
  settings.machine_tiles = 2;
  settings.contexts = 1;
  settings.cycle_femtoseconds = 1'000'000;
  return settings;
}

program::Images images() {
  auto code = std::make_shared<program::CodeImage>();
  code->symbols = {{Address(0), "work"}};
  program::Images images;
  images.tiles.resize(2);
  for (program::TileImage& tile : images.tiles) tile.code = code;
  images.steps.resize(1);
  images.steps[0].name = "a step";
  images.steps[0].live_bytes = 77;
  return images;
}

/// A superstep of 100 cycles: tile 0 arrives at 40; tile 1 is blocked from 10 to 30, arrives at 90.
void run_superstep(trace::RunTrace& trace, Cycle start) {
  trace.log(TileId{0}).arrived = start + Cycle(40);
  trace.log(TileId{1}).arrived = start + Cycle(90);
  trace.log(TileId{1}).blocked.push_back({start + Cycle(10), start + Cycle(15), start + Cycle(30)});
  trace.log(TileId{1}).workers.push_back({start + Cycle(50), start + Cycle(130), 0, 4});
  trace.transfer(start + Cycle(15), start + Cycle(30), Bytes(64), program::Carrier::fabric);
  SuperstepRecord record{};
  record.start = start;
  record.time.compute = Cycle(70);
  record.time.wait = Cycle(5);
  record.time.exchange = Cycle(15);
  record.time.sync = Cycle(10);
  record.last_tile = TileId{1};
  trace.close(record, true);
}

/// Both files of a trace written within its size limit, in a temporary folder.
struct Traced {
  test::Folder folder;
  program::Images built = images();

  /// `run` reports the events to the trace.
  void write(const std::function<void(trace::RunTrace&)>& run,
             std::uint64_t most_bytes = 1 << 20) const {
    trace::RunTrace trace(settings(most_bytes), built, folder.file("r"));
    run(trace);
    trace.commit();
  }
  [[nodiscard]] test::Vcd vcd() const { return test::read_vcd(folder.read("r/trace.vcd")); }
  [[nodiscard]] test::PerfettoTrace perfetto() const {
    return test::read_perfetto(folder.read("r/trace.pftrace"));
  }
};

constexpr std::uint64_t kCycle = 1'000'000;  // in VCD time units

/// The changes as "0 compute, 10 wait": cycles and values.
std::string text(const test::Vcd::Changes& changes) {
  std::string all;
  for (const auto& [time, value] : changes)
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", time / kCycle, value);
  return all;
}
std::string text(const std::map<std::uint64_t, std::int64_t>& samples) {
  return fmt::format("{}", fmt::join(samples, ", "));
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("spans between barriers are in order, also those of workers that cross one") {
    const Traced traced;
    traced.write([](trace::RunTrace& trace) {
      run_superstep(trace, Cycle(0));
      run_superstep(trace, Cycle(100));
    });
    const test::Vcd vcd = traced.vcd();
    CHECK(text(vcd.signals.at("tile_1.state")) ==
          "0 compute, 10 wait, 15 exchange, 30 compute, 90 sync, 100 compute, 110 wait, 115 "
          "exchange, 130 compute, 190 sync");
    CHECK(text(vcd.signals.at("tile_1.worker_0")) ==
          "0 idle, 50 work, 130 idle, 150 work, 230 idle");
    CHECK(vcd.signals.at("machine.step").front().second == "a_step");
    CHECK(text(vcd.signals.at("machine.sram_in_use_on_fullest_tile")) == "0 1001101");
    const auto counters = traced.perfetto().counters;
    CHECK(text(counters.at("machine/active tiles")) ==
          "(0, 2), (10, 1), (30, 2), (40, 1), (90, 0), (100, 2), (110, 1), (130, 2), (140, 1), "
          "(190, 0)");
    CHECK(text(counters.at("machine/bytes in flight")) == "(15, 64), (30, 0), (115, 64), (130, 0)");
  }

  TEST_CASE("a worker's waits for external memory are cut from its span and counted as in flight") {
    const Traced traced;
    traced.write([](trace::RunTrace& trace) {
      trace.log(TileId{1}).outside = {{Cycle(55), Cycle(60), Cycle(80), 0, Bytes(24)},
                                      {Cycle(90), Cycle(91), Cycle(100), 0, Bytes(8)}};
      run_superstep(trace, Cycle(0));
    });
    const test::Vcd vcd = traced.vcd();
    CHECK(text(vcd.signals.at("tile_1.worker_0")) ==
          "0 idle, 50 work, 55 external, 80 work, 90 external, 100 work, 130 idle");
    const auto counters = traced.perfetto().counters;
    CHECK(text(counters.at("machine/bytes of external memory in flight")) ==
          "(60, 24), (80, 0), (91, 8), (100, 0)");
  }

  TEST_CASE("supersteps of zones overlap, and late transfers begin before them, in order of time") {
    Traced traced;
    traced.built.zone_of = {0, 1};
    traced.write([](trace::RunTrace& trace) {
      const auto close = [&trace](std::uint32_t zone, Cycle start, Cycle end, bool ends = false) {
        const TileId tile{zone};
        trace.log(tile).arrived = end;
        trace.log(tile).then = ends ? trace::TileLog::Then::ended : trace::TileLog::Then::sync;
        SuperstepRecord record{};
        record.zone = zone;
        record.last_tile = tile;
        record.start = start;
        record.time.compute = end - start;
        trace.close(record, true);
      };
      trace.submitted(Cycle(15));
      close(0, Cycle(0), Cycle(10));
      close(0, Cycle(10), Cycle(20));
      close(1, Cycle(0), Cycle(35));
      close(1, Cycle(35), Cycle(50));
      close(0, Cycle(20), Cycle(60), true);
      // The transfer, for which no superstep waits, is reported only here.
      trace.transfer(Cycle(17), Cycle(55), Bytes(64), program::Carrier::memory);
      trace.finished(Cycle(15));
      trace.exchanged(
          std::vector<trace::Transfer>{{TileId{1}, TileId{1}, Cycle(17), Cycle(55), Bytes(64)}});
      close(1, Cycle(50), Cycle(70), true);
      close(1, Cycle(70), Cycle(80), true);  // it runs again
    });
    const test::Vcd vcd = traced.vcd();  // throws if time decreases
    CHECK(text(vcd.signals.at("zone_0.superstep")) == "0 0, 10 1, 20 100");
    CHECK(text(vcd.signals.at("zone_1.superstep")) == "0 10, 35 11, 50 101, 70 110");
    CHECK(text(vcd.signals.at("tile_1.receives")) == "17 +1:64, 55 -1:64");
    CHECK(text(vcd.signals.at("machine.external_bytes_in_flight")) == "17 1000000, 55 0");
    const auto counters = traced.perfetto().counters;
    const auto& active = counters.at("machine/active tiles");
    CHECK(active.at(0) == 2);
    CHECK(active.at(60) == 1);
    CHECK(active.rbegin()->second == 0);
    for (const char* file : {"r/trace.vcd", "r/trace.pftrace"}) {
      CAPTURE(file);
      const trace::Recording read = trace::read_trace(traced.folder.file(file));
      REQUIRE(read.zones.size() == 2);
      CHECK(read.zones.at(0).supersteps.size() == 3);
      REQUIRE(read.zones.at(1).supersteps.size() == 4);
      CHECK(read.zones.at(1).supersteps[1].begin == Cycle(35));
      CHECK(read.zones.at(1).supersteps[1].end == Cycle(50));
      CHECK(read.tiles.at(1).states.back().end == Cycle(80));
    }
  }

  TEST_CASE("beyond the limit tiles are left out, then all, and both files say since when") {
    const Traced traced;
    traced.write(
        [](trace::RunTrace& trace) {
          for (std::uint64_t i = 0; i < 1000; ++i) run_superstep(trace, Cycle(100 * i));
        },
        40'000);
    CHECK(fs::file_size(traced.folder.file("r/trace.vcd")) <= 40'000);
    CHECK(fs::file_size(traced.folder.file("r/trace.pftrace")) <= 40'000);
    const test::PerfettoTrace read = traced.perfetto();
    const auto tile = read.of("tiles/tile 1");
    const auto machine = read.of("machine/supersteps, phases of the last tile");
    REQUIRE(!tile.empty());
    CHECK(tile.back().end < machine.back().end);
    REQUIRE(read.instants.size() == 1);
    check_holds(read.instants[0],
                {fmt::format("tiles from cycle {} (", tile.back().end), "everything from cycle "});
    const test::Vcd vcd = traced.vcd();
    const auto& states = vcd.signals.at("tile_1.state");
    CHECK(states.back().second == "x");
    CHECK(vcd.signals.at("tile_1.worker_0").back().second == "x");
    const auto& step = vcd.signals.at("machine.step").back();
    CHECK(step.second == "x");
    CHECK(vcd.signals.at("machine.phase_of_last_tile").back() == step);
    const std::string from = fmt::format("everything from cycle {} on", step.first / kCycle);
    CHECK(holds(vcd.comments.back(), from));
    CHECK(holds(vcd.comments.back(),
                fmt::format("tiles from cycle {} (", states.back().first / kCycle)));
  }

  TEST_CASE("a run that stops shows how far each tile came, and why it stopped") {
    const Traced traced;
    traced.write([](trace::RunTrace& trace) {
      run_superstep(trace, Cycle(0));
      trace.log(TileId{0}).arrived = Cycle(160);
      trace.log(TileId{0}).then = trace::TileLog::Then::compute;
      trace.log(TileId{1}).arrived = Cycle(140);
      trace.log(TileId{1}).then = trace::TileLog::Then::wait;
      trace.stop("nobody knows\nmore of it");
    });
    const test::PerfettoTrace read = traced.perfetto();
    CHECK(read.instants == std::vector<std::string>{"stopped: nobody knows"});
    const auto tile = read.of("tiles/tile 1");
    REQUIRE(tile.size() >= 2);
    CHECK(tile[tile.size() - 2].name == "compute");
    CHECK(tile[tile.size() - 2].end == 140);
    CHECK(tile.back().name == "wait");
    CHECK(tile.back().begin == 140);
    CHECK(tile.back().end == 160);
    const auto& active = read.counters.at("machine/active tiles");
    CHECK(active.rbegin()->first == 140);
    CHECK(active.rbegin()->second == 1);
    const test::Vcd vcd = traced.vcd();
    CHECK(vcd.signals.at("machine.step").back() == std::pair(100 * kCycle, std::string("stopped")));
    CHECK(vcd.signals.at("tile_1.state").back() == std::pair(140 * kCycle, std::string("wait")));
    CHECK(vcd.signals.at("machine.phase_of_last_tile").back() ==
          std::pair(160 * kCycle, std::string("x")));
    CHECK(vcd.comments.back() == "stopped: nobody knows");
    const trace::Recording ours = trace::read_trace(traced.folder.file("r/trace.vcd"));
    CHECK(ours.zones.at(0).supersteps.back().end == Cycle(160));
    CHECK(ours.zones.at(0).phases.back().end == Cycle(160));
    CHECK(ours.tiles.at(1).states.back().end == Cycle(160));
  }

  TEST_CASE("uncommitted files leave nothing") {
    const test::Folder folder;
    const program::Images built = images();
    {
      trace::RunTrace trace(settings(1 << 20), built, folder.file("r"));
      run_superstep(trace, Cycle(0));
      CHECK(folder.has("r"));
    }
    CHECK(!folder.has("r"));
  }
}
