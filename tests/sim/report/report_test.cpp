#include "sim/report/report.h"

#include <filesystem>
#include <iterator>
#include <sstream>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/config/json_text.h"
#include "sim/report/peak.h"
#include "sim/report/units.h"
#include "tests/folder.h"
#include "tests/refusal.h"

using namespace tessera;
using test::check_holds;
using test::holds;
namespace fs = std::filesystem;

namespace {

struct Options {
  std::uint32_t n = 3;
};
void describe(config::Fields& fields, Options& options) {
  fields.field({"n", "columns"}, options.n);
}

class Toy : public Workload {
 public:
  Toy() {
    summarise({.problem = "2x3 f16",
               .peak_type = "f16",
               .plan = {{"split", 2}},
               .prediction = {900, 500, 300, 100},
               .useful_flops = 6000});
  }
  [[nodiscard]] program::Program lowered() const override {
    program::Program program(2);
    program.main().steps.push_back({program::Exchange{"load, then go", {}}});
    return program;
  }
  [[nodiscard]] CheckResult check(const TensorReader&, const CheckRequest&) const override {
    return {};
  }
};
std::unique_ptr<Workload> plan_toy(const Options&, MachineCosts&) {
  return std::make_unique<Toy>();
}

config::Config toy_config(unsigned threads) {
  const Catalogue catalogue = {make_kernel<Options>("toy", "for tests", plan_toy)};
  const config::Layers layers(config::Json{{"machine", {{"extends", "bow"}, {"tiles", 2}}},
                                           {"workload", {{"kernel", "toy"}}},
                                           {"run", {{"threads", threads}}}},
                              "toy.json");
  return config::read_config(layers, "toy", catalogue, config::machine_presets());
}

report::Built toy_built() {
  program::Images images;
  images.tiles.resize(2);
  images.tiles[0].memory = {1, 2, 3, 4, 5, 6};
  images.tiles[1].memory = {10, 20, 30, 40, 50, 60};
  images.steps.push_back({"load, then go", "exchange", Cycle(70), Cycle(65), true, 88});
  images.steps.push_back({"multiply", "compute", Cycle(0), Cycle(0), true, 99});
  images.exchange_step = {0};
  auto workload = std::make_unique<Toy>();
  program::Program program = workload->build();
  return {std::move(workload), std::move(program), std::move(images)};
}

report::Outcome toy_outcome(unsigned threads) {
  RunResult result;
  result.time = {Cycle(600), Cycle(300), Cycle(90), Cycle(0), Cycle(0), Cycle(10), Cycle(0)};
  result.supersteps = 2;
  result.instructions = 1000;
  result.flops = 8000;
  result.exchange_bytes = Bytes(4096);
  result.steps.resize(2);
  result.steps[0].time.exchange = Cycle(300);
  result.steps[0].exchanges = {0};
  result.steps[1].program_step = 1;
  result.steps[1].start = Cycle(300);
  result.steps[1].time.compute = Cycle(600);
  result.steps[1].last_tile = TileId{1};
  result.steps[1].most_compute = Cycle(590);
  result.steps[1].sum_compute = 1100;
  result.tiles.resize(2);
  result.tiles[1].sent = Bytes(64);
  result.host_seconds = 0.5 * threads;
  result.runs = {{Cycle(1000), 2}};
  return {result, {true, 0.25, 1.0, "full"}, {}, threads};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("the bound has all issue slots, spread and of the busiest tile, and exchanges") {
    report::Outcome outcome = toy_outcome(1);
    report::Built built = toy_built();
    const std::size_t floating = isa::index(isa::Activity::floating_slots);
    const std::size_t other = isa::index(isa::Activity::other_slots);
    outcome.result.activity.resize(2);
    outcome.result.activity[0].counts[floating] = 300;
    outcome.result.tiles[0].compute = Cycle(500);
    outcome.result.tiles[1].compute = Cycle(400);
    outcome.result.activity[1].counts[other] = 701;
    const auto bound_of = [&](const config::Config& config) {
      return report::make_report(config, built, outcome).json.at("bound");
    };
    auto bound = bound_of(toy_config(1));
    CHECK(bound.at("tiles") == 1);
    CHECK(bound.at("floating_share") == 0.6);
    CHECK(bound.at("floating_cycles") == 300);
    CHECK(bound.at("other_cycles") == 351);
    CHECK(bound.at("issue_cycles") == 501);  // one slot of a tile can issue one of each
    CHECK(bound.at("cycles") == 701);        // an integer kernel has a bound, too
    CHECK(bound.at("times_bound") == 1000.0 / 701);
    outcome.result.activity[1].counts[floating] = 101;
    CHECK(bound_of(toy_config(1)).at("busiest_issue_cycles") == 701);
    config::Config single = toy_config(1);
    single.machine.tile.dual_issue = false;
    CHECK(bound_of(single).at("busiest_issue_cycles") == 802);
    CHECK(bound_of(single).at("issue_cycles") == 551);
    const std::uint64_t exchanges = built.images.steps[0].exchange_bound.count();
    CHECK(bound.at("exchange_cycles") == exchanges);
    built.images.steps[0].exchange_bound = Cycle(900);
    CHECK(bound_of(toy_config(1)).at("cycles") == 900);
    const auto json = report::make_report(toy_config(1), built, outcome).json;
    CHECK(holds(report::summary(json), "1.11x the lower bound of 900 cycles\n"));
  }

  TEST_CASE("ports' bytes and issue slots of all tiles cannot take less than their mean") {
    report::Outcome outcome = toy_outcome(1);
    report::Built built = toy_built();
    outcome.result.activity.resize(2);
    for (TileActivity& tile : outcome.result.activity)
      tile.counts[isa::index(isa::Activity::floating_slots)] = 300;
    built.images.steps[0].exchange_ports = {Bytes(100), Bytes(480)};
    const auto json = report::make_report(toy_config(1), built, outcome).json;
    CHECK(json.at("bound").at("port_cycles") == 60);  // 4 bytes per cycle and tile
    CHECK(json.at("bound").at("cycles") == 360);
    const auto& ports = json.at("traffic").at("ports");
    CHECK(ports.at("bytes") == 480);
    CHECK(ports.at("cycles") == 70);
    CHECK(ports.at("share") == doctest::Approx(480.0 / (8 * 70)));
    CHECK(ports.at("share_of_run") == doctest::Approx(480.0 / (8 * 1000)));
  }

  TEST_CASE("the summary says what a training came to") {
    report::Outcome outcome = toy_outcome(1);
    const report::Built built = toy_built();
    const auto summary = [&] {
      return report::summary(report::make_report(toy_config(1), built, outcome).json);
    };
    CHECK(!holds(summary(), "trained"));
    outcome.results = {{"loss", {2.5, 1.0, nullptr}}};
    CHECK(holds(summary(), "\n  trained   loss 2.5 to no number in 3 steps\n"));
    outcome.results = {{"loss", {2.5, 0.25}},
                       {"accuracy", {0.125, 1.0}},
                       {"training_accuracy", 0.5625},
                       {"test_accuracy", 0.874}};
    CHECK(holds(summary(),
                "loss 2.5 to 0.25 in 2 steps; accuracy 12.5 % to 100.0 % of a batch\n"
                "            56.2 % of training samples right, 87.4 % of test samples "
                "right\n"));
  }

  TEST_CASE("several runs are listed, and the worst check stands for all") {
    report::Outcome outcome = toy_outcome(1);
    const report::Built built = toy_built();
    CHECK(!report::make_report(toy_config(1), built, outcome).json.contains("runs"));
    outcome.result.runs = {{Cycle(600), 1}, {Cycle(400), 1}};
    outcome.add({true, 0.5, 1.0, "full"});
    outcome.add({true, 0.75, 1.0, "full"});
    CHECK(outcome.check.max_error == 0.75);
    outcome.add({false, 0.7, 1.0, "full"});
    CHECK(!outcome.check.passed);
    const auto json = report::make_report(toy_config(1), built, outcome).json;
    CHECK(json.at("check").at("passed") == false);
    REQUIRE(json.at("runs").size() == 2);
    CHECK(std::prev(json.end()).key() == "host");  // the part that may differ is last
    CHECK(holds(report::summary(json), "runs      2, of 400 to 600 cycles"));
    CHECK(json.at("runs").at(1).at("cycles") == 400);
    CHECK(json.at("runs").at(1).at("passed") == true);
  }

  TEST_CASE("report.json has its sections in order and its parts add up") {
    const report::Report report = make_report(toy_config(1), toy_built(), toy_outcome(1));
    std::vector<std::string> keys;
    for (const auto& [key, value] : report.json.items()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"tessera", "identity", "config", "plan", "workload",
                                           "prediction", "time", "work", "rate", "matrix_unit",
                                           "memory", "traffic", "bound", "unused", "check",
                                           "host"});
    const auto& time = report.json["time"];
    std::uint64_t sum = 0;
    for (const auto& [key, value] : time.items()) {
      if (key.ends_with("_cycles")) sum += value.get<std::uint64_t>();
    }
    CHECK(time["cycles"] == 1000);
    CHECK(sum == 1000);
    CHECK(time["seconds"].get<double>() == 1000 / 1.85e9);
    const auto& memory = report.json["memory"];
    CHECK(memory["max_tile"] == 1);
    CHECK(memory["max_tile_bytes"] == 210);
    CHECK(memory["total_bytes"] == 231);
    std::uint64_t categories = 0;
    for (const auto& bytes : memory["categories"]) categories += bytes.get<std::uint64_t>();
    CHECK(categories == 210);
    CHECK(report.json["rate"]["peak_type"] == "f16");
    CHECK(report.json["rate"]["fraction_of_peak"].get<double>() ==
          doctest::Approx(6000.0 / (1000 * 2 * 2 * 64)));
    CHECK(report.json["config"]["machine"]["tile"]["sram_kib"] == 624);
  }

  TEST_CASE(
      "joules stand in report, summary and tiles.csv where they are known, and nowhere else") {
    report::Outcome outcome = toy_outcome(1);
    const report::Report none = make_report(toy_config(1), toy_built(), outcome);
    CHECK(!none.json.contains("energy"));
    CHECK(!holds(report::summary(none.json), "energy"));
    CHECK(!holds(none.tiles_csv, "joules"));
    EnergyResult energy;
    energy.node = "7 nm";
    energy.joules = {{"sram", 3e-6}, {"matrix", 0.0}, {"idle", 1e-6}};
    energy.work = {{"bytes_loaded", 12}};
    energy.tile_joules.assign(outcome.result.tiles.size(), 2e-6);
    energy.mm2 = {{"sram", 2.0}, {"logic", 3.0}};
    outcome.result.energy = energy;
    const report::Report report = make_report(toy_config(1), toy_built(), outcome);
    const auto& section = report.json.at("energy");
    CHECK(section.at("joules") == doctest::Approx(4e-6));
    CHECK(section.at("watts") == doctest::Approx(4e-6 / (1000 / 1.85e9)));
    CHECK(section.at("area_mm2").at("total") == 5.0);
    CHECK(section.at("work").at("bytes_loaded") == 12);
    const std::string text = report::summary(report.json);
    check_holds(text, {"energy    4 uJ = 7.4 W", "sram 75.0 %  idle 25.0 %\n"});
    check_holds(report.tiles_csv, {",microjoules\n", ",2.000000\n"});
  }

  TEST_CASE("a check that is off is neither passed nor failed") {
    report::Outcome outcome = toy_outcome(1);
    outcome.check = {false, 0, 0, "off"};
    const report::Report off = make_report(toy_config(1), toy_built(), outcome);
    CHECK(off.json["check"]["passed"].is_null());
    CHECK(off.passed());
    outcome.check.method = "sample";
    CHECK(!make_report(toy_config(1), toy_built(), outcome).passed());
  }

  TEST_CASE("the tables have a row a superstep and a row a tile") {
    const report::Report report = make_report(toy_config(1), toy_built(), toy_outcome(1));
    const std::vector<std::string> steps = lines_of(report.steps_csv);
    CHECK(steps.size() == 3);
    CHECK(steps[0].starts_with("superstep,name,kind,start_cycle,cycles,compute_cycles,"));
    CHECK(steps[1] ==
          "0,\"load, then "
          "go\",exchange,0,300,0,300,0,0,0,0,0,0,0.0,0,70,65,0,0,88,0,0,0,0.0,0,0,0,0");
    CHECK(steps[2] ==
          "1,multiply,compute,300,600,600,0,0,0,0,0,1,0,550.0,0,0,0,0,0,99,590,1,0,0.0,0,0,0,0");
    report::Built apart = toy_built();
    apart.images.zone_of = {0, 1};
    const report::Report zones = make_report(toy_config(1), apart, toy_outcome(1));
    CHECK(holds(zones.steps_csv, "\n1,multiply,compute,300,600,600,0,0,0,0,0,1,0,1100.0,"));
    const std::vector<std::string> tiles = lines_of(report.tiles_csv);
    CHECK(tiles.size() == 3);
    CHECK(tiles[2] == "1,0,0,0,0,0,64,0,10,20,30,40,50,60,0");
  }

  TEST_CASE("the summary fits on one screen") {
    const report::Report report = make_report(toy_config(1), toy_built(), toy_outcome(1));
    const std::string text = report::summary(report.json);
    CHECK(lines_of(text).size() <= 24);
    for (const std::string& line : lines_of(text)) CHECK(line.size() <= 110);
    CHECK(holds(text, "toy 2x3 f16 on bow: 2 tiles, 1.85 GHz"));
    CHECK(holds(text, "compute   ########################................  60.0 %"));
    CHECK(holds(text,
                "predicted 900 cycles (compute 500, exchange 300, sync 100): simulated is "
                "+11.1 %"));
  }

  TEST_CASE("results are written whole and leave no temporary files") {
    const test::Folder folder;
    const report::Report report = make_report(toy_config(1), toy_built(), toy_outcome(1));
    report::require_writable(folder.file("a"));
    CHECK(!folder.has("a"));
    report::write_report(report, folder.file("a"));
    report::write_report(report, folder.file("a"));
    CHECK(std::distance(fs::directory_iterator(folder.file("a")), {}) == 5);
    const std::string written = folder.file("a/report.json");
    CHECK(config::parse_json(config::read_text(written), written) == report.json);
    CHECK_THROWS_AS(report::require_writable(folder.file("a/report.json/x")), UserError);
  }

  TEST_CASE("peaks are the published ones") {
    const MachineConfig bow = config::load_machine("bow", config::machine_presets());
    const MachineConfig gc200 = config::load_machine("gc200", config::machine_presets());
    const MachineConfig gc2 = config::load_machine("gc2", config::machine_presets());
    CHECK(report::peak_of(bow, "f16").per_second == doctest::Approx(348.57e12).epsilon(1e-4));
    CHECK(report::peak_of(bow, "f32").per_second == doctest::Approx(87.1e12).epsilon(1e-3));
    CHECK(report::peak_of(gc200, "bytes").per_second == doctest::Approx(46.99e12).epsilon(1e-4));
    CHECK(report::peak_of(gc2, "f16").per_second == doctest::Approx(124.5e12).epsilon(1e-3));
    CHECK_THROWS_AS(static_cast<void>(report::peak_of(bow, "f64")), Defect);
  }

  TEST_CASE("a peak is that of the fastest instructions: of units, multiply-adds or adds") {
    MachineConfig machine{.clock_ghz = 1e-9};
    MatrixUnitConfig& unit = machine.tile.matrix_unit;
    const auto peak = [&](const char* type) { return report::peak_of(machine, type).per_second; };
    CHECK(peak("f16") == 8);
    CHECK(peak("f16_f32") == 8);
    CHECK(peak("f32") == 4);
    machine.tile.slots.float_fma = 5;  // adds still take one slot
    CHECK(peak("f16") == 4);
    CHECK(peak("f32") == 2);
    machine.tile.slots.float_fma = 1;
    unit.f16_f32.outputs = 8;
    CHECK(peak("f16_f32") == 64);
    CHECK(peak("f16") == 64);
    CHECK(peak("f32") == 4);
    unit.f16_f32.interval = 1000;
    CHECK(peak("f16_f32") == 8);
  }

  TEST_CASE("numbers are written as people read them") {
    CHECK(report::grouped(0) == "0");
    CHECK(report::grouped(999) == "999");
    CHECK(report::grouped(1234567) == "1,234,567");
    CHECK(report::scaled(3.2e12, "FLOP/s") == "3.2 TFLOP/s");
    CHECK(report::scaled(999.7, "B") == "1 kB");
    CHECK(report::scaled(12, "B") == "12 B");
    CHECK(report::scaled_down(0.0032, "J") == "3.2 mJ");
    CHECK(report::scaled_down(0, "J") == "0 J");
    CHECK(report::scaled_down(2e-10, "J") == "200 pJ");
    CHECK(report::seconds(0.0123) == "12.300 ms");
    CHECK(report::bar(0.5) == std::string(20, '#') + std::string(20, '.'));
  }
}
