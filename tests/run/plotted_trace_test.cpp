#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/report/table.h"
#include "tests/cli/drawn.h"
#include "tests/sim/trace/perfetto_reader.h"
#include "tests/sim/trace/vcd_reader.h"

using namespace tessera::test;

/// Compares plots of traces with what the tests' own readers find in the files.
namespace {

constexpr std::uint64_t kClockFemtoseconds = 540541;  // a cycle of 1.85 GHz

/// Lines of the figure's table without its header, sorted.
using Lines = std::vector<std::string>;

/// A product with exchanges on 24 tiles, some of which are traced.
const std::string kProduct =
    "--set machine.tiles=24 --set workload.m=90 --set workload.n=70 --set workload.k=130 "
    "--trace-tiles 0,5-6 ";

void run_traced(const CommandFolder& folder, const std::string& options) {
  folder.done(fmt::format("run {}/configs/runs/quickstart.json --out r --quiet {}", TESSERA_SOURCE,
                          options));
}

Lines plotted(const CommandFolder& folder, const std::string& options) {
  folder.done("plot " + options + " --out p --name it --format svg");
  Lines lines;
  const std::string csv = folder.read("p/it.csv");
  for (std::size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1)
    lines.push_back(csv.substr(at, csv.find('\n', at) - at));
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// The expected lines of the figure's table, from the slices of a Perfetto trace.
Lines lines_of_slices(const PerfettoTrace& trace) {
  Lines lines;
  for (const Slice& slice : trace.slices) {
    /// The rest of the track's path component that begins with `front`.
    const auto part = [&](const std::string& front) {
      const std::size_t at = slice.track.find(front) + front.size();
      return at < front.size() ? "" : slice.track.substr(at, slice.track.find('/', at) - at);
    };
    const auto& of = slice.arguments;
    const std::string tile = part("/tile "), worker = part("/worker ");
    const std::string times =
        fmt::format("{},{}", of.at("cycle"), of.at("cycle") + of.at("cycles"));
    if (tile.empty() && of.contains("bytes"))
      lines.push_back(fmt::format("superstep,,,{},,{},{}", slice.name, of.at("bytes"), times));
    else if (tile.empty())
      lines.push_back(fmt::format("phase,,,{},,,{}", slice.name, times));
    else if (!worker.empty())
      lines.push_back(fmt::format("worker,{},{},{},,,{}", tile, worker, slice.name, times));
    else if (of.contains("from"))
      lines.push_back(
          fmt::format("transfer,{},,,{},{},{}", tile, of.at("from"), of.at("bytes"), times));
    else
      lines.push_back(fmt::format("tile,{},,{},,,{}", tile, slice.name, times));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// The expected lines for tiles, workers and transfers, from the signals of a VCD.
Lines lines_of_vcd(const Vcd& vcd) {
  Lines lines;
  const auto cycle = [](std::uint64_t at) { return at / kClockFemtoseconds; };
  for (const auto& [signal, changes] : vcd.signals) {
    if (!signal.starts_with("tile_")) continue;
    const std::string tile = signal.substr(5, signal.find('.') - 5);
    const std::string name = signal.substr(signal.find('.') + 1);
    std::multimap<std::string, std::uint64_t> begun;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const auto& [at, value] = changes[i];
      if (name != "receives") {
        if (value == "idle" || value == "ended") continue;
        REQUIRE(i + 1 < changes.size());
        const std::string number = name == "state" ? "" : name.substr(7);
        lines.push_back(fmt::format("{},{},{},{},,,{},{}", number.empty() ? "tile" : "worker", tile,
                                    number, value, cycle(at), cycle(changes[i + 1].first)));
        continue;
      }
      for (std::size_t j = 0; j < value.size(); j = value.find_first_of("+-", j + 1)) {
        const std::string what = value.substr(j + 1, value.find(',', j) - j - 1);
        if (value[j] == '+') {
          begun.emplace(what, at);
          continue;
        }
        const auto start = begun.find(what);
        REQUIRE(start != begun.end());
        lines.push_back(fmt::format("transfer,{},,,{},{},{},{}", tile,
                                    what.substr(0, what.find(':')), what.substr(what.find(':') + 1),
                                    cycle(start->second), cycle(at)));
        begun.erase(start);
      }
    }
    CHECK(begun.empty());
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

double sum_of(const Lines& lines, std::size_t column) {
  double sum = 0;
  for (std::string line : lines) {
    for (std::size_t i = 0; i < column; ++i) line = line.substr(line.find(',') + 1);
    if (!line.starts_with("NaN")) sum += std::stod(line);
  }
  return sum;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a drawn trace agrees with other readers of both files in every span") {
    if (!has_gnuplot()) return;
    for (const std::string more : {"", "--set workload.layout=natural"}) {
      CAPTURE(more);
      const CommandFolder folder;
      run_traced(folder, kProduct + more);
      const Lines perfetto = plotted(folder, "r/trace.pftrace");
      CHECK(perfetto == lines_of_slices(read_perfetto(folder.read("r/trace.pftrace"))));
      CHECK(perfetto.size() > 40);
      Lines vcd = plotted(folder, "r/trace.vcd");
      const auto of_machine = [](const std::string& line) {
        return line.starts_with("superstep") || line.starts_with("phase");
      };
      std::erase_if(vcd, of_machine);
      CHECK(vcd == lines_of_vcd(read_vcd(folder.read("r/trace.vcd"))));
      Lines words = perfetto;
      for (std::string& line : words) std::replace(line.begin(), line.end(), ' ', '_');
      CHECK(words == plotted(folder, "r/trace.vcd"));
      CHECK(std::any_of(vcd.begin(), vcd.end(),
                        [](const std::string& line) { return line.starts_with("transfer,5,,,"); }));
    }
  }

  TEST_CASE("both traces of a run that was stopped hold the same") {
    if (!has_gnuplot()) return;
    const CommandFolder folder;
    REQUIRE(folder
                .call(fmt::format("run {}/configs/runs/quickstart.json --out r --set "
                                  "machine.tiles=16 --trace tiles --max-cycles 3000",
                                  TESSERA_SOURCE))
                .code == 3);
    Lines words = plotted(folder, "r/trace.pftrace");
    CHECK(words == lines_of_slices(read_perfetto(folder.read("r/trace.pftrace"))));
    for (std::string& line : words) std::replace(line.begin(), line.end(), ' ', '_');
    CHECK(words == plotted(folder, "r/trace.vcd"));
  }

  TEST_CASE("a window keeps what meets it, and what is summarised says so") {
    if (!has_gnuplot()) return;
    const CommandFolder folder;
    run_traced(folder,
               "--set machine.tiles=4 --set workload.m=16 --set workload.n=16 "
               "--set workload.k=16000 --set machine.tile.sram_kib=4096 --trace-tiles 0-2 "
               "--set 'workload.plan={\"split_m\":1,\"split_n\":1,\"split_k\":1,\"cuts\":1000}'");
    CHECK(plotted(folder, "r/trace.pftrace --from 5000 --to 6000 --tiles 1").size() < 60);
    CHECK(!holds(folder.read("p/it.gp"), "summarised"));
    const Lines all = plotted(folder, "r/trace.pftrace --width 3.3in");
    const std::string script = folder.read("p/it.gp");
    const auto supersteps = std::count_if(all.begin(), all.end(), [](const std::string& line) {
      return line.starts_with("superstep,");
    });
    CHECK(supersteps > 1000);
    CHECK(holds(script, "400 columns"));
    CHECK(folder.read("p/it.svg").size() < 4'000'000);
  }

  TEST_CASE("utilisation, traffic and matrix of a trace add up to what it holds") {
    if (!has_gnuplot()) return;
    const CommandFolder folder;
    run_traced(folder, kProduct);
    double machine = 0, tiles = 0;
    for (const std::string& line : plotted(folder, "r/trace.vcd")) {
      if (line.starts_with("superstep")) machine += sum_of({line}, 5);
      if (line.starts_with("transfer")) tiles += sum_of({line}, 5);
    }
    CHECK(machine > 0);
    CHECK(tiles > 0);
    for (const std::string file : {"r/trace.pftrace", "r/trace.vcd"}) {
      CAPTURE(file);
      const auto traffic = [&](const char* options) {
        return sum_of(plotted(folder, file + " --kind traffic " + options), 2);
      };
      CHECK(traffic("") == doctest::Approx(machine).epsilon(1e-6));
      CHECK(traffic("--tiles all") == doctest::Approx(tiles).epsilon(1e-6));
      CHECK(sum_of(plotted(folder, file + " --kind matrix"), 4) == tiles);
      for (const std::string& line : plotted(folder, file + " --kind utilisation --to 200")) {
        double share = 0;
        for (std::size_t column = 2; column < 7; ++column) share += sum_of({line}, column);
        CHECK(share == doctest::Approx(1).epsilon(1e-4));
      }
    }
    CHECK(sum_of(plotted(folder, "r --kind matrix"), 4) > tiles);
  }

  TEST_CASE("the trace of an array, whose nodes go on by themselves, adds up to each one's time") {
    if (!has_gnuplot()) return;
    const CommandFolder folder;
    folder.done(fmt::format(
        "run {}/configs/runs/quickstart.json --set machine=aie2_2x2 --set workload.dtype=i8 --set "
        "workload.m=64 --set workload.n=64 --set workload.k=64 --trace tiles --out r --quiet",
        TESSERA_SOURCE));
    const auto tiles = tessera::report::parse_table(folder.read("r/tiles.csv"), "tiles.csv", {});
    REQUIRE(tiles.rows == 7);
    for (const std::string file : {"r/trace.pftrace", "r/trace.vcd"}) {
      CAPTURE(file);
      const Lines lines = plotted(folder, file);
      for (std::size_t tile = 0; tile < tiles.rows; ++tile) {
        CAPTURE(tile);
        // Each cycle from 0 on is in one state; unmeasured time is not exchange.
        double all = 0, moving = 0, end = 0;
        for (const std::string& line : lines) {
          if (!line.starts_with(fmt::format("tile,{},", tile))) continue;
          const double took = sum_of({line}, 7) - sum_of({line}, 6);
          all += took;
          if (!holds(line, ",compute,")) moving += took;
          end = std::max(end, sum_of({line}, 7));
        }
        CHECK(all == end);
        CHECK(moving == tiles.at("exchange_cycles").values[tile]);
      }
      CHECK(sum_of(plotted(folder, file + " --kind traffic"), 2) > 0);
    }
    CHECK(plotted(folder, "r/trace.vcd --kind matrix") ==
          plotted(folder, "r/trace.pftrace --kind matrix"));
  }

  TEST_CASE("a VCD's time does not go back where transfers run on over several supersteps") {
    const CommandFolder folder;
    folder.done(fmt::format(
        "run {}/configs/runs/gemm_external.json --trace-tiles 0-3 --set workload.m=256 --set "
        "workload.n=256 --out r --quiet",
        TESSERA_SOURCE));
    CHECK(read_vcd(folder.read("r/trace.vcd")).signals.size() > 4);
  }
}
