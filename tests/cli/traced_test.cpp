#include <string>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using namespace tessera::test;

/// Traces are of `tessera run`: what runs many points refuses to be asked for them.
namespace {

std::string traced_config() {
  Json config = parsed_json(small_config(2));
  config["report"] = {{"trace", "phases"}};
  return config.dump();
}

const std::string kMessage =
    "report.trace: found \"phases\", allowed none: tessera run alone writes traces";

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a sweep refuses traces, of the config and of an axis, before anything runs") {
    const CommandFolder folder{{"a.json", traced_config()}};
    check_refused(folder, "sweep a.json machine.tiles=1,2 --out s", {"a.json: " + kMessage});
    check_refused(folder, "sweep a.json report.trace=none,phases --out s",
                  {"report.trace: found an axis, allowed keys of machine, workload and run"});
    folder.done("sweep a.json machine.tiles=1,2 --set report.trace=none --out s");
  }

  TEST_CASE("an option of runs alone is refused by sweeps, which say whose it is") {
    const CommandFolder folder{{"a.json", small_config(2)}};
    check_refused(
        folder, "sweep a.json machine.tiles=1,2 --save y=y.npy --out s",
        {"tessera sweep: found --save, allowed --help", "; --save is an option of tessera run"});
    check_refused(folder, "sweep a.json machine.tiles=1,2 --trace-tiles=0 --out s",
                  {"; --trace-tiles is an option of tessera run"});
  }

  TEST_CASE("eval refuses a point with a trace and goes on") {
    const CommandFolder folder{{"a.json", traced_config()}};
    const Answer answer = folder.done("eval a.json --stdin", "{}\n{\"report.trace\": \"none\"}");
    const std::size_t second = answer.out.find('\n') + 1;
    CHECK(answer.out.find("a.json: report.trace: found \\\"phases\\\"") < second);
    CHECK(answer.out.find("\"status\":\"done\"") > second);
  }

  TEST_CASE("validate shows that a set asks for traces in the rows of its points") {
    const CommandFolder folder{
        {"set.json", R"({"title": "t", "evidence": "indirect", "citation": "c", "base": )" +
                         std::string(traced_config()) +
                         R"(, "metric": {"key": "time.cycles", "unit": "cycles"},
      "points": [{"name": "p", "published": 1}]})"}};
    const Answer answer = folder.call("validate ./set.json --out tables");
    CHECK(holds(answer.out, kMessage));
  }
}
