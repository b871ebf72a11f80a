#include "sim/trace/recording.h"

#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/trace/trace_file.h"
#include "tests/refusal.h"

using namespace tessera;
using test::check_holds;
using test::holds;

namespace {

/// A trace with two supersteps of one tile and a worker.
std::string written(trace::TraceFile::MakeFormat make) {
  trace::Settings settings;
  settings.tiles = {TileId{3}};
  settings.machine_tiles = 4;
  settings.contexts = 1;
  settings.cycle_femtoseconds = 540541;
  std::ostringstream out;
  const std::unique_ptr<trace::Format> format = make(out, settings);
  trace::Format& kind = *format;
  for (const std::string_view state : trace::kStateNames) kind.add_name(state);
  kind.add_name("a_step");
  kind.add_name("work");
  const trace::Name step = std::size(trace::kStateNames), work = step + 1;
  const auto compute = trace::name_of(trace::State::compute);
  const auto exchange = trace::name_of(trace::State::exchange);
  const auto ended = trace::name_of(trace::State::ended);
  for (std::uint64_t i = 0; i < 2; ++i) {
    const Cycle start(100 * i);
    SuperstepRecord record{};
    record.start = start;
    record.time.compute = Cycle(100);
    record.exchanged = Bytes(96);
    const std::vector<trace::Span> spans = {
        {start, start + Cycle(40), 0, exchange, trace::kNotSaid},
        {start + Cycle(40), start + Cycle(100), 0, compute, i == 1 ? ended : trace::kNotSaid}};
    kind.superstep({i, record, true, step, spans});
    kind.spans(spans);
    kind.spans(std::vector<trace::Span>{
        {start + Cycle(50), start + Cycle(90), 1, work, trace::name_of(trace::State::idle)}});
    kind.transfers(std::vector<trace::Received>{
        {start, start + Cycle(20), 0, TileId{1}, Bytes(64)},
        {start + Cycle(10), start + Cycle(40), 0, TileId{2}, Bytes(32)}});
  }
  kind.finish(Cycle(200), std::vector<std::string>{"left out: nothing"});
  return out.str();
}

/// The whole contents of a trace, as text.
std::string text_of(const trace::Recording& trace) {
  std::string text;
  const auto add = [&](const char* what, const auto& slices) {
    for (const auto& each : slices)
      text += fmt::format("{} {} {}-{}\n", what, trace.names[each.name], each.begin.count(),
                          each.end.count());
  };
  for (const auto& [number, zone] : trace.zones) {
    for (const auto& each : zone.supersteps)
      text += fmt::format("{}: {} bytes\n", each.number, each.bytes.count());
    add("superstep", zone.supersteps);
    add("phase", zone.phases);
  }
  for (const auto& [number, tile] : trace.tiles) {
    add("tile", tile.states);
    for (const auto& [worker, slices] : tile.workers) add("worker", slices);
    for (const auto& each : tile.transfers)
      text += fmt::format("{} from {} at {}-{} {}\n", number, each.from, each.begin.count(),
                          each.end.count(), each.bytes.count());
  }
  for (const std::string& remark : trace.remarks) text += remark + "\n";
  return text;
}

using Read = trace::Recording (*)(const std::string&, const std::string&);

/// Truncates and changes a file at each byte: it must be read, or refused with its name.
void check_hostile(const std::string& file, Read read) {
  const auto check_read = [&](const std::string& text) {
    try {
      text_of(read(text, "it"));
    } catch (const UserError& error) {
      CHECK(std::string(error.what()).starts_with("it:"));
    }
  };
  for (std::size_t i = 0; i < file.size(); ++i) {
    check_read(file.substr(0, i));
    for (const char put : {'\0', '\x7f', '\xff', '1', ' ', static_cast<char>(file[i] ^ 1)}) {
      std::string changed = file;
      changed[i] = put;
      check_read(changed);
    }
  }
}

std::string refusal(Read read, const std::string& text) {
  return test::refusal([&] { return read(text, "it"); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("both forms of a trace are read back as the same") {
    const std::string perfetto =
        text_of(trace::read_perfetto(written(trace::perfetto_trace), "a.pftrace"));
    const trace::Recording vcd = trace::read_vcd(written(trace::vcd_trace), "a.vcd");
    CHECK(perfetto == text_of(vcd));
    CHECK(perfetto.find("0: 96 bytes\n") == 0);
    check_holds(perfetto,
                {"superstep a_step 100-200\n", "phase compute 40-100\n", "tile exchange 100-140\n",
                 "worker work 150-190\n", "3 from 2 at 110-140 32\n"});
    CHECK(perfetto.ends_with("left out: nothing\n"));
    CHECK(vcd.timescale == "1 fs, 540541 fs a cycle");
  }

  TEST_CASE("a VCD of another timescale is read by what it says") {
    std::string text = written(trace::vcd_trace);
    text.replace(text.find("540541 fs"), 9, "1000000 fs");
    text.replace(text.find("1 fs $end"), 4, "10 ps");
    std::string scaled;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      scaled +=
          (line[0] == '#' ? fmt::format("#{}", std::stoull(line.substr(1)) / 540541 * 100) : line) +
          "\n";
    const trace::Recording read = trace::read_vcd(scaled, "it");
    CHECK(read.timescale == "10 ps, 1000000 fs a cycle");
    CHECK(text_of(read) == text_of(trace::read_vcd(written(trace::vcd_trace), "it")));
  }

  TEST_CASE("files that are not traces are refused, and broken traces do no harm") {
    check_hostile(written(trace::perfetto_trace), trace::read_perfetto);
    check_hostile(written(trace::vcd_trace), trace::read_vcd);
    CHECK(refusal(trace::read_perfetto, "") ==
          "it: byte 0: found no track of supersteps, expected a Perfetto trace of tessera run");
    CHECK(refusal(trace::read_vcd, "$timescale 3 fs $end") ==
          "it:1: found timescale 3 fs, allowed 1, 10 or 100 of s, ms, us, ns, ps, fs, expected a "
          "VCD of tessera run");
    CHECK(refusal(trace::read_vcd, "$timescale 1 fs $end\n$comment a cycle is 5 fs $end\n#6\n") ==
          "it:3: found time 6, which is no whole number of cycles, expected a VCD of tessera run");
    const std::string perfetto = written(trace::perfetto_trace);
    CHECK(holds(refusal(trace::read_perfetto, perfetto.substr(0, perfetto.size() - 1)), "early"));
  }
}
