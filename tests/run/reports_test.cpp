#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/catalogue.h"
#include "sim/command/glossary.h"
#include "sim/data/numpy_file.h"
#include "sim/report/report.h"
#include "sim/report/table.h"
#include "tests/cli/command.h"
#include "tests/kernels/points.h"

using tessera::report::parse_table;
using tessera::report::Table;
using namespace tessera::test;

namespace {

/// Runs use 12 tiles unless a point sets the number.
constexpr const char* kTiles = " --set machine.tiles=12";

struct Files {
  Json report;
  std::string steps, tiles, traffic, buffers, tile_steps;
};

Files run_point(const CommandFolder& folder, const Point& point, const std::string& more,
                std::string* summary = nullptr) {
  const std::string command = fmt::format("run --out result --set report.tile_steps=48 {} {} {}",
                                          more, kTiles, point.arguments());
  CAPTURE(command);
  const Answer answer = folder.done(command);
  if (summary != nullptr) *summary = answer.out;
  return {folder.json("result/report.json"), folder.read("result/steps.csv"),
          folder.read("result/tiles.csv"),   folder.read("result/traffic.csv"),
          folder.read("result/buffers.csv"), folder.read("result/tile_steps.npy")};
}

/// The files of every point on one host thread, with full checks and race checks. Run once for all
/// tests that read them.
const std::vector<Files>& files_of_points() {
  static const std::vector<Files> files = [] {
    std::vector<Files> all;
    const CommandFolder folder;
    for (const Point& point : points("runs"))
      all.push_back(
          run_point(folder, point, "--threads 1 --set run.check=full --set run.check_races=true"));
    return all;
  }();
  return files;
}

/// Adds to `unknown` the paths of numbers and texts that the glossary does not explain.
void note_unknown(const tessera::command::Glossary& glossary, const std::string& path,
                  const Json& value, std::set<std::string>& unknown) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items())
      note_unknown(glossary, fmt::format("{}.{}", path, key), inner, unknown);
  } else if (value.is_array() && !value.empty() && value.front().is_object()) {
    for (const Json& each : value) note_unknown(glossary, path + "[]", each, unknown);
  } else if (glossary.find(path).empty()) {
    unknown.insert(path);
  }
}

/// The files without parts that may differ by host, engine, number of threads and checks.
std::string lasting(Files files) {
  for (const char* section : {"host", "check", "identity"}) files.report.erase(section);
  files.report.at("config").erase("run");
  return files.report.dump(1) + files.steps + files.tiles + files.traffic + files.buffers +
         files.tile_steps;
}

/// The part that a timing run reports, too.
std::string without_values(Files files) {
  files.report = tessera::report::without_values(files.report);
  return lasting(std::move(files));
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("reports do not depend on the engine, the number of host threads, or checks") {
    const std::vector<Point> runs = points("runs");
    for (std::size_t i = 0; i < runs.size(); ++i) {
      // These ran in the interpreter, since accesses are recorded.
      const std::string first = lasting(files_of_points()[i]);
      const CommandFolder folder;
      const std::string native = fmt::format("--threads {}", 2 + i % 2);
      CHECK(lasting(run_point(folder, runs[i], native)) == first);
    }
  }

  TEST_CASE("a timing run says what a full run says, of every kernel") {
    const std::vector<Point> runs = points("runs");
    std::set<std::string> timed, all;
    bool told = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      CAPTURE(runs[i].describe());
      const CommandFolder folder;
      std::string summary;
      const Files files = run_point(folder, runs[i], "--timing", &summary);
      CHECK(without_values(files) == without_values(files_of_points()[i]));
      all.insert(runs[i].kernel);
      if (!files.report.at("timing").at("values").get<bool>()) {
        timed.insert(runs[i].kernel);
      } else {
        CHECK(holds(summary, "  timing    run in full, since values decide its time: tile "));
        CHECK(files.report.at("check").at("passed") == true);
        told = true;
      }
    }
    // Kernels whose time depends on no value, and some whose time does.
    CHECK(timed.size() >= 10);
    CHECK(timed.size() < all.size());
    CHECK(told);
  }

  TEST_CASE("every kernel passes its check and its workers do not race") {
    for (const Files& files : files_of_points()) {
      const Json& check = files.report.at("check");
      CHECK(check.at("passed") == true);
      CHECK(check.at("max_error") <= check.at("bound"));
    }
  }

  TEST_CASE("the parts of time and memory sum to their totals") {
    for (const Files& files : files_of_points()) {
      const Json& report = files.report;
      std::uint64_t cycles = 0;
      for (const char* part : {"compute", "exchange", "sync", "link", "host", "wait"}) {
        cycles += report.at("time").at(fmt::format("{}_cycles", part)).get<std::uint64_t>();
      }
      CHECK(cycles == report.at("time").at("cycles"));
      CHECK(cycles > 0);
      for (const Json& run : report.value("runs", Json::array()))
        cycles -= run.at("cycles").get<std::uint64_t>();
      CHECK((cycles == 0 || !report.contains("runs")));
      std::uint64_t bytes = 0;
      for (const auto& [name, value] : report.at("memory").at("categories").items()) {
        bytes += value.get<std::uint64_t>();
      }
      CHECK(bytes == report.at("memory").at("max_tile_bytes"));
      CHECK(report.at("traffic").at("exchange_bytes") >=
            report.at("traffic").at("multicast_bytes"));
    }
  }

  TEST_CASE("no machine takes less than the bound, and none exceeds a peak") {
    for (const Files& files : files_of_points()) {
      const Json& report = files.report;
      CAPTURE(report.at("identity").dump());
      REQUIRE(report.contains("bound"));
      CHECK(report.at("bound").at("times_bound") >= 1);
      CHECK(report.at("bound").at("floating_share") <= 1);
      CHECK(report.at("rate").at("fraction_of_peak") <= 1);
      if (report.at("config").at("machine").at("fabric").at("kind") != "streams")
        CHECK(report.at("traffic").contains("ports") ==
              (report.at("traffic").at("exchange_bytes") > 0));
      if (!report.at("traffic").contains("ports")) continue;
      const Json& ports = report.at("traffic").at("ports");
      CHECK(ports.at("share") > 0);
      CHECK(ports.at("share") <= 1);
      CHECK(ports.at("share_of_run") <= ports.at("share"));
    }
  }

  TEST_CASE("every key of a report has its explanation") {
    const tessera::command::Glossary glossary(tessera::kernels::catalogue());
    std::set<std::string> unknown;
    for (const Files& files : files_of_points()) {
      for (const auto& [section, value] : files.report.items())
        if (section != "config") note_unknown(glossary, section, value, unknown);
    }
    for (const std::string& key : unknown) FAIL_CHECK("without an explanation: " << key);
  }

  TEST_CASE("a chip with an energy table reports joules, whose parts and tiles sum to the whole") {
    for (const Files& files : files_of_points()) {
      const bool table = files.report.at("config").at("machine").contains("energy");
      CHECK(files.report.contains("energy") == table);
      if (!table) continue;
      const Json& energy = files.report.at("energy");
      double parts = 0;
      for (const auto& [name, joules] : energy.at("by_part").items()) {
        CHECK(joules.get<double>() >= 0);
        parts += joules.get<double>();
      }
      CHECK(parts == doctest::Approx(energy.at("joules").get<double>()));
      CHECK(parts > 0);
      const Table tiles = parse_table(files.tiles, "tiles.csv", {"microjoules"});
      const std::vector<double>& microjoules = tiles.at("microjoules").values;
      CHECK(std::accumulate(microjoules.begin(), microjoules.end(), 0.0) ==
            doctest::Approx(1e6 * parts));
      std::uint64_t instructions = 0;
      for (const char* each : {"integer", "integer_multiply", "control", "memory", "floating"}) {
        instructions += energy.at("work").at(each).get<std::uint64_t>();
      }
      CHECK(instructions == files.report.at("work").at("instructions"));
    }
  }

  TEST_CASE("states of contexts sum to contexts x cycles on every tile") {
    for (const Files& files : files_of_points()) {
      const auto contexts =
          files.report.at("config").at("machine").at("tile").at("contexts").get<double>();
      const Table tiles = parse_table(files.tiles, "tiles.csv", {"issued_context_cycles"});
      std::map<std::string, double> sums;
      for (std::size_t tile = 0; tile < tiles.rows; ++tile) {
        double cycles = 0;
        for (const char* part : {"compute_cycles", "exchange_cycles", "sync_cycles"})
          cycles += tiles.at(part).values[tile];
        double parts = 0;
        for (const auto& [name, total] : files.report.at("stalls").items()) {
          if (name == "codelets") continue;
          const double part = tiles.at(name + "_context_cycles").values[tile];
          parts += part;
          sums[name] += part;
        }
        // Nodes after the compute tiles may have no contexts.
        const bool computes = static_cast<double>(tile) <
                              files.report.at("config").at("machine").at("tiles").get<double>();
        CHECK(parts == (computes ? contexts * cycles : 0));
      }
      for (const auto& [name, sum] : sums) {
        CHECK(files.report.at("stalls").at(name) == sum);
        double codelets = 0;
        for (const auto& each : files.report.at("stalls").at("codelets"))
          codelets += each.value(name, 0.0);
        if (name != "empty") CHECK(codelets == sum);
      }
      const bool any_worker = !files.report.at("stalls").at("codelets").empty();
      CHECK((sums["issued"] + sums["paired"] > 0) == any_worker);
    }
  }

  TEST_CASE("traffic sums to the bytes exchanged, tiles' supersteps to the tiles' totals") {
    for (const Files& files : files_of_points()) {
      const Table traffic = parse_table(files.traffic, "traffic.csv", {"bytes"});
      const std::vector<double>& moved = traffic.at("bytes").values;
      CHECK(std::accumulate(moved.begin(), moved.end(), 0.0) ==
            files.report.at("traffic").at("exchange_bytes"));
      const Table tiles = parse_table(files.tiles, "tiles.csv", {"compute_cycles"});
      const auto steps = tessera::data::parse_numpy(files.tile_steps, "tile_steps.npy");
      REQUIRE(steps.shape == std::vector<std::uint64_t>{steps.shape.at(0), tiles.rows, 3});
      for (std::size_t tile = 0; tile < tiles.rows; ++tile) {
        double computing = 0;
        double exchanging = 0;
        for (std::size_t at = 3 * tile; at < steps.values.size(); at += 3 * tiles.rows) {
          computing += steps.values[at];
          exchanging += steps.values[at + 1] + steps.values[at + 2];
        }
        CHECK(computing == tiles.at("compute_cycles").values[tile]);
        CHECK(exchanging == tiles.at("exchange_cycles").values[tile]);
      }
    }
  }
}
