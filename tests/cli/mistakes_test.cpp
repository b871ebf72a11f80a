#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::holds;
using tessera::test::with_kernel;

/// Users' mistakes on the command line, and configs that are no JSON: exit code 2, one message that
/// holds the parts given here, nothing on stdout, no results left.
namespace {

struct Mistake {
  std::string what;
  const char* config;     ///< written to a.json; null: none
  const char* arguments;  ///< of tessera
  std::vector<std::string> message;
};

constexpr const char* kGood = R"({"machine": {"extends": "gc200", "tiles": 2},
  "workload": {"kernel": "KERNEL", "elements_per_worker": 60}})";

const std::vector<Mistake>& syntax_mistakes() {
  static const std::vector<Mistake> kMistakes = {
      {"an empty file", "", "run a.json", {"a.json: line 1, column 1", "unexpected end of input"}},
      {"a missing comma",
       "{\"machine\": \"bow\"\n \"run\": {}}",
       "run a.json",
       {"a.json: line 2, column 6", "expected '}'"}},
      {"text after the end", "{} {}", "run a.json", {"a.json: line 1, column 4"}},
      {"an open comment", "{ /* ", "run a.json", {"a.json: line 1", "comment"}},
      {"NaN", R"({"machine": NaN})", "run a.json", {"a.json: line 1, column 13"}},
      {"a list instead of an object",
       "[]",
       "run a.json",
       {"a.json: (top level): found [], allowed an object"}},
      {"the same key twice",
       R"({"run": {"seed": 1, "seed": 2}})",
       "run a.json",
       {"a.json: run.seed: the key stands twice"}},
      {"an integer beyond 64 bits",
       R"({"run": {"seed": 99999999999999999999}})",
       "run a.json",
       {"a.json: run.seed: integer 99999999999999999999 does not fit in 64 bits"}},
      {"bytes that are no text", "{\"a\": \"\xff\"}", "run a.json", {"a.json: line 1", "UTF-8"}},
      {"a missing file", nullptr, "run a.json", {"a.json: cannot be read: No such file"}},
      {"a folder", nullptr, "run .", {".: found a directory"}},
      {"a missing file to check",
       nullptr,
       "check a.json",
       {"a.json: cannot be read: No such file"}},
  };
  return kMistakes;
}

/// Arguments with a.json, which holds kGood, and parts of the message.
const std::vector<std::pair<std::string, std::vector<std::string>>>& good_config_mistakes() {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> kMistakes = {
      {"run a.json --thread 2", {"tessera run: found --thread", "did you mean --threads?"}},
      {"check a.json --threads 2",
       {"tessera check: found --threads, allowed --help, --set",
        "--threads is an option of tessera run"}},
      {"run a.json --seed x", {"--seed x: ", "seed: found \"x\", allowed an integer"}},
      {"run a.json --trace none --trace-tiles 0-1",
       {"--trace-tiles 0-1: found beside --trace none", "allowed --trace tiles"}},
      {"check a.json --fit workload.elements_per_workr",
       {"--fit: found workload.elements_per_workr", "did you mean workload.elements_per_worker?"}},
      {"check a.json --fit machine.clock_ghz", {"an integer"}},
      {"run a.json b.json", {"tessera run: found b.json"}},
      {"run a.json --set", {"tessera run: --set"}},
      {"run a.json --set run.threads", {"--set run.threads: found no path=value"}},
      {"run a.json --set workload.element_per_worker=4",
       {"workload.element_per_worker: found an unknown key", "did you mean elements_per_worker?"}},
      {"run a.json --set worklod.n=4",
       {"--set worklod.n=4: worklod: found an unknown key", "did you mean workload?"}},
      {"run a.json --set workload.kernel.x=4", {"workload.kernel is \"KERNEL\", not an object"}},
      {"run a.json --set 'run=[1]' --set 'run[3].b=4'",
       {"--set run[3].b=4: run has 1 element: there is no [3]"}},
      {"run a.json --set 'a[3].b=4'",
       {"--set a[3].b=4: a: found an unknown key, allowed extends, machine"}},
      {"run a.json --set 'workload.sizes[3]=4'",
       {"--set workload.sizes[3]=4: workload.sizes is not given: it has no element [3]"}},
      {"run a.json --set extends=a.json",
       {"--set extends=a.json: extends: allowed in a config file only"}},
      {"run a.json --set workload.kernel=spmm",
       {"--set workload.kernel=spmm: workload.kernel: found \"spmm\"", "did you mean spmm_"}},
      {"run a.json --set 'run[]=4'",
       {"run[]: not a key path: a number or name of an element expected at position 5"}},
      {"run a.json --set 'run[x]=4'", {"--set run[x]=4: run is not given: it has no element [x]"}},
      {"run a.json --timing --set run.values=true",
       {"--timing: found beside --set run.values=true, allowed one of them"}},
      {"run a.json --seed 3 --set run.seed=2",
       {"--seed: found beside --set run.seed=2, allowed one of them"}},
      {"sweep a.json run.values=true,false --timing --dry-run",
       {"--timing: found beside the axis run.values, allowed one of them"}},
      {"run a.json --out ''", {"--out: found \"\", allowed a text that is not empty"}},
      {"run a.json --set run..seed=4", {"run..seed: not a key path: a key expected at position 5"}},
      {"run a.json --threads many",
       {"--threads many: run.threads: found \"many\", allowed an integer from 0 to 1024"}},
      {"run a.json --threads 100000",
       {"--threads 100000: run.threads: found 100000, allowed an integer from 0 to 1024"}},
      {"run a.json --engine interpretr",
       {"--engine interpretr: run.engine: found \"interpretr\", allowed interpreter, native; did "
        "you mean "
        "interpreter?"}},
      {"run a.json --trace phase",
       {"--trace phase: report.trace: found \"phase\", allowed none, phases, tiles; did you mean "
        "phases?"}},
      {"run a.json --trace-tiles 1-0",
       {"report.trace_tiles: found \"1-0\", allowed all, or tiles and ranges of them"}},
      {"run a.json --trace-tiles 5",
       {"report.trace_tiles: found tile 5, allowed 0 to 1, the tiles of the machine"}},
      {"run a.json --max-cycles 0", {"run.max_cycles: found 0, allowed an integer from 1 cycles"}},
      {"run a.json --seed -1", {"seed: found -1, allowed an integer"}},
      {"run a.json --out a.json", {"a.json: cannot be the folder of the results"}},
      {"run a.json --out /dev/null",
       {"/dev/null: cannot be the folder of the results: /dev/null is a file"}},
      {"run a.json --out a.json/x", {"a.json/x: cannot be the folder of the results", "is a file"}},
      {"disasm a.json", {"a.json: not an ELF file"}},
  };
  return kMistakes;
}

const std::vector<Mistake>& command_mistakes() {
  static const std::vector<Mistake> kMistakes = {
      {"no command", nullptr, "", {"Usage: tessera"}},
      {"an unknown command", nullptr, "rnu a.json", {"tessera: found rnu", "did you mean run?"}},
      {"a machine's file as a run",
       R"({"extends": "bow", "tiles": 4})",
       "run a.json",
       {"a.json: (top level): found a machine, allowed a run", "{\"machine\": \"a.json\""}},
      {"--fit where nothing fits",
       R"({"machine": {"extends": "bow", "tiles": 2, "tile": {"sram_kib": 1, "worker_stack_bytes": 65536}},
          "workload": {"kernel": "KERNEL", "elements_per_worker": 60}})",
       "check a.json --fit workload.elements_per_worker",
       {"no value from 1 to 60 fits", "does not fit"}},
      {"no config", nullptr, "run", {"tessera run: CONFIG is required"}},
      {"a list of nothing known",
       nullptr,
       "list machine",
       {"tessera list: found machine, allowed machines, workloads, fabrics, sets",
        "did you mean machines?"}},
      {"an unknown set",
       nullptr,
       "validate strem",
       {"tessera validate: found strem, allowed", "did you mean stream?"}},
      {"a set file that is not there",
       nullptr,
       "validate figure.json",
       {"figure.json: cannot be read: No such file"}},
      {"a set file without points",
       R"({"title": "t", "evidence": "goal", "citation": "c", "base": {}})",
       "validate ./a.json",
       {"./a.json: points: is missing"}},
      {"a gate of no kind",
       R"({"title": "t", "evidence": "goal", "citation": "c", "base": {}, "points": [],
           "regression": {"share_lest": 1}})",
       "validate ./a.json",
       {"./a.json: regression.share_lest", "did you mean share_least?"}},
      {"a best of nothing",
       R"({"title": "t", "evidence": "goal", "citation": "c", "base": {}, "points": [{"name": "p", "published": 1,
           "best": {"over": "workload.n"}}]})",
       "validate ./a.json",
       {"./a.json: points[0].best.values: is missing"}},
      {"no jobs", nullptr, "validate --jobs 0", {"tessera validate: --jobs", "1"}},
  };
  return kMistakes;
}

void check_mistakes(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.what);
    const tessera::test::CommandFolder folder;
    if (mistake.config != nullptr) folder.write("a.json", with_kernel(mistake.config));
    tessera::test::check_refused(folder, mistake.arguments, with_kernel(mistake.message));
  }
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a config that is no JSON is refused with line and column") {
    check_mistakes(syntax_mistakes());
  }

  TEST_CASE("a mistake on the command line is refused and the nearest name offered") {
    check_mistakes(command_mistakes());
    const tessera::test::CommandFolder folder{{"a.json", with_kernel(kGood)}};
    for (const auto& [arguments, message] : good_config_mistakes())
      tessera::test::check_refused(folder, arguments, with_kernel(message));
  }

  TEST_CASE("what is no file, or cannot be one, is refused at once wherever a file is named") {
    const tessera::test::CommandFolder folder{{"a.json", with_kernel(kGood)}};
    // Beside the folder: the names in it are compared.
    const std::filesystem::path loop = folder.path().string() + "-loop";
    std::filesystem::remove(loop);
    std::filesystem::create_symlink(loop.filename(), loop);
    REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
    const std::string longer(300, 'n');
    const auto refused = [&](const std::string& arguments, const char* message) {
      const std::string timed = fmt::format("timeout 20 {} {}", TESSERA_PROGRAM, arguments);
      tessera::test::check_refused(folder, "--version >.version && " + timed, {message});
    };
    for (const char* command : {"run ", "check ", "exec ", "disasm ", "report ", "plot ",
                                "run a.json --out ", "run a.json --set machine=./"}) {
      refused(command + longer, "File name too long");
      refused(command + ("../" + loop.filename().string()), "Too many levels of symbolic links");
    }
    std::filesystem::remove(loop);
    refused("run /dev/zero", "/dev/zero: found a device, expected a file");
    refused("exec /dev/zero", "/dev/zero: found a device, expected a file");
    refused("run pipe", "pipe: line 1, column 1");
    refused("exec pipe", "pipe: found a pipe, expected a file");
  }

  TEST_CASE("messages quote what was found legibly, however long and of whatever bytes") {
    const tessera::test::CommandFolder folder;
    const std::string key(100'000, 'k');
    folder.write("long.json", fmt::format(R"({{"{}": 1}})", key));
    folder.write("escape.json",
                 with_kernel(R"({"machine": "gc200", "workload": {"kernel": "KERNEL"},
      "run": {"\u001b[31mseed": 1}})"));
    folder.write("name.json", "{\"machine\": \"\\u001b]0;title\\u0007\"}");
    const auto refused = [&](const std::string& arguments, const std::string& part) {
      const tessera::test::Answer answer = folder.call(arguments);
      CHECK(answer.code == 2);
      CHECK(answer.err.size() < 4000);
      CHECK(!holds(answer.err, "\x1b"));
      CHECK(!holds(answer.err, "\a"));
      CHECK(holds(answer.err, part));
    };
    refused("run long.json", "bytes left out) ... ");
    refused("run escape.json", "run.\\x1b[31mseed: found an unknown key");
    refused("run name.json", "\\x1b]0;title\\x07");
    refused("run \"$(printf '\\033[2Jno.json')\"", "\\x1b[2Jno.json: cannot be read");
    refused("run name.json --set \"$(printf 'machine.\\033[1m=2')\"", "\\x1b[1m");
    refused("run \"$(printf -- '--\\033[1m')\" x", "\\x1b[1m");
  }

  TEST_CASE("a shape that no matrix unit may have is refused with those that are allowed") {
    const tessera::test::CommandFolder folder{
        {"a.json", with_kernel(R"({"machine": {"extends": "bow", "tiles": 4,
      "tile": {"matrix_unit": {"f16": {"inputs": 24}}}}, "workload": {"kernel": "KERNEL"}})")}};
    tessera::test::check_refused(
        folder, "run a.json",
        {"machine.tile.matrix_unit.f16.inputs: found 24, allowed 4, 8, 16, 32, 64, 128"});
    const auto refused = [&](const std::string& set, const std::string& message) {
      tessera::test::check_refused(folder,
                                   "run a.json --set machine.tile.matrix_unit.f16.inputs=16 --set "
                                   "machine.tile.matrix_unit." +
                                       set,
                                   {message});
    };
    refused("f16_f32.outputs=64",
            "machine.tile.matrix_unit.f16_f32.outputs: found 16 inputs and 64 outputs, allowed: "
            "outputs "
            "0 (the unit has no such type), or powers of two from 4 to 128");
    refused("i8.outputs=16", "machine.tile.matrix_unit.i8.outputs: found 16, allowed 0, 8");
    refused("i8.interval=2", "found 2, which nothing reads as machine.tile.matrix_unit.i8.outputs");
  }
}
