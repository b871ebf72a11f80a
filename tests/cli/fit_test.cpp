#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::Answer;
using tessera::test::CommandFolder;
using tessera::test::stream_config;

/// `check --fit`, and values taken back by a null.
namespace {

/// The number behind "KEY: ".
unsigned long found(const Answer& answer, const std::string& key) {
  INFO(answer.err);
  REQUIRE(answer.code == 0);
  REQUIRE(answer.out.starts_with(key + ": "));
  return std::stoul(answer.out.substr(key.size() + 2));
}

bool fits(const CommandFolder& folder, const std::string& key, unsigned long value) {
  return folder.call(fmt::format("check - --set {}={}", key, value), stream_config(2)).code == 0;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("--fit finds the last value that fits, from either side") {
    const CommandFolder folder;
    for (const std::string key : {"machine.tile.sram_kib", "workload.elements_per_worker"}) {
      const bool smallest = key.starts_with("machine");
      for (const unsigned start : {60U, 2000U}) {
        const Answer answer = folder.call(
            fmt::format("check - --fit {} --set {}={}", key, key, smallest ? start / 2 : start),
            stream_config(2));
        const unsigned long value = found(answer, key);
        CAPTURE(value);
        CHECK(fits(folder, key, value));
        CHECK_FALSE(fits(folder, key, smallest ? value - 1 : value + 1));
        CHECK(answer.out.find(smallest ? "is the smallest that fits" : "is the largest") !=
              std::string::npos);
        CHECK(answer.out.find("does not: the program does not fit") != std::string::npos);
      }
    }
  }

  TEST_CASE("--fit passes over what the config does not allow") {
    const CommandFolder folder;
    const Answer answer = folder.call("check - --fit workload.features",
                                      R"({"machine": {"extends": "bow", "tiles": 1},
      "workload": {"kernel": "butterfly", "features": 64, "n": 16}})");
    const unsigned long value = found(answer, "workload.features");
    CHECK(value >= 64);
    CHECK((value & (value - 1)) == 0);  // a power of two, as they all are
  }

  TEST_CASE("a null takes back what files below and presets give") {
    const CommandFolder folder;
    folder.write("w.mtx",
                 "%%MatrixMarket matrix coordinate real general\n4 3 2\n1 1 1.0\n4 3 2.0\n");
    folder.write("a.json", R"({"machine": {"extends": "bow", "tiles": 2},
      "workload": {"kernel": "spmm_static", "m": 4096, "k": 4096, "n": 4, "density": 0.0625}})");
    const std::string with_file = "run a.json --out r --set workload.matrix=w.mtx";
    CHECK(folder.call(with_file).code == 2);
    const Answer answer = folder.call(
        with_file + " --set workload.m=null --set workload.k=null --set workload.density=null");
    INFO(answer.err);
    CHECK(answer.code == 0);
    CHECK(answer.out.starts_with("spmm_static 4x3 w.mtx"));
    // For a group: all keys that are set, here and in the preset below.
    const Answer bare =
        folder.call("run - --out b --set machine.tile.matrix_unit=null", stream_config(2));
    INFO(bare.err);
    CHECK(bare.code == 0);
    CHECK(folder.read("b/report.json").find("\"outputs\": 16") == std::string::npos);
    // In a file the same.
    folder.write(
        "b.json",
        R"({"extends": "a.json", "workload": {"matrix": "w.mtx", "m": null, "k": null, "density": null}})");
    const Answer in_file = folder.call("check b.json");
    INFO(in_file.err);
    CHECK(in_file.out.starts_with("spmm_static 4x3 w.mtx"));
    const Answer missing = folder.call("check -", R"({"machine": {"extends": "bow",
      "energy": {"fetch_bytes": null}}, "workload": {"kernel": "gemm"}})");
    CHECK(missing.code == 2);
    CHECK(missing.err.find("machine.energy.fetch_bytes: is missing") != std::string::npos);
    CHECK(folder.call("check a.json --set workload.kernel=null").code == 2);
  }
}
