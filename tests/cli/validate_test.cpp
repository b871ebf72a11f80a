#include <algorithm>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using namespace tessera::test;

namespace {

/// gemm beside gemm on more tiles: both shapes run in a moment.
constexpr const char* kSet = R"({
  "title": "a set", "citation": "nobody", "why": "the mill grinds slowly",
  "base": {"machine": {"extends": "bow", "tiles": 4},
           "workload": {"kernel": "gemm", "m": 16, "k": 16, "dtype": "f16"}},
  "baseline": {"config": {"machine": {"extends": "bow", "tiles": 1},
                          "workload": {"kernel": "gemm", "m": 16, "k": 16, "dtype": "f16"}},
               "same": ["workload.n"]},
  "axes": ["workload.n"], "columns": ["memory.max_tile_bytes", "workload.nope"],
  "metric": {"key": "time.cycles", "unit": "cycles"},
  "gates": {"share_low": 0.001, "share_high": 1000, "share_least": RANGE,
            "speedup_least": 0.01, "speedup_most": 100},
  "points": [
    {"name": "small", "set": {"workload.n": 16}, "published": 500, "published_speedup": 1.5,
     "context": {"other machine": 7}},
    {"name": "best", "best": {"over": "workload.n", "values": [16, 64, 1000000]}, "published": 1},
    {"name": "ours alone", "set": {"workload.n": 32}},
    {"name": "too large", "fits": false, "set": {"workload.n": 1000000}, "published": 0}
  ]
})";

std::string set_with(const char* share) {
  std::string text = kSet;
  return text.replace(text.find("RANGE"), 5, share);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("validate runs a set from a file and writes its table") {
    const CommandFolder folder;
    folder.write("figure.json", set_with("1"));
    const Answer answer = folder.call("validate figure.json --out tables --html");
    CAPTURE(answer.out);
    CHECK(answer.code == 0);
    CHECK(answer.out.find("100 % of ratios within") != std::string::npos);
    CHECK(answer.out.find("too large") != std::string::npos);
    CHECK(answer.out.find("compute exchange sync, %") != std::string::npos);
    CHECK(answer.out.find("why: the mill grinds slowly") != std::string::npos);
    CHECK(answer.out.find("page: tables/validation.html\n") != std::string::npos);
    const std::string page = folder.read("tables/validation.html");
    CHECK(page.find("the mill grinds slowly") != std::string::npos);
    CHECK(page.find("Leaves out: port conflicts") != std::string::npos);
    CHECK(page.find("<!-- ") == std::string::npos);
    const std::string csv = folder.read("tables/figure.csv");
    CHECK(
        csv.starts_with("name,workload.n,published,simulated,ratio,compute,exchange,sync,"
                        "published_speedup,simulated_speedup,other machine,"
                        "memory.max_tile_bytes,workload.nope,baseline.memory.max_tile_bytes,"
                        "baseline.workload.nope\nsmall,16,500,"));
    const std::string small = csv.substr(0, csv.find("\nbest"));
    CHECK(std::count(small.begin(), small.end(), ',') == 28);
    CHECK(small.ends_with(','));
    CHECK(small.find(",7,") != std::string::npos);
    CHECK(csv.find(",1.5,") != std::string::npos);
    CHECK(csv.find("\nbest,64,1,") != std::string::npos);  // most cycles; 1000000 does not fit
    CHECK(csv.find("\nours alone,32,,") != std::string::npos);
    CHECK(answer.out.find("pass: every speed-up within 0.01 to 100") != std::string::npos);
    CHECK(csv.find("\ntoo large,1000000,,,") != std::string::npos);
  }

  TEST_CASE("figures of papers are listed and found by name") {
    const CommandFolder folder;
    const std::string sets = folder.call("list sets").out;
    CHECK(sets.find("\npopsparse_blocks   PopSparse: ") != std::string::npos);
    CHECK(sets.find("points, by name alone)\n") != std::string::npos);
    const Answer answer = folder.call("validate popsparse_blocks --quick");
    CHECK(answer.code == 0);
    CHECK(answer.out == "popsparse_blocks: none of its points is marked quick\n");
    check_refused(folder, "validate stream popsparse_block",
                  {"found popsparse_block, allowed codelets, ",
                   "or a file; did you mean "
                   "popsparse_blocks?"});
  }

  TEST_CASE("a file that is no set is refused with the key path") {
    const std::string head = R"({"title": "x", "citation": "y", )";
    const std::string base = R"("base": {"machine": "bow", "workload": {"kernel": "stream"}})";
    const std::pair<std::string, const char*> files[] = {
        {"[]", "a.json: (top level): found [], allowed an object"},
        {head + R"("points": []})", "a.json: base: not given, but required"},
        {head + R"("base": 3, "points": []})", "a.json: base: found 3, allowed an object"},
        {head + base + R"(, "points": 3})", "a.json: points: found 3, allowed a list"},
        {head + base + R"(, "points": [], "axes": ["a", 3]})",
         "a.json: axes[1]: found 3, allowed a text"},
        {head + base + R"(, "points": [], "fit": {"exponent": []}})",
         "a.json: fit.exponent: found an unknown key"},
        {head + base + R"(, "points": [], "baseline": 3})",
         "a.json: baseline: found 3, allowed an object"},
        {head + base + R"(, "points": [], "baseline": {}})",
         "a.json: baseline.config: not given, but required"},
        {head + base + R"(, "points": [{"name": "p", "published": 1, "set": 4}]})",
         "a.json: points[0].set: found 4, allowed an object"},
        {head + base + R"(, "points": [], "lines": [{"name": "l", "published": 1,
                              "points": ["q"], "at": [1]}]})",
         "a.json: lines[0].points: found q, allowed the name of a point"},
        {head + base + R"(, "points": [{"name": "p"}], "lines": [{"name": "l", "published": 1,
                              "points": ["p"], "at": [1]}]})",
         "a.json: lines[0].at: found 1 numbers for 1 points, allowed one each, 3 or more"},
        {head + base + R"(, "points": [{"name": "p"}], "crossing": {"over": "N"}})",
         "a.json: crossing.over: found N, allowed the name of a number in points' context"},
        {head + base + R"(, "points": [{"name": "p", "published": 0}]})",
         "a.json: points[0].published: found 0, allowed another number"}};
    const CommandFolder folder;
    for (const auto& [text, message] : files) {
      folder.write("a.json", text);
      check_refused(folder, "validate a.json", {message});
    }
    folder.write("a.json", head + base + R"(, "metric": {"key": "time.nope"},
        "points": [{"name": "p", "published": 1, "set": {"machine.tiles": 1}}]})");
    CHECK(folder.call("validate a.json").out.find("metric.key: found time.nope, allowed") !=
          std::string::npos);
  }

  TEST_CASE("values are judged as a straight line") {
    const CommandFolder folder;
    const auto point = [](int n) {
      return fmt::format(R"({{"name": "p{0}", "set": {{"workload.elements_per_worker": {0}}}}})",
                         n);
    };
    const auto judged = [&](double published) {
      folder.write(
          "a.json",
          fmt::format(R"({{"title": "x", "citation": "y", "base": {{"machine": {{"extends": "bow",
              "tiles": 1}}, "workload": {{"kernel": "stream"}}}}, "points": [{}, {}, {}],
              "lines": [{{"name": "copies", "points": ["p400", "p800", "p1600"],
              "at": [400, 800, 1600], "published": {}, "within": 0.2, "r2_least": 0.99}}]}})",
                      point(400), point(800), point(1600), published));
      return folder.call("validate a.json");
    };
    // A body of two slots for four f32, six cycles a slot.
    const Answer good = judged(3);
    CAPTURE(good.out);
    CHECK(good.code == 0);
    CHECK(good.out.find("pass: copies: slope 3 ") != std::string::npos);
    CHECK(judged(4).code == 1);
  }

  TEST_CASE("speed-ups along a number are said to pass the published one") {
    const CommandFolder folder;
    const auto point = [](int n) {
      return fmt::format(R"({{"name": "p{0}", "set": {{"workload.elements_per_worker": {0}}},
          "published_speedup": 3, "context": {{"elements": {0}}}}})",
                         n);
    };
    // Time grows with the elements: a third of the baseline's has a third of its time.
    const std::string points =
        fmt::format("{}, {}, {}, {}", point(8000), point(1000), point(400), point(2000));
    const auto judged = [&](int least) {
      folder.write("a.json", fmt::format(R"({{"title": "x", "citation": "y",
          "base": {{"machine": {{"extends": "bow", "tiles": 1}}, "workload": {{"kernel": "stream"}}}},
          "baseline": {{"config": {{"machine": {{"extends": "bow", "tiles": 1}},
             "workload": {{"kernel": "stream", "elements_per_worker": 4000}}}}}},
          "axes": ["workload.kernel"], "points": [{}],
          "crossing": {{"over": "elements", "least": {}, "most": 1500}}}})",
                                         points, least));
      return folder.call("validate a.json --html");
    };
    const Answer good = judged(1200);
    CAPTURE(good.out);
    CHECK(good.code == 0);
    const std::string said = "stream: 3 (published) passed at elements = 12";
    CHECK(good.out.find("pass: " + said) != std::string::npos);
    CHECK(good.out.find(", 1 at 39") != std::string::npos);
    CHECK(folder.read("runs/validation.html").find(said) != std::string::npos);
    CHECK(judged(1400).code == 1);
  }

  TEST_CASE("validate says on a terminal how far it is") {
    const CommandFolder folder;
    folder.write("figure.json", set_with("1"));
    if (std::system("script --version > /dev/null 2>&1") != 0) {
      MESSAGE("skipped: script is not installed");
      return;
    }
    const std::string call =
        fmt::format("cd {} && script -qec '{} validate figure.json' seen > out",
                    folder.path().string(), TESSERA_PROGRAM);
    CHECK(std::system(call.c_str()) == 0);
    CHECK(folder.read("seen").find(" of 10 points") != std::string::npos);
  }

  TEST_CASE("validate fails where a gate does not hold") {
    const CommandFolder folder;
    folder.write("figure.json", set_with("1.5"));
    const Answer answer = folder.call("validate figure.json");
    CHECK(answer.code == 1);
    CHECK(answer.out.find("FAIL: 150 % of ratios") != std::string::npos);
    CHECK(folder.has("runs/figure.csv"));
  }

  TEST_CASE("a point's speed-up is judged beside the published one") {
    const CommandFolder folder;
    const auto code = [&](const char* within) {
      std::string text = set_with("1");
      const std::string known = "\"published_speedup\": 1.5";
      folder.write("figure.json", text.replace(text.find(known), known.size(), known + within));
      return folder.call("validate figure.json").code;
    };
    CHECK(code(", \"speedup_within\": 100") == 0);
    CHECK(code(", \"speedup_within\": 0.0001") == 1);
    folder.write("figure.json", R"({"title": "x", "citation": "y", "base": {},
      "points": [{"name": "p", "speedup_within": 0.1}]})");
    const Answer answer = folder.call("validate figure.json");
    CHECK(answer.code == 2);
    CHECK(answer.err.find("points[0].speedup_within: stands without published_speedup") !=
          std::string::npos);
  }
}
