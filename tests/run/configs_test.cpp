#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/catalogue.h"
#include "models/costs/measured_costs.h"
#include "sim/command/validation_set.h"
#include "sim/config/config.h"
#include "sim/config/json_text.h"
#include "tests/cli/command.h"
#include "tests/kernels/points.h"

using namespace tessera;
using test::holds;

namespace {

/// No run is faster than its lower bound, and no rate exceeds its peak.
void check_limits(const test::Json& report) {
  CHECK(report.at("bound").at("times_bound") >= 1);
  CHECK(report.at("rate").at("fraction_of_peak") <= 1);
  if (report.at("traffic").contains("ports"))
    CHECK(report.at("traffic").at("ports").at("share") <= 1);
}

/// The resolved config that a report contains.
test::Json resolved(const std::string& file, const std::vector<std::string>& sets = {}) {
  return config::load_config(file, sets, kernels::catalogue(), config::machine_presets()).resolved;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("every file of configs/runs passes tessera check") {
    const test::CommandFolder folder;
    std::size_t files = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(TESSERA_SOURCE) + "/configs/runs")) {
      const test::Answer answer = folder.call("check " + entry.path().string());
      CAPTURE(entry.path().string());
      CAPTURE(answer.err);
      CHECK(answer.code == 0);
      CHECK(holds(answer.out, "0 of them over"));
      ++files;
    }
    CHECK(files > kernels::catalogue().size());
  }

  TEST_CASE("every kernel has a file in configs/runs and test points that run") {
    std::set<std::string> runs;
    for (const test::Point& point : test::points("runs")) runs.insert(point.kernel);
    for (const Kernel& kernel : kernels::catalogue()) {
      CAPTURE(kernel.name);
      CHECK(std::filesystem::exists(
          fmt::format("{}/configs/runs/{}.json", TESSERA_SOURCE, kernel.name)));
      CHECK(runs.contains(kernel.name));
    }
  }

  TEST_CASE("a report's config can be given back, with every kind of option") {
    std::size_t given = 0;
    const test::Folder folder;
    for (const char* list : {"runs", "right", "planned", "timed"})
      for (const test::Point& stated : test::points(list)) {
        if (stated.facts.contains("files")) continue;
        for (const test::Point& point : test::combinations(stated)) {
          CAPTURE(point.describe());
          std::vector<std::string> sets = point.sets;
          sets.emplace_back("machine.energy=null");  // external memory has separate prices
          const std::string file =
              fmt::format("{}/configs/runs/{}.json", TESSERA_SOURCE, point.config);
          std::optional<test::Json> first;
          try {
            first = resolved(file, sets);
          } catch (const UserError&) {  // not every list's points are set over the config
            continue;
          }
          CHECK(resolved(folder.write("given.json", first->dump())) == *first);
          ++given;
        }
      }
    CHECK(given > 4000);
  }

  TEST_CASE(
      "every point of every validation set has a config; the first and the last are planned") {
    const Catalogue catalogue = kernels::catalogue();
    const std::vector<config::Preset> machines = config::machine_presets();
    for (const config::Preset& preset : config::validation_presets()) {
      const command::ValidationSet set = command::read_validation_set(preset);
      CAPTURE(set.name);
      CHECK(!set.points.empty());
      for (const command::ValidationPoint& point : set.points) {
        CAPTURE(point.name);
        const config::Config config = command::point_config(set, point, catalogue, machines);
        if (&point != &set.points.front() && &point != &set.points.back()) continue;
        MeasuredCosts costs(config.machine);
        CHECK(config.workload->plan(costs)->prediction().cycles > 0);
      }
    }
  }

  TEST_CASE("no validation set and figure of a paper have one name") {
    std::set<std::string_view> names;
    for (const auto& presets : {config::validation_presets(), config::paper_presets()}) {
      for (const config::Preset& preset : presets) {
        CAPTURE(preset.name);
        CHECK(names.insert(preset.name).second);
      }
    }
    CHECK(names.contains("popsparse_blocks"));
  }

  TEST_CASE("every point of every figure of a paper has a config, and its baseline too") {
    const Catalogue catalogue = kernels::catalogue();
    const std::vector<config::Preset> machines = config::machine_presets();
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(TESSERA_SOURCE) + "/configs/papers")) {
      const std::string text = config::read_text(entry.path().string());
      const command::ValidationSet set =
          command::read_validation_set({entry.path().stem().string(), text}, entry.path().string());
      CAPTURE(set.name);
      CHECK(!set.points.empty());
      for (const command::ValidationPoint& point : set.points) {
        CAPTURE(point.name);
        CHECK_NOTHROW(command::point_config(set, point, catalogue, machines));
        if (set.baseline.config.is_null() || !point.best.over.empty()) continue;
        CHECK_NOTHROW(
            command::baseline_config(set, command::baseline_of(set, point), catalogue, machines));
      }
    }
  }

  TEST_CASE(
      "every kernel runs on every machine preset, or one message says what the machine lacks") {
    const test::CommandFolder folder;
    for (const config::Preset& preset : config::machine_presets()) {
      for (const test::Point& point : test::small_points()) {
        CAPTURE(preset.name);
        CAPTURE(point.kernel);
        const test::Answer answer =
            folder.call("run - --out result", point.config_on(std::string(preset.name), 8));
        CAPTURE(answer.err);
        const std::string message = answer.err.substr(0, answer.err.find('\n'));
        const bool told =
            answer.code == 2 && (holds(message, "machine.tile") ||
                                 holds(message, "machine.fabric.") || holds(message, " fits "));
        CHECK((answer.code == 0 || told));
        if (answer.code == 0) check_limits(folder.json("result/report.json"));
      }
    }
  }

  TEST_CASE("every machine preset is read and runs a kernel that fits it") {
    const test::CommandFolder folder;
    for (const config::Preset& preset : config::machine_presets()) {
      CAPTURE(preset.name);
      const MachineConfig machine =
          config::load_machine(std::string(preset.name), config::machine_presets());
      CHECK(machine.name == preset.name);
      const std::uint32_t tiles = machine.fabric.kind == "streams" ? machine.fabric.columns : 4;
      const std::string config = test::with_kernel(fmt::format(
          R"({{"machine": {{"extends": "{}", "tiles": {}}}, "workload": {{"kernel": "KERNEL"}}}})",
          preset.name, tiles));
      folder.done("run - --out result --set workload.elements_per_worker=100", config);
    }
  }
}
