#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using namespace tessera::test;

namespace {

std::string small_sweep() {
  Json config = parsed_json(small_config(2));
  config["sweep"] = {{"grid", {{"m", {1}}}}};
  return config.dump();
}

std::vector<Json> objects(const std::string& text) {
  std::vector<Json> all;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    all.push_back(parsed_json(text.substr(at, text.find('\n', at) - at)));
  }
  return all;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("eval answers a line a line, in order, and goes on after wrong ones") {
    const CommandFolder folder{{"small.json", small_sweep()}};
    const std::string points = R"({"workload.elements_per_worker": 120}
{"workload": {"elements_per_worker": 120}}
{"machine": {"extends": "bow", "tiles": 1}, "workload.dtype": "f16"}
{"workload.elements_per_workr": 1}
{"machine.tiles": }

[1]
{"workload.elements_per_worker": 60000}
{"run.max_cycles": 10}
{})";
    for (const char* jobs : {"1", "3"}) {
      const Answer answer =
          folder.done("eval small.json --stdin --jobs " + std::string(jobs), points);
      CHECK(answer.err.empty());
      const std::vector<Json> answers = objects(answer.out);
      REQUIRE(answers.size() == 10);
      const char* const statuses[] = {"done",   "done",   "done",   "failed", "failed",
                                      "failed", "failed", "failed", "stuck",  "done"};
      for (std::size_t i = 0; i < answers.size(); ++i) {
        CAPTURE(answers[i].dump());
        CHECK(answers[i]["line"] == i + 1);
        CHECK(answers[i]["status"] == statuses[i]);
        CHECK(answers[i]["error"].is_null() == (answers[i]["status"] == "done"));
      }
      CHECK(answers[0]["id"] == answers[1]["id"]);
      CHECK(answers[0]["report"]["time"] == answers[1]["report"]["time"]);
      CHECK(answers[2]["report"]["config"]["machine"]["name"] == "bow");
      const auto error = [&](std::size_t i) { return answers[i]["error"].get<std::string>(); };
      CHECK(error(3).find("line 4: workload.elements_per_workr: found an unknown key") == 0);
      CHECK(holds(error(3), "did you mean elements_per_worker?"));
      CHECK(error(4).find("line 5: line 1, column ") == 0);
      CHECK(error(5).find("line 6: line 1, column 1") == 0);
      CHECK(error(6) == "line 7: (top level): found [1], allowed an object");
      CHECK(holds(error(7), "over by"));
    }
  }

  TEST_CASE("without a config each line is one") {
    const CommandFolder folder;
    const std::vector<Json> answers = objects(
        folder
            .call("eval --stdin",
                  with_kernel(
                      R"({"machine": "bow", "machine.tiles": 2, "workload": {"kernel": "KERNEL"}})"
                      "\n{}\n"
                      R"({"machine": {"extends": "bow", "tiles": 2}, "machine.tiles": 4})"))
            .out);
    REQUIRE(answers.size() == 3);
    CHECK(answers[2]["error"] ==
          "line 3: machine.tiles: found 4 beside 2 in its section, allowed one of them");
    CHECK(answers[0]["report"]["config"]["machine"]["tiles"] == 2);
    CHECK(answers[1]["error"] ==
          "standard input: machine: is missing, allowed a preset or an object");
  }

  TEST_CASE("a sweep's folder knows its points, and keeps new ones") {
    const CommandFolder folder{{"small.json", small_sweep()}};
    CHECK(folder.call("sweep small.json m=1 --out s").code == 2);  // the section's own key m
    folder.write("plain.json", small_config(2));
    folder.done("sweep plain.json machine.tiles=1..3 --out s");
    const std::set<std::string> before = folder.names();
    CHECK(holds(folder.call("eval plain.json --stdin --out s", R"({"machine.tiles": 3})").out,
                "\"status\":\"done\""));
    CHECK(folder.names() == before);
    folder.done("eval plain.json --stdin --out s", R"({"machine.tiles": 4})");
    CHECK(folder.names().size() == before.size() + 1);
  }

  TEST_CASE("eval --predict answers by plans, which a folder keeps apart from runs") {
    const CommandFolder folder{{"plain.json", small_config(2)}};
    const std::string lines = "{}\n{\"workload.elements_per_worker\": 60000}\n{\"machin\": 1}\n";
    const std::vector<Json> runs =
        objects(folder.call("eval plain.json --stdin --out s", lines).out);
    const std::vector<Json> plans =
        objects(folder.call("eval plain.json --stdin --out s --predict", lines).out);
    REQUIRE(runs.size() == 3);
    REQUIRE(plans.size() == 3);
    CHECK(runs[0]["status"] == "done");
    CHECK(plans[0]["status"] == "predicted");
    CHECK(plans[0]["id"] != runs[0]["id"]);
    const Json& known = plans[0]["report"];
    CHECK(known["prediction"]["cycles"] == runs[0]["report"]["prediction"]["cycles"]);
    CHECK(known["prediction"]["seconds"] > 0);
    CHECK(known["plan"] == runs[0]["report"]["plan"]);
    for (const char* of_runs : {"time", "energy", "memory", "check", "host"})
      CHECK_FALSE(known.contains(of_runs));
    CHECK(plans[1]["status"] == "failed");
    CHECK(holds(plans[1]["error"].get<std::string>(), "does not fit"));
    CHECK(plans[2]["status"] == "failed");
  }

  TEST_CASE("an answer comes before the next line is sent") {
    const CommandFolder folder{{"small.json", small_sweep()}};
    int to[2], from[2];
    REQUIRE(::pipe(to) == 0);
    REQUIRE(::pipe(from) == 0);
    const pid_t process = ::fork();
    if (process == 0) {
      ::dup2(to[0], STDIN_FILENO);
      ::dup2(from[1], STDOUT_FILENO);
      for (const int end : {to[0], to[1], from[0], from[1]}) ::close(end);
      const std::string config = (folder.path() / "small.json").string();
      ::execl(TESSERA_PROGRAM, TESSERA_PROGRAM, "eval", config.c_str(), "--stdin", nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    for (int i = 1; i <= 3; ++i) {
      const std::string line = "{\"machine.tiles\": " + std::to_string(i) + "}\n";
      REQUIRE(::write(to[1], line.data(), line.size()) == static_cast<ssize_t>(line.size()));
      std::string text;
      for (char c = 0; c != '\n' && ::read(from[0], &c, 1) == 1;) text += c;
      CHECK(parsed_json(text)["report"]["config"]["machine"]["tiles"] == i);
    }
    ::close(to[1]);
    int status = 0;
    ::waitpid(process, &status, 0);
    CHECK(status == 0);
    ::close(from[0]);
  }

  TEST_CASE("eval refuses a point with a trace and goes on") {
    Json config = parsed_json(small_config(2));
    config["report"] = {{"trace", "phases"}};
    const CommandFolder folder{{"a.json", config.dump()}};
    const Answer answer = folder.done("eval a.json --stdin", "{}\n{\"report.trace\": \"none\"}");
    const std::size_t second = answer.out.find('\n') + 1;
    CHECK(answer.out.find("a.json: report.trace: found \\\"phases\\\"") < second);
    CHECK(answer.out.find("\"status\":\"done\"") > second);
  }

  TEST_CASE("a key path may lead to an object, which replaces what is there") {
    const CommandFolder folder{{"small.json", small_sweep()}};
    const std::vector<Json> first = objects(folder.done("eval small.json --stdin", "{}").out);
    const Json plan = first.at(0).at("report").at("plan");
    const std::vector<Json> answers = objects(
        folder
            .done("eval small.json --stdin", Json{{"machine.tile", {{"contexts", 2}}}}.dump() +
                                                 "\n" + Json{{"workload.plan", plan}}.dump())
            .out);
    REQUIRE(answers.size() == 2);
    CAPTURE(answers[1].dump());
    CHECK(answers[0].at("report").at("config").at("machine").at("tile").at("contexts") == 2);
    const bool has_plan = first.at(0).at("report").at("config").at("workload").contains("plan");
    CHECK(!holds(answers[1].at("error").dump(), "allowed extends, machine"));
    if (has_plan) CHECK(answers[1].at("report").at("time") == first.at(0).at("report").at("time"));
  }
}
