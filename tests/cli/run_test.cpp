#include <doctest/doctest.h>

#include "tests/cli/command.h"

using tessera::test::Answer;
using tessera::test::CommandFolder;
using tessera::test::Json;
using tessera::test::parsed_json;
using tessera::test::small_config;

namespace {

/// A report without what depends on the host.
std::string without_host(const std::string& text) {
  Json report = parsed_json(text);
  report.erase("host");
  return report.dump(2);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a run prints a summary and leaves files that do not depend on host threads") {
    const CommandFolder folder;
    const Answer one = folder.done("run - --out one --threads 1", small_config(3));
    CHECK(one.err.empty());
    CHECK(one.out.find(" f32 on gc200: 3 tiles") != std::string::npos);
    CHECK(folder.call("run - --out two --threads 2 --quiet", small_config(3)).out.empty());
    for (const char* file : {"/steps.csv", "/tiles.csv", "/traffic.csv"}) {
      CHECK(!folder.read(std::string("one") + file).empty());
      CHECK(folder.read(std::string("one") + file) == folder.read(std::string("two") + file));
    }
    CHECK(without_host(folder.read("one/report.json")) ==
          without_host(folder.read("two/report.json")));
  }

  TEST_CASE("results go to runs/NAME-HASH unless a folder is named") {
    const CommandFolder folder{{"triad.json", small_config(3)}};
    const Answer answer = folder.done("run triad.json");
    CHECK(answer.out.find("results   runs/triad-") != std::string::npos);
    CHECK(folder.has("runs"));
  }

  TEST_CASE("check shows plan, prediction and memory and writes nothing") {
    const CommandFolder folder;
    const Answer answer = folder.done("check -", small_config(3));
    CHECK(answer.out.find("predicted") != std::string::npos);
    CHECK(answer.out.find("over by") != std::string::npos);
    CHECK(!folder.has("runs"));
  }

  TEST_CASE("the commands that only print do so with exit code 0") {
    const CommandFolder folder;
    CHECK(folder.call("--version").out.starts_with("tessera "));
    CHECK(folder.call("list machines").out.starts_with("aie2_2x2 "));
    CHECK(folder.call("list workloads").out.find(tessera::test::with_kernel("KERNEL ")) !=
          std::string::npos);
    CHECK(folder.call("list fabrics").out == "scheduled\nideal\nstreams\n");
    CHECK(folder.call("list sets").out.find("matrix_unit ") != std::string::npos);
    CHECK(parsed_json(folder.call("schema").out)["properties"].size() == 7);
    for (const char* command :
         {"", "run", "check", "exec", "disasm", "list", "schema", "validate", "report"}) {
      const Answer help = folder.done(std::string(command) + " --help");
      CHECK(help.out.find("Usage: tessera") != std::string::npos);
    }
  }
}
