#include <algorithm>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using namespace tessera::test;

TEST_SUITE("cli") {
  TEST_CASE("a run prints a summary and leaves files") {
    const CommandFolder folder;
    const Answer one = folder.done("run - --out one", small_config(3));
    CHECK(one.err.empty());
    CHECK(holds(one.out, " f32 on gc200: 3 tiles"));
    CHECK(folder.call("run - --out two --quiet", small_config(3)).out.empty());
    for (const char* file : {"two/steps.csv", "two/tiles.csv", "two/traffic.csv"})
      CHECK_FALSE(folder.read(file).empty());
  }

  TEST_CASE("results go to runs/NAME-HASH unless a folder is named") {
    const CommandFolder folder{{"triad.json", small_config(3)}};
    const Answer answer = folder.done("run triad.json");
    CHECK(holds(answer.out, "results   runs/triad-"));
    CHECK(folder.has("runs"));
  }

  TEST_CASE("the defaults of a partly given plan are named") {
    const CommandFolder folder;
    const std::string product = product_config(4, R"("m": 64, "n": 64, "k": 64)");
    const Answer part = folder.done("run - --out part --set workload.plan.split_m=2", product);
    check_holds(part.out, {"  pinned    split_m; by default split_n 1, split_k 1"});
    CHECK(holds(folder.done("check - --set workload.plan.split_m=2", product).out, "  pinned    "));
    CHECK(!holds(folder.done("run - --out searched", product).out, "  pinned    "));
  }

  TEST_CASE("keys of the config that a run does not use are named with the reason") {
    const CommandFolder folder;
    const std::string sets =
        " --set machine.tile.latency.f16_fma=9 --set machine.host.latency_us=7 "
        "--set machine.tile.latency.load=9";
    const Answer answer = folder.done("run - --out one" + sets, small_config(2));
    CHECK(holds(answer.out,
                "  unused    machine.tile.latency.f16_fma: no such instruction was "
                "executed\n            machine.host.latency_us: run.measure is device"));
    CHECK(!holds(answer.out, "latency.load:"));
    const Answer many = folder.done(
        "run - --out many --set machine.energy=null --set machine.external.channels=1 "
        "--set machine.external.mib_per_channel=8 --set machine.external.request_bytes=64 "
        "--set machine.external.outstanding=2",
        small_config(2));
    CHECK(holds(many.out, "  unused    machine.external (4 keys): external memory was not used\n"));
    const Answer straight = folder.done(
        "run - --out straight --set machine.tile.supervisor.branch_taken_cycles=9 "
        "--set machine.tile.supervisor.load_use_stall_cycles=7",
        small_config(2));
    check_holds(straight.out, {"branch_taken_cycles: no supervisor's program has a branch",
                               "load_use_stall_cycles: no supervisor's program reads"});
    for (const std::uint32_t tiles : {2U, 8U}) {
      const Answer ways = folder.done("run - --out ways --set machine.fabric.cycles_per_hop=1",
                                      product_config(tiles, R"("m": 64, "n": 64, "k": 64)"));
      CHECK(holds(ways.out, "cycles_per_hop: no pair of tiles sent another one") == (tiles == 2));
    }
    const Answer blocks =
        folder.done("run - --out blocks --set machine.tile.matrix_unit.smaller_blocks=true",
                    product_config(1, R"("m": 16, "n": 16, "k": 16, "dtype": "f16")"));
    CHECK(holds(blocks.out, "smaller_blocks: the matrix unit multiplied no smaller blocks"));
    // Unused keys from a preset are listed only in the report.
    CHECK(!holds(folder.done("run - --out two", small_config(2)).out, "unused"));
    CHECK(folder.json("two/report.json").at("unused") ==
          folder.json("one/report.json").at("unused"));
    const std::string array = with_kernel(
        R"({"machine": "xdna1", "workload": {"kernel": "PRODUCT", "m": 32, "n": 32, "k": 32, "dtype": "i8"}})");
    const Answer stream = folder.done(
        "run - --out three --set machine.fabric.streams[halo].bytes_per_cycle=64 "
        "--set machine.nodes[memory].tile.latency.f32_add=9",
        array);
    check_holds(stream.out,
                {"machine.fabric.streams[halo].bytes_per_cycle: nothing was sent on stream "
                 "halo",
                 "machine.nodes[memory].tile.latency.f32_add: no such"});
  }

  TEST_CASE("keys that a report calls unused change no time") {
    const std::string configs[] = {small_config(2),
                                   product_config(4, R"("m": 40, "n": 24, "k": 40)"),
                                   with_kernel(R"({"machine": "xdna1",
            "workload": {"kernel": "PRODUCT", "m": 32, "n": 32, "k": 32, "dtype": "i8"}})")};
    for (const std::string& config : configs) {
      const CommandFolder folder{{"config.json", config}};
      folder.done("run config.json --quiet --out base");
      const Json base = folder.json("base/report.json");
      const Json flat = base.at("config").flatten();
      std::string points;
      for (const Json& part : base.at("unused")) {
        std::string key = part.at("key");
        // Another shape of the unit may change the plan.
        const bool planned = holds(key, "matrix_unit");
        std::string pointer = "/" + key;
        std::erase(pointer, ']');
        std::replace_if(
            pointer.begin(), pointer.end(), [](char c) { return c == '.' || c == '['; }, '/');
        const auto value = flat.find(pointer);
        if (planned || value == flat.end() || !value->is_number() || *value == 0) continue;
        points += Json{{key, 2 * value->get<double>()}}.dump() + "\n";
      }
      REQUIRE(!points.empty());
      std::istringstream answers(folder.done("eval config.json --stdin", points).out);
      for (std::string line; std::getline(answers, line);) {
        const Json answer = parsed_json(line);
        if (answer.at("status") != "done") continue;  // an invalid value
        CAPTURE(answer.at("line").dump());
        CHECK(answer.at("report").at("time") == base.at("time"));
      }
    }
  }

  TEST_CASE("check shows plan, prediction and memory and writes nothing") {
    const CommandFolder folder;
    const Answer answer = folder.done("check -", small_config(3));
    check_holds(answer.out, {"predicted", "over by"});
    CHECK(!folder.has("runs"));
  }

  TEST_CASE("check of a machine's file prints what it comes to") {
    const CommandFolder folder{
        {"m.json", R"({"$schema": "machine.schema.json", "extends": "bow", "tiles": 8})"}};
    const Answer answer = folder.done("check m.json");
    CHECK(answer.out.starts_with("bow, m.json: 8 tiles, 1.85 GHz\n  tile      624 KiB of SRAM"));
    CHECK(!holds(answer.out, "defaults"));
    folder.write("own.json", R"({"tiles": 8, "tile": {"sram_kib": 1024}})");
    const std::string defaults = "keys of the machine, which extends no preset";
    CHECK(holds(folder.done("check own.json").out, defaults));
    const std::string own = R"({"machine": "own.json", "workload": {"kernel": "KERNEL"}})";
    folder.write("run_own.json", with_kernel(own));
    CHECK(holds(folder.done("run run_own.json --timing --out own").out, defaults));
    check_holds(answer.out, {"  fabric    scheduled, 4 bytes sent", "  external  none\n"});
    folder.write("w.json", R"({"extends": "wormhole"})");
    check_holds(
        folder.done("check w.json").out,
        {"(114.4 MiB in all)", "  external  12 DRAM channels, 1024 MiB and 24 GB/s each\n"});
    folder.write("w2.json", R"({"extends": "wse2", "tiles": 850000})");
    CHECK(holds(folder.done("check w2.json").out, "48 KiB of SRAM (38.91 GiB in all)"));
    folder.write("u.json", R"({"extends": "upmem"})");
    CHECK(holds(folder.done("check u.json").out,
                "  external  1 DRAM channel, 64 MiB and 2.4 GB/s each, for each tile\n"));
    const std::string run = R"({"machine": "m.json", "workload": {"kernel": "KERNEL"}})";
    folder.write("run.json", with_kernel(run));
    folder.done("check run.json");
  }

  TEST_CASE("the commands that only print do so with exit code 0") {
    const CommandFolder folder;
    CHECK(folder.call("--version").out.starts_with("tessera "));
    CHECK(folder.done("list").out.starts_with("machines  "));
    CHECK(folder.call("list machines").out.starts_with("aie2_2x2 "));
    CHECK(holds(folder.call("list workloads").out, with_kernel("KERNEL ")));
    CHECK(folder.call("list fabrics").out == "scheduled\nideal\nstreams\n");
    CHECK(holds(folder.call("list sets").out, "matrix_unit "));
    CHECK(parsed_json(folder.call("schema").out)["properties"].size() == 7);
    for (const char* command :
         {"", "run", "check", "exec", "disasm", "list", "schema", "validate", "report"}) {
      const Answer help = folder.done(std::string(command) + " --help");
      CHECK(holds(help.out, "Usage: tessera"));
    }
  }
}
