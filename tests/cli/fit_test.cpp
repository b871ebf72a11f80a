#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using namespace tessera::test;

/// Tests of `check --fit`, `check --tiles`, and values reset by null.
namespace {

/// The number after "KEY: ".
unsigned long found(const Answer& answer, const std::string& key) {
  INFO(answer.err);
  REQUIRE(answer.code == 0);
  REQUIRE(answer.out.starts_with(key + ": "));
  return std::stoul(answer.out.substr(key.size() + 2));
}

bool fits(const CommandFolder& folder, const std::string& key, unsigned long value) {
  return folder.call(fmt::format("check - --set {}={}", key, value), small_config(2)).code == 0;
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
            small_config(2));
        const unsigned long value = found(answer, key);
        CAPTURE(value);
        CHECK(fits(folder, key, value));
        CHECK_FALSE(fits(folder, key, smallest ? value - 1 : value + 1));
        check_holds(answer.out, {smallest ? "is the smallest that fits" : "is the largest",
                                 "does not: the program does not fit"});
      }
    }
  }

  TEST_CASE("--fit names the last value that a key may have where all fit") {
    const CommandFolder folder;
    for (const unsigned start : {1U, 3U, 1000U}) {
      const Answer answer = folder.call(
          fmt::format("check - --fit workload.repeats --set workload.repeats={}", start),
          small_config(2));
      const unsigned long value = found(answer, "workload.repeats");
      CAPTURE(value);
      CHECK(fits(folder, "workload.repeats", value));
      CHECK(holds(answer.out, "and the last that is allowed"));
      check_holds(
          folder.call(fmt::format("check - --set workload.repeats={}", value + 1), small_config(2))
              .err,
          {fmt::format("found {}, allowed an integer", value + 1)});
    }
    check_holds(folder.call("check - --fit workload.seed", small_config(2)).out,
                {"workload.seed: 9007199254740992 is the largest that fits; no larger is tried"});
  }

  TEST_CASE("--tiles lists what tiles hold and do") {
    const CommandFolder folder;
    const Answer one = folder.done("check - --tiles 1", small_config(2));
    CHECK(one.out.starts_with("{\"tile\":1,\"tiles\":2}\n{\"array\":"));
    CHECK(holds(one.out, "\"compute\":"));
    const Answer all = folder.call("check - --tiles all", small_config(2));
    const Answer first = folder.call("check - --tiles 0", small_config(2));
    CHECK(all.out == first.out + one.out);
  }

  TEST_CASE("a null takes back what presets and files give") {
    const CommandFolder folder;
    // For a group: resets all keys set in it, here and in the preset.
    folder.done("run - --out b --set machine.tile.matrix_unit=null", small_config(2));
    CHECK(!holds(folder.read("b/report.json"), "\"outputs\": 16"));
  }
}
