#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/report/table.h"
#include "tests/cli/command.h"
#include "tests/sim/trace/perfetto_reader.h"
#include "tests/sim/trace/vcd_reader.h"

using tessera::report::parse_table;
using tessera::report::Table;
using namespace tessera::test;

namespace {

constexpr std::uint64_t kCycleFemtoseconds = 540541;  // of 1.85 GHz
const std::string kSupersteps = "machine/supersteps, phases of the last tile";

/// A traced product with exchanges on 24 tiles.
Answer run_product(const CommandFolder& folder, const std::string& options) {
  Answer answer = folder.done(fmt::format(
      "run {}/configs/runs/quickstart.json --out result --set machine.tiles=24 --set workload.m=90 "
      "--set workload.n=70 --set workload.k=130 {}",
      TESSERA_SOURCE, options));
  return answer;
}

std::string without_host(const std::string& text) {
  Json report = parsed_json(text);
  report.erase("host");
  return report.dump(2);
}

/// The total cycles of a track's slices with one name.
double cycles(const std::vector<Slice>& slices, const std::string& name) {
  double sum = 0;
  for (const Slice& slice : slices)
    if (slice.name == name) sum += static_cast<double>(slice.arguments.at("cycles"));
  return sum;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("traces do not depend on the number of host threads, nor reports on traces") {
    const CommandFolder folder;
    run_product(folder, "--threads 1");
    const std::string report = without_host(folder.read("result/report.json"));
    const std::string steps = folder.read("result/steps.csv");
    CHECK(!folder.has("result/trace.pftrace"));
    run_product(folder, "--threads 1 --trace tiles");
    CHECK(report == without_host(folder.read("result/report.json")));
    CHECK(steps == folder.read("result/steps.csv"));
    const std::string perfetto = folder.read("result/trace.pftrace");
    const std::string vcd = folder.read("result/trace.vcd");
    for (const char* threads : {"--threads 2 --trace tiles", "--threads 3 --trace-tiles all"}) {
      run_product(folder, threads);
      CHECK(perfetto == folder.read("result/trace.pftrace"));
      CHECK(vcd == folder.read("result/trace.vcd"));
    }
    run_product(folder, "");
    CHECK(!folder.has("result/trace.pftrace"));
    CHECK(!folder.has("result/trace.vcd"));
  }

  TEST_CASE("the measured supersteps and the tiles' totals are those of the report's files") {
    const CommandFolder folder;
    run_product(folder, "--trace tiles");
    const PerfettoTrace trace = read_perfetto(folder.read("result/trace.pftrace"));
    const Table steps =
        parse_table(folder.read("result/steps.csv"), "steps.csv",
                    {"start_cycle", "cycles", "exchange_cycles", "instructions", "exchange_bytes"});
    std::vector<Slice> supersteps;
    double exchanging = 0;
    for (const Slice& slice : trace.of(kSupersteps)) {
      if (slice.arguments.count("measured") != 0 && slice.arguments.at("measured") == 1)
        supersteps.push_back(slice);
      if (slice.name == "exchange" && slice.arguments.count("measured") == 0)
        exchanging += static_cast<double>(slice.arguments.at("cycles"));
    }
    REQUIRE(supersteps.size() == steps.rows);
    double expected_exchanging = 0;
    for (std::size_t i = 0; i < steps.rows; ++i) {
      const auto& of = supersteps[i].arguments;
      CHECK(static_cast<double>(of.at("cycle")) == steps.at("start_cycle").values[i]);
      CHECK(static_cast<double>(of.at("cycles")) == steps.at("cycles").values[i]);
      CHECK(static_cast<double>(of.at("bytes")) == steps.at("exchange_bytes").values[i]);
      CHECK(static_cast<double>(of.at("instructions")) == steps.at("instructions").values[i]);
      CHECK(supersteps[i].begin == of.at("cycle") * kCycleFemtoseconds / 1'000'000);
      expected_exchanging += steps.at("exchange_cycles").values[i];
    }
    CHECK(exchanging == expected_exchanging);
    CHECK(exchanging > 0);
    const Table tiles = parse_table(folder.read("result/tiles.csv"), "tiles.csv",
                                    {"compute_cycles", "exchange_cycles", "sync_cycles"});
    const auto measured_from = supersteps.front().arguments.at("cycle");
    const auto measured_to =
        supersteps.back().arguments.at("cycle") + supersteps.back().arguments.at("cycles");
    for (std::size_t tile = 0; tile < tiles.rows; ++tile) {
      std::vector<Slice> measured;
      for (const Slice& slice : trace.of(fmt::format("tiles/tile {}", tile)))
        if (slice.arguments.at("cycle") >= measured_from &&
            slice.arguments.at("cycle") < measured_to)
          measured.push_back(slice);
      CHECK(cycles(measured, "compute") == tiles.at("compute_cycles").values[tile]);
      CHECK(cycles(measured, "sync") == tiles.at("sync_cycles").values[tile]);
      CHECK(cycles(measured, "exchange") + cycles(measured, "wait") ==
            tiles.at("exchange_cycles").values[tile]);
      CHECK(!trace.of(fmt::format("tiles/tile {}/worker 5", tile)).empty());
    }
  }

  TEST_CASE("counters begin with all tiles active and end with none, and no bytes in flight") {
    const CommandFolder folder;
    run_product(folder, "--trace phases");
    const PerfettoTrace trace = read_perfetto(folder.read("result/trace.pftrace"));
    const auto& active = trace.counters.at("machine/active tiles");
    CHECK(active.at(0) == 24);
    CHECK(active.rbegin()->second == 0);
    const auto& flying = trace.counters.at("machine/bytes in flight");
    CHECK(flying.rbegin()->second == 0);
    CHECK(flying.begin()->second > 0);
    CHECK(trace.counters.at("machine/SRAM in use on the fullest tile").begin()->second > 0);
    for (const Slice& slice : trace.slices) CHECK(slice.track == kSupersteps);
  }

  TEST_CASE("bytes received by chosen tiles sum to the report's") {
    const CommandFolder folder;
    run_product(folder, "--trace-tiles 0,5-6");
    const PerfettoTrace trace = read_perfetto(folder.read("result/trace.pftrace"));
    const Table tiles =
        parse_table(folder.read("result/tiles.csv"), "tiles.csv", {"sent_bytes", "received_bytes"});
    const Table steps = parse_table(folder.read("result/steps.csv"), "steps.csv", {"start_cycle"});
    for (const unsigned tile : {0U, 5U, 6U}) {
      double received = 0;
      for (const Slice& slice : trace.of(fmt::format("tiles/tile {}/receives", tile))) {
        const auto& of = slice.arguments;
        CHECK(slice.name == fmt::format("from tile {}", of.at("from")));
        if (static_cast<double>(of.at("cycle")) >= steps.at("start_cycle").values[0])
          received += static_cast<double>(of.at("bytes"));
      }
      CHECK(received == tiles.at("received_bytes").values[tile]);
      CHECK(received > 0);
    }
  }

  TEST_CASE("the limit that a cut trace names is one within which nothing is left out") {
    const CommandFolder folder;
    const std::string command = fmt::format(
        "run {}/configs/runs/quickstart.json --out result --set machine.tiles=400 --set "
        "workload.m=400 "
        "--set workload.n=400 --set workload.k=400 --trace-tiles all "
        "--set report.trace_limit_mib=",
        TESSERA_SOURCE);
    const std::string cut = folder.call(command + "1").out;
    std::size_t needed = 0;
    for (std::size_t at = cut.find(" would do"); at != std::string::npos;
         at = cut.find(" would do", at + 1)) {
      const std::size_t number = cut.rfind(' ', at - 1) + 1;
      needed = std::max<std::size_t>(needed, std::stoull(cut.substr(number, at - number)));
    }
    INFO(cut);
    REQUIRE(needed > 1);
    CHECK(needed < 16);
    const Answer whole = folder.done(command + std::to_string(needed));
    CHECK(!holds(whole.out, "left out"));
  }

  TEST_CASE("files stay within their limit and say what they leave out") {
    const CommandFolder folder;
    const Answer answer =
        folder.done(fmt::format("run {}/configs/runs/quickstart.json --out result --set "
                                "machine.tiles=1472 --set workload.m=400 "
                                "--set workload.n=400 --set workload.k=400 --trace-tiles all "
                                "--set report.trace_limit_mib=1",
                                TESSERA_SOURCE));
    check_holds(answer.out, {"left out: tiles 512 and up", "report.trace_limit_mib is 1"});
    const std::string perfetto = folder.read("result/trace.pftrace");
    const std::string dump = folder.read("result/trace.vcd");
    CHECK(perfetto.size() <= 1 << 20);
    CHECK(dump.size() <= 1 << 20);
    const PerfettoTrace trace = read_perfetto(perfetto);
    REQUIRE(trace.instants.size() == 1);
    CHECK(holds(trace.instants[0], "left out: tiles 512 and up"));
    CHECK(!trace.of("tiles/tile 511").empty());
    const Vcd vcd = read_vcd(dump);
    CHECK(holds(vcd.comments.back(), "left out: tiles 512 and up"));
  }

  TEST_CASE("protoc knows every field of a trace, and as many slices as the tests read") {
    const CommandFolder folder;
    run_product(folder, "--trace tiles");
    const std::string command = fmt::format(
        "cd '{}' && protoc -I {}/tests/sim/trace --decode=Trace perfetto.proto < "
        "result/trace.pftrace > decoded",
        folder.path().string(), TESSERA_SOURCE);
    REQUIRE(std::system(command.c_str()) == 0);
    const std::string text = folder.read("decoded");
    std::size_t fields = 0, begun = 0;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const std::size_t name = text.find_first_not_of(' ', at);
      CHECK_MESSAGE(std::isdigit(static_cast<unsigned char>(text[name])) == 0,
                    "a field that protoc does not know: " << text.substr(name, 40));
      ++fields;
      begun += text.compare(name, 22, "type: TYPE_SLICE_BEGIN") == 0 ? 1 : 0;
    }
    CHECK(fields > 1000);
    CHECK(begun == read_perfetto(folder.read("result/trace.pftrace")).slices.size());
  }
}
