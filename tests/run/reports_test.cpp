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
#include "sim/report/table.h"
#include "tests/cli/command.h"

using tessera::report::parse_table;
using tessera::report::Table;
using tessera::test::Answer;
using tessera::test::CommandFolder;
using tessera::test::Json;

namespace {

/// A run of a shipped config, made small.
struct Case {
  const char* name;
  std::vector<std::string> options;
};

std::vector<Case> cases() {
  const std::string tiles = "machine.tiles=24";
  auto gemm = [&](const std::string& more) {
    return Case{"gemm", {tiles, "workload.m=90", "workload.n=70", "workload.k=130", more}};
  };
  auto stream = [&](const char* operation, const char* type) {
    return Case{"stream",
                {tiles, fmt::format("workload.operation={}", operation),
                 fmt::format("workload.dtype={}", type), "workload.elements_per_worker=101",
                 "workload.repeats=3"}};
  };
  auto preset = [&](const char* machine) {
    return Case{"spmm_static",
                {fmt::format("machine={}", machine), tiles, "workload.m=75", "workload.k=131",
                 "workload.n=21", "workload.block=1", "workload.density=0.1"}};
  };
  auto sparse = [&](int block, const char* type, const char* density, const char* layout) {
    return Case{
        "spmm_static",
        {tiles, "workload.m=75", "workload.k=131", "workload.n=21",
         fmt::format("workload.block={}", block), fmt::format("workload.dtype={}", type),
         fmt::format("workload.density={}", density), fmt::format("workload.layout={}", layout)}};
  };
  auto tilewise = [&](const char* method, const char* type) {
    return Case{
        "spmm_tilewise",
        {tiles, "workload.m=75", "workload.k=131", "workload.n=85", "workload.granularity=32",
         fmt::format("workload.method={}", method), fmt::format("workload.dtype={}", type)}};
  };
  auto dynamic = [&](int block, const char* type, const char* pass, const char* pattern,
                     const char* more = "workload.patterns=2") {
    return Case{
        "spmm_dynamic",
        {tiles, "workload.m=160", "workload.k=224", "workload.n=21",
         fmt::format("workload.block={}", block), fmt::format("workload.dtype={}", type),
         fmt::format("workload.pass={}", pass), fmt::format("workload.pattern={}", pattern), more}};
  };
  auto pixelfly = [&](int block, const char* type, const char* pass, const char* more) {
    return Case{"pixelfly",
                {tiles, "workload.m=76", "workload.k=132", "workload.n=20", "workload.rank=11",
                 fmt::format("workload.block={}", block), fmt::format("workload.dtype={}", type),
                 fmt::format("workload.pass={}", pass), more}};
  };
  auto butterfly = [&](const char* type, const char* parameters, const std::string& more) {
    return Case{
        "butterfly",
        {tiles, "workload.features=128", "workload.n=21", fmt::format("workload.dtype={}", type),
         fmt::format("workload.parameters={}", parameters), more}};
  };
  auto blocks = [&](const char* type, int block, const char* more) {
    return Case{
        "butterfly",
        {tiles, "workload.features=64", "workload.n=21", fmt::format("workload.dtype={}", type),
         fmt::format("workload.block={}", block), more}};
  };
  return {butterfly("f16", "free", "workload.order=decreasing"),
          butterfly("f32", "rotation", "workload.pass=grad_input"),
          butterfly("complex_f32", "free", "workload.n=1"),
          butterfly("f16", "rotation", "workload.layout=blocked"),
          butterfly("f32", "free", "machine=hammerblade"),
          butterfly("f16", "free", "workload.pass=grad_twiddles"),
          butterfly("complex_f32", "rotation", "workload.pass=grad_twiddles"),
          blocks("f16", 16, "workload.pass=grad_twiddles"),
          blocks("f16", 4, "workload.partials=f32"),
          blocks("f32", 8, "workload.pass=grad_twiddles"),
          {"fft", {tiles, "workload.points=2048"}},
          {"fft", {tiles, "workload.points=64", "workload.rows=16"}},
          {"fft",
           {tiles, "workload.points=512", "workload.direction=inverse", "workload.layout=blocked",
            "machine=hammerblade"}},
          gemm("workload.dtype=f16"),
          gemm("workload.dtype=f32"),
          gemm("workload.partials=f32"),
          gemm("machine=gc2"),
          gemm(R"(machine.tile.matrix_unit.f16={"inputs":32,"outputs":64})"),
          gemm(R"(machine.tile.matrix_unit={"f16":{"outputs":0},"f16_f32":{"outputs":0}})"),
          {"matrix_unit", {tiles, "workload.n=50"}},
          {"matrix_unit", {tiles, "workload.n=1"}},
          stream("copy", "f16"),
          stream("scale", "f16"),
          stream("add", "f16"),
          stream("triad", "f16"),
          stream("copy", "f32"),
          stream("scale", "f32"),
          stream("add", "f32"),
          stream("triad", "f32"),
          stream("triad", "i32"),
          stream("update", "i32"),
          {"latency", {tiles, "workload.steps=1000", "workload.chains=3"}},
          {"latency", {"machine.tiles=2", "workload.steps=500", "workload.operation=f32_divide"}},
          {"dpu_add", {"workload.elements_per_worker=50"}},
          preset("upmem"),
          preset("hammerblade"),
          preset("wse2"),
          sparse(1, "f16", "0.1", "blocked"),
          sparse(4, "f16", "0.3", "natural"),
          sparse(8, "f16", "0.3", "blocked"),
          sparse(16, "f32", "0.3", "natural"),
          sparse(1, "f32", "1", "blocked"),
          sparse(16, "f32", "1e-9", "blocked"),
          tilewise("tw_1d", "f16"),
          tilewise("tw_2d", "f32"),
          dynamic(1, "f16", "forward", "uniform"),
          dynamic(8, "f32", "grad_input", "row_skewed"),
          dynamic(16, "f16", "forward", "row_skewed"),
          dynamic(4, "f16", "grad_values", "row_skewed"),
          dynamic(8, "f16", "forward", "uniform", "workload.partials=f16"),
          dynamic(16, "f16", "forward", "row_skewed", "workload.layout=natural"),
          tilewise("tew", "f16"),
          tilewise("tew", "f32"),
          pixelfly(16, "f16", "forward", "workload.n=21"),
          pixelfly(16, "f32", "grad_input", "workload.layout=natural"),
          pixelfly(4, "f16", "grad_input", "workload.n=1"),
          pixelfly(1, "f32", "forward", "workload.partials=f32"),
          pixelfly(8, "f32", "forward", "workload.rank=0"),
          pixelfly(16, "f16", "grad_weights", "workload.layout=natural"),
          pixelfly(8, "f32", "grad_weights", "workload.n=1"),
          pixelfly(1, "f16", "forward", "workload.gamma=0.3"),
          pixelfly(16, "f16", "grad_weights", "workload.gamma=0.3"),
          {"mlp",
           {tiles, "workload.layers[0].outputs=20", "workload.data.width=7", "workload.steps=4",
            "run.measure=host"}},
          {"snn",
           {"machine.tiles=40", "workload.layers=[30,20,10]", "workload.time_steps=5",
            "workload.batch=4", "workload.data.rate=0.3", "workload.weight_scale=40",
            "workload.neuron.recurrent=true", "workload.data.test_samples=4", "run.measure=host",
            "workload.states=recomputed"}},
          {"mlp",
           {tiles, "workload.layers[0].outputs=20", "workload.data.width=7", "workload.steps=3",
            "workload.layers[0].kind=butterfly", "workload.layers[0].parameters=rotation",
            "workload.dtype=f16", "workload.replicas=2"}},
          {"mlp",
           {tiles, "workload.layers[0].outputs=20", "workload.data.width=7", "workload.steps=3",
            "workload.layers[0].kind=pixelfly", "workload.layers[0].block=4"}},
          {"mlp",
           {tiles, "workload.layers[0].outputs=20", "workload.data.width=7", "workload.steps=3",
            "workload.layers[0].kind=pixelfly", "workload.layers[0].gamma=0.5",
            "workload.layers[0].learn_gamma=true", "workload.dtype=f16"}},
          {"quickstart", {tiles, "workload.m=64", "workload.n=64", "workload.k=64"}}};
}

struct Files {
  Json report;
  std::string steps, tiles, traffic, tile_steps;
};

Files run_case(const CommandFolder& folder, const Case& test, const std::string& more) {
  std::string command =
      fmt::format("run {}/configs/runs/{}.json --out result --set report.tile_steps=48 {}",
                  TESSERA_SOURCE, test.name, more);
  for (const std::string& option : test.options) command += " --set '" + option + "'";
  const Answer answer = folder.call(command);
  CAPTURE(command);
  CAPTURE(answer.err);
  REQUIRE(answer.code == 0);
  return {folder.json("result/report.json"), folder.read("result/steps.csv"),
          folder.read("result/tiles.csv"), folder.read("result/traffic.csv"),
          folder.read("result/tile_steps.npy")};
}

/// Files of every case that runs as shipped: run once for all tests that only read them.
const std::vector<Files>& files_of_cases() {
  static const std::vector<Files> files = [] {
    std::vector<Files> all;
    for (const Case& test : cases()) all.push_back(run_case(CommandFolder(), test, ""));
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

/// The report without what may differ between hosts and numbers of threads.
std::string lasting(Files files) {
  files.report.erase("host");
  files.report.at("config").at("run").erase("threads");
  return files.report.dump(1) + files.steps + files.tiles + files.traffic + files.tile_steps;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("reports do not depend on the number of host threads") {
    for (const Case& test : cases()) {
      const CommandFolder folder;
      const std::string alone = lasting(run_case(folder, test, "--threads 1"));
      CHECK(alone == lasting(run_case(folder, test, "--threads 1")));
      CHECK(alone == lasting(run_case(folder, test, "--threads 2")));
      CHECK(alone == lasting(run_case(folder, test, "--threads 3")));
    }
  }

  TEST_CASE("every kernel passes its check and its workers do not race") {
    for (const Case& test : cases()) {
      const CommandFolder folder;
      const Json report =
          run_case(folder, test, "--set run.check=full --set run.check_races=true").report;
      CHECK(report.at("check").at("passed") == true);
      CHECK(report.at("check").at("max_error") <= report.at("check").at("bound"));
    }
  }

  TEST_CASE("the parts of time and memory sum to their totals") {
    for (const Files& files : files_of_cases()) {
      const Json& report = files.report;
      std::uint64_t cycles = 0;
      for (const char* part : {"compute", "exchange", "sync", "link", "host", "wait"}) {
        cycles += report.at("time").at(fmt::format("{}_cycles", part)).get<std::uint64_t>();
      }
      CHECK(cycles == report.at("time").at("cycles"));
      CHECK(cycles > 0);
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
    for (const Files& files : files_of_cases()) {
      const Json& report = files.report;
      CAPTURE(report.at("identity").dump());
      REQUIRE(report.contains("bound"));
      CHECK(report.at("bound").at("times_bound") >= 1);
      CHECK(report.at("bound").at("floating_share") <= 1);
      CHECK(report.at("rate").at("fraction_of_peak") <= 1);
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
    for (const Files& files : files_of_cases()) {
      for (const auto& [section, value] : files.report.items())
        if (section != "config") note_unknown(glossary, section, value, unknown);
    }
    for (const std::string& key : unknown) FAIL_CHECK("without an explanation: " << key);
  }

  TEST_CASE("a chip with an energy table reports joules, whose parts and tiles sum to the whole") {
    for (const Files& files : files_of_cases()) {
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

  TEST_CASE("what contexts did with their cycles sums to contexts x cycles on every tile") {
    for (const Files& files : files_of_cases()) {
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
        CHECK(parts == contexts * cycles);
      }
      for (const auto& [name, sum] : sums) {
        CHECK(files.report.at("stalls").at(name) == sum);
        double codelets = 0;
        for (const auto& each : files.report.at("stalls").at("codelets"))
          codelets += each.value(name, 0.0);
        if (name != "empty") CHECK(codelets == sum);
      }
      CHECK(sums["issued"] + sums["paired"] > 0);
    }
  }

  TEST_CASE("traffic sums to the bytes exchanged, tiles' supersteps to the tiles' totals") {
    for (const Files& files : files_of_cases()) {
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
