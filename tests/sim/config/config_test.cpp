#include "sim/config/config.h"

#include <doctest/doctest.h>

#include "sim/config/writers.h"
#include "tests/folder.h"
#include "tests/refusal.h"

using namespace tessera;
using test::holds;

namespace {

struct FileOptions {
  std::uint32_t n = 12;
  std::vector<std::uint32_t> sizes = {1, 2};
  std::string matrix;
};
void describe(config::Fields& fields, FileOptions& options) {
  fields.field({"n", "columns"}, options.n, {1, 100});
  fields.field({"sizes", "a list"}, options.sizes);
  fields.file({"matrix", "input"}, options.matrix);
}
std::unique_ptr<Workload> no_plan(const FileOptions&, MachineCosts&) { return nullptr; }

config::Config load(const std::string& file, const std::vector<std::string>& sets = {}) {
  const Catalogue catalogue = {make_kernel<FileOptions>("toy", "for tests", no_plan)};
  return config::load_config(file, sets, catalogue, config::machine_presets());
}

std::string error_of(const std::string& file, const std::vector<std::string>& sets = {}) {
  return test::refusal([&] { return load(file, sets); });
}

constexpr const char* kToy = R"({"machine": "bow", "workload": {"kernel": "toy"}})";

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("every machine preset is read whole and differs from the others") {
    std::vector<std::string> names;
    for (const config::Preset& preset : config::machine_presets()) {
      const MachineConfig machine =
          config::load_machine(std::string(preset.name), config::machine_presets());
      CHECK(machine.name == preset.name);
      names.push_back(machine.name);
    }
    CHECK(names == std::vector<std::string>{"aie2_2x2", "aie2_3x3", "aie2_4x4", "aie2_5x5",
                                            "aie2_6x6", "aie2_7x7", "aie2_8x8", "bow", "gc2",
                                            "gc200", "hammerblade", "upmem", "wormhole", "wse2",
                                            "xdna1"});
    const MachineConfig bow = config::load_machine("bow", config::machine_presets());
    CHECK(bow.tiles == 1472);
    CHECK(bow.clock_ghz == 1.85);
    CHECK(bow.tile.supervisor.launch_stagger_cycles == 4);
  }

  TEST_CASE("files extend files, machines extend presets, objects merge and lists replace") {
    const test::Folder folder;
    folder.write("base.json", R"({"machine": {"extends": "bow", "tiles": 64},
        "workload": {"kernel": "toy", "n": 5, "sizes": [1, 2, 3]}, "run": {"threads": 2}})");
    const std::string file = folder.write("a.jsonc", R"({"extends": "base.json", // a comment
        "machine": {"tile": {"sram_kib": 128}}, "workload": {"sizes": [9]}})");
    const config::Config config = load(file);
    CHECK(config.name == "a");
    CHECK(config.machine.tiles == 64);
    CHECK(config.machine.tile.sram_kib == 128);
    CHECK(config.machine.tile.contexts == 6);
    CHECK(config.machine.clock_ghz == 1.85);
    CHECK(config.run.threads == 2);
    CHECK(config.resolved["workload"].dump() ==
          R"({"kernel":"toy","n":5,"sizes":[9],"used_tiles":0})");
    const std::string other = folder.write("b.json", R"({"extends": "base.json",
        "machine": "gc2"})");
    CHECK(load(other).machine.tiles == 1216);
  }

  TEST_CASE("--set reaches elements of a preset's lists, by number and by name") {
    const test::Folder folder;
    const std::string file =
        folder.write("a.json", R"({"machine": "aie2_4x4", "workload": {"kernel": "toy"}})");
    const config::Config config =
        load(file, {"machine.nodes[0].tile.sram_kib=128", "machine.nodes[memory].count=8"});
    CHECK(config.machine.nodes[0].tile.sram_kib == 128);
    CHECK(config.machine.nodes[0].count == 8);
    CHECK(load(file, {"machine.nodes[1].count=2",
                      R"(machine.nodes=[{"name": "memory", "count": 4}, {"name": "ddr"}])"})
              .machine.nodes[1]
              .count == 1);
    CHECK(load(file, {"machine.fabric.streams[load].bytes_per_cycle=2"})
              .machine.fabric.streams[4]
              .bytes_per_cycle == 2);
  }

  TEST_CASE("--set reaches keys, list elements and the machine's name") {
    const test::Folder folder;
    const std::string file = folder.write("a.json", kToy);
    CHECK(load(file, {"machine.tiles=16"}).machine.tiles == 16);
    CHECK(load(file, {"machine=gc2", "machine.tiles=16"}).machine.clock_ghz == 1.6);
    CHECK(load(file, {"machine.tiles=16", "machine.extends=gc2"}).machine.tiles == 16);
    const config::Config behind = load(file, {"machine.tiles=16", "machine=gc2"});
    CHECK(behind.machine.clock_ghz == 1.6);
    CHECK(behind.machine.tiles == 16);
    const std::string own = R"(machine={"extends": "gc2", "tiles": 8})";
    CHECK(load(file, {"machine.tiles=16", "machine.tile.contexts=3", own}).machine.tiles == 8);
    CHECK(load(file, {"machine.tile.contexts=3", own}).machine.tile.contexts == 3);
    CHECK(load(file, {"machine.tile.contexts=3", "machine.tile=null"}).machine.tile.contexts == 6);
    const config::Config config = load(file, {"workload.sizes=[4,5]", "workload.sizes[1]=6"});
    CHECK(config.resolved["workload"]["sizes"].dump() == "[4,6]");
    CHECK(error_of(file, {"workload.sizes=[4]", "workload.sizes[1]=6"}) ==
          "--set workload.sizes[1]=6: workload.sizes has 1 element: there is no [1]");
    CHECK(holds(error_of(file, {"workload.sizes[]=6"}), "element expected at position 16"));
    CHECK(error_of(file, {"workload.sizes=[4]", "workload.sizes[x]=6"}) ==
          "--set workload.sizes[x]=6: workload.sizes has elements without names: found [x], "
          "allowed [0] to [0]");
    CHECK(error_of(file, {"workload.n=big"}) ==
          "--set workload.n=big: workload.n: found \"big\", allowed an integer from 1 to 100");
    CHECK(error_of(file, {"workload.nn=1"}) ==
          "--set workload.nn=1: workload.nn: found an unknown key, allowed n, sizes, matrix, "
          "used_tiles, kernel; did you mean n?");
  }

  TEST_CASE("a mistake found while planning is located in the file or option it came from") {
    const test::Folder folder;
    const std::string file = folder.write("a.json", kToy);
    const KeyError error("workload.n", "found 3, allowed 2");
    CHECK(std::string(load(file).located(error).what()) ==
          file + ": workload.n: found 3, allowed 2");
    CHECK(std::string(load(file, {"workload.n=3"}).located(error).what()) ==
          "--set workload.n=3: workload.n: found 3, allowed 2");
  }

  TEST_CASE("input files count from the folder of the config that names them") {
    const test::Folder folder;
    const std::string matrix = folder.write("data/x.mtx", "");
    const std::string file = folder.write(
        "data/a.json", R"({"machine": "bow", "workload": {"kernel": "toy", "matrix": "x.mtx"}})");
    CHECK(load(file).resolved["workload"]["matrix"] == matrix);
    CHECK(error_of(file, {"workload.matrix=x.mtx"}) ==
          "--set workload.matrix=x.mtx: workload.matrix: found \"x.mtx\", allowed a file that "
          "exists (x.mtx does not)");
  }

  TEST_CASE("the hash depends on what can change results only") {
    const test::Folder folder;
    const std::string file = folder.write("a.json", kToy);
    const auto hash = [&](const std::string& set) {
      return config::config_hash(load(file, {set}).resolved);
    };
    CHECK(hash("run.threads=1") == hash("run.threads=2"));
    CHECK(hash("report.out=x") == hash("run.threads=2"));
    CHECK(hash("run.seed=2") != hash("run.seed=1"));
    CHECK(hash("machine.tiles=2") != hash("machine.tiles=1"));
  }

  TEST_CASE(
      "a key of a preset that a later one makes unused is left out; one set on purpose is "
      "refused") {
    const test::Folder folder;
    const std::string bow =
        folder.write("bow.json", R"({"machine": "bow", "workload": {"kernel": "toy"}})");
    const config::Config ideal = load(bow, {"machine.fabric.kind=ideal"});
    const config::Json fabric = config::resolved(ideal.machine)["fabric"];
    CHECK(fabric.dump() == R"({"kind":"ideal","fixed_cycles":100,"columns":16})");
    const std::string refused =
        "machine.fabric.pair_sharing: found false, which nothing reads as machine.fabric.kind "
        "stands; leave it out";
    CHECK(error_of(bow, {"machine.fabric.kind=ideal", "machine.fabric.pair_sharing=false"})
              .ends_with(refused));
    const std::string kind = folder.write(
        "kind.json", R"({"extends": "bow.json", "machine": {"fabric": {"kind": "ideal"}}})");
    CHECK(error_of(kind) == "");
    const std::string rate = folder.write(
        "rate.json", R"({"extends": "kind.json", "machine": {"fabric": {"pair_sharing": false}}})");
    CHECK(error_of(rate).ends_with(refused));
    const std::string back = folder.write(
        "back.json", R"({"extends": "rate.json", "machine": {"fabric": {"kind": "ideal"}}})");
    CHECK(error_of(back) == "");
  }

  TEST_CASE("a smaller machine has no more columns than pairs of tiles") {
    const test::Folder folder;
    const std::string bow =
        folder.write("bow.json", R"({"machine": "bow", "workload": {"kernel": "toy"}})");
    CHECK(load(bow).machine.fabric.columns == 16);
    CHECK(load(bow, {"machine.tiles=9"}).machine.fabric.columns == 5);
  }

  TEST_CASE("the schema of whole configs lists sections, presets and kernels") {
    const Catalogue catalogue = {make_kernel<FileOptions>("toy", "for tests", no_plan)};
    const config::Json schema = config::config_schema(catalogue, config::machine_presets());
    CHECK(
        schema["properties"]["machine"]["anyOf"][0]["enum"].dump() ==
        R"(["aie2_2x2","aie2_3x3","aie2_4x4","aie2_5x5","aie2_6x6","aie2_7x7","aie2_8x8","bow","gc2","gc200","hammerblade","upmem","wormhole","wse2","xdna1"])");
    CHECK(schema["properties"]["workload"]["oneOf"][0]["properties"]["kernel"]["const"] == "toy");
    CHECK(schema["properties"]["run"]["properties"]["check"]["enum"].size() == 5);
    CHECK(holds(config::config_markdown(catalogue), "| `workload.n` | `12` | 1 to 100 |"));
  }
}
