#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using namespace tessera::test;

namespace {

/// A product compared with itself on more tiles; both run within moments.
constexpr const char* kSet = R"({
  "title": "a set", "evidence": "indirect", "citation": "nobody", "why": "the mill grinds slowly",
  "base": {"machine": {"extends": "bow", "tiles": 4},
           "workload": {"kernel": "PRODUCT", "m": 16, "k": 16, "dtype": "f16"}},
  "baseline": {"config": {"machine": {"extends": "bow", "tiles": 1},
                          "workload": {"kernel": "PRODUCT", "m": 16, "k": 16, "dtype": "f16"}},
               "same": ["workload.n"]},
  "axes": ["workload.n"], "columns": ["memory.max_tile_bytes", "workload.nope"],
  "metric": {"key": "time.cycles", "unit": "cycles"},
  "regression": {"share_low": 0.001, "share_high": 1000, "share_least": RANGE,
            "speedup_least": 0.01, "speedup_most": 100},
  "points": [
    {"name": "small", "quick": true, "set": {"workload.n": 16}, "published": 500, "published_speedup": 1.5,
     "context": {"other machine": 7}},
    {"name": "best", "best": {"over": "workload.n", "values": [16, 64, 50000]}, "published": 1},
    {"name": "ours alone", "set": {"workload.n": 32}},
    {"name": "too large", "fits": false, "set": {"workload.n": 50000}, "published": 0}
  ]
})";

std::string set_with(const char* share) {
  std::string text = with_kernel(kSet);
  return text.replace(text.find("RANGE"), 5, share);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("validate runs a set from a file and writes its table") {
    const CommandFolder folder{{"figure.json", set_with("1")}};
    const Answer answer = folder.call("validate figure.json --out tables --html");
    CAPTURE(answer.out);
    CHECK(answer.code == 0);
    check_holds(answer.out,
                {"100 % of ratios within", "too large", "compute exchange sync host wait, %",
                 "why: the mill grinds slowly", "page: tables/validation.html\n"});
    const std::string page = folder.read("tables/validation.html");
    check_holds(page, {"the mill grinds slowly", "Leaves out: port conflicts"});
    CHECK(!holds(page, "<!-- "));
    const std::string csv = folder.read("tables/figure.csv");
    CHECK(
        csv.starts_with("name,workload.n,published,simulated,ratio,compute,exchange,sync,host,wait,"
                        "published_speedup,simulated_speedup,speedup_ratio,evidence,accuracy,"
                        "regression,other machine,"
                        "memory.max_tile_bytes,workload.nope,baseline.memory.max_tile_bytes,"
                        "baseline.workload.nope\nsmall,16,500,"));
    const std::string small = csv.substr(0, csv.find("\nbest"));
    CHECK(std::count(small.begin(), small.end(), ',') == 40);
    CHECK(small.ends_with(','));
    CHECK(holds(small, ",7,"));
    CHECK(holds(csv, ",1.5,"));
    CHECK(holds(csv, "\nbest,64,1,"));  // highest cycles; 50000 does not fit
    CHECK(holds(csv, "\nours alone,32,,"));
    CHECK(holds(small, ",indirect,near,pass,"));
    check_holds(answer.out, {"evidence: indirect: published of another machine",
                             "accuracy: not judged: its kind of evidence has no gate"});
    CHECK(holds(folder.read("tables/totals.csv"), "\nindirect,1,2,"));
    const Answer quick = folder.done("validate figure.json --out tables --quick");
    CHECK(holds(quick.out, "table: tables/figure-quick.csv\n"));
    CHECK(folder.read("tables/figure.csv") == csv);
    CHECK(holds(answer.out, "regression pass: every speed-up within 0.01 to 100"));
    CHECK(holds(csv, "\ntoo large,50000,,,"));
  }

  TEST_CASE("validate takes the points that its folder has, and runs those that are missing") {
    const CommandFolder folder{{"figure.json", set_with("1")}};
    const Answer first = folder.done("validate figure.json --out t");
    const auto points = [&] {
      return std::filesystem::directory_iterator(folder.path() / "t/points");
    };
    std::map<std::filesystem::path, std::filesystem::file_time_type> times;
    for (const auto& file : points()) times[file.path()] = file.last_write_time();
    CHECK(times.size() == 8);
    std::filesystem::remove(times.begin()->first);
    CHECK(folder.done("validate figure.json --out t").out == first.out);
    std::size_t kept = 0;
    for (const auto& file : points())
      kept += times.at(file.path()) == file.last_write_time() ? 1 : 0;
    CHECK(kept == 7);
  }

  TEST_CASE("validate --set changes the machine of every point, says so, and judges nothing") {
    const CommandFolder folder{{"figure.json", set_with("1.5")}};
    const Answer answer =
        folder.done("validate figure.json --out t --set machine.tile.sram_kib=40 --quick");
    CAPTURE(answer.out);
    check_holds(answer.out, {"figure: a set, with machine.tile.sram_kib=40\n",
                             "neither accuracy nor regression is judged"});
    CHECK(!holds(answer.out, "totals"));
    const std::string csv = folder.read("t/figure-quick-set.csv");
    check_holds(csv, {",regression,set,", ",near,,machine.tile.sram_kib=40,"});
    const auto refused = [&](const char* set, const char* why) {
      check_refused(folder, fmt::format("validate figure.json --set {}", set), {why});
    };
    refused("machine.tile.sram=9", "unknown key");
    refused("workload.m=32", "found workload.m, allowed keys of the machine");
    check_refused(folder, "validate contexts --set machine.tile.contexts=4",
                  {"machine.tile.contexts: the points of contexts differ in it"});
  }

  TEST_CASE("figures of papers are listed and found by name") {
    const CommandFolder folder;
    const std::string sets = folder.call("list sets").out;
    check_holds(sets, {"\npopsparse_blocks     PopSparse: ", "points, silicon, by name alone)\n"});
    const Answer answer = folder.done("validate popsparse_blocks --quick");
    CHECK(answer.out == "popsparse_blocks: none of its points is marked quick\n");
    check_refused(folder, "validate stream popsparse_block",
                  {"found popsparse_block, allowed codelets, ",
                   "or a file; did you mean "
                   "popsparse_blocks?"});
  }

  TEST_CASE("a point says what its set or its config asks for in vain") {
    const auto told = [](const char* metric, const char* set) {
      const CommandFolder folder{{"a.json", fmt::format(R"({{"title": "x", "evidence": "silicon",
        "citation": "y", "base": {}, "metric": {{"key": "{}"}},
        "points": [{{"name": "p", "published": 1, "set": {}}}]}})",
                                                        small_config(1), metric, set)}};
      return folder.call("validate a.json --out tables").out;
    };
    CHECK(holds(told("time.nope", "{}"), "metric.key: found time.nope, allowed"));
    CHECK(holds(told("time.cycles", R"({"report.trace": "phases"})"),
                "report.trace: found \"phases\", allowed none: tessera run alone writes traces"));
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
          fmt::format(
              R"({{"title": "x", "evidence": "silicon", "citation": "y", "base": {{"machine": {{"extends": "bow",
              "tiles": 1}}, "workload": {{"kernel": "{}"}}}}, "points": [{}, {}, {}],
              "lines": [{{"name": "copies", "points": ["p400", "p800", "p1600"],
              "at": [400, 800, 1600], "published": {}}}]}})",
              with_kernel("KERNEL"), point(400), point(800), point(1600), published));
      return folder.call("validate a.json");
    };
    // A loop body of two slots for four f32, six cycles a slot.
    const Answer good = judged(3);
    CAPTURE(good.out);
    CHECK(good.code == 0);
    CHECK(holds(good.out, "accuracy pass: copies: slope 3 "));
    CHECK(judged(4).code == 1);
  }

  TEST_CASE("values are judged by where they saturate, of quick points too") {
    const CommandFolder folder;
    const auto point = [](int n) {
      return fmt::format(
          R"({{"name": "p{0}", "quick": true, "set": {{"machine.tile.contexts": {0}}}}})", n);
    };
    const auto judged = [&](const std::string& published) {
      folder.write(
          "a.json",
          fmt::format(
              R"({{"title": "x", "evidence": "silicon", "citation": "y", "base": {{"machine": {{"extends": "upmem",
          "tiles": 1}}, "workload": {{"kernel": "{}", "operation": "update", "dtype": "i32", "elements_per_worker": 100}}}},
          "metric": {{"key": "rate.useful_integer_operations_per_second"}}, "points": [{}, {}, {}, {}],
          "knees": [{{"name": "adds", "points": ["p8", "p10", "p11", "p16"], "at": [8, 10, 11, 16], {}}}]}})",
              with_kernel("KERNEL"), point(8), point(10), point(11), point(16), published));
      return folder.call("validate a.json --quick");
    };
    const Answer good = judged(R"("published": 11)");
    CAPTURE(good.out);
    CHECK(good.code == 0);
    CHECK(
        holds(good.out, "accuracy pass: adds: within 8 % of the largest from 11 on, published 11"));
    CHECK(judged(R"("published": 8, "published_most": 11)").code == 0);
    CHECK(judged(R"("published": 8, "published_most": 10)").code == 1);
    CHECK(judged(R"("published": 10, "within": 0.1)").code == 0);
  }

  TEST_CASE("speed-ups along a number are said to pass the published one") {
    const CommandFolder folder;
    const auto point = [](int n) {
      return fmt::format(R"({{"name": "p{0}", "set": {{"workload.elements_per_worker": {0}}},
          "published_speedup": 3, "context": {{"elements": {0}}}}})",
                         n);
    };
    // Time is proportional to the elements: a third of the baseline's takes a third of its time.
    const std::string points =
        fmt::format("{}, {}, {}, {}", point(8000), point(1000), point(400), point(2000));
    const auto judged = [&](int least) {
      folder.write("a.json", fmt::format(R"({{"title": "x", "evidence": "indirect", "citation": "y",
          "base": {{"machine": {{"extends": "bow", "tiles": 1}}, "workload": {{"kernel": "{0}"}}}},
          "baseline": {{"config": {{"machine": {{"extends": "bow", "tiles": 1}},
             "workload": {{"kernel": "{0}", "elements_per_worker": 4000}}}}}},
          "axes": ["workload.kernel"], "points": [{1}],
          "crossing": {{"over": "elements", "least": {2}, "most": 1500}}}})",
                                         with_kernel("KERNEL"), points, least));
      return folder.call("validate a.json --html");
    };
    const Answer good = judged(1200);
    CAPTURE(good.out);
    CHECK(good.code == 0);
    const std::string said = with_kernel("KERNEL: 3 (published) passed at elements = 12");
    check_holds(good.out, {"regression pass: " + said, ", 1 at 39"});
    CHECK(holds(folder.read("runs/validation.html"), said));
    CHECK(judged(1400).code == 1);
  }

  TEST_CASE("validate says on a terminal how far it is") {
    const CommandFolder folder{{"figure.json", set_with("1")}};
    if (std::system("script --version > /dev/null 2>&1") != 0) {
      MESSAGE("skipped: script is not installed");
      return;
    }
    const std::string call =
        fmt::format("cd {} && script -qec '{} validate figure.json' seen > out",
                    folder.path().string(), TESSERA_PROGRAM);
    CHECK(std::system(call.c_str()) == 0);
    CHECK(holds(folder.read("seen"), " of 10 points"));
  }

  TEST_CASE("validate fails where a gate does not hold") {
    const CommandFolder folder{{"figure.json", set_with("1.5")}};
    const Answer answer = folder.call("validate figure.json");
    CHECK(answer.code == 1);
    CHECK(holds(answer.out, "regression FAIL: 150 % of ratios"));
    CHECK(folder.has("runs/figure.csv"));
  }

  TEST_CASE("the kind of evidence alone determines what is near published numbers") {
    const CommandFolder folder;
    // 2000 elements a worker take 6000 cycles, plus start and end.
    const auto judged = [&](const char* kind, int published, const std::string& more = "") {
      folder.write("a.json", fmt::format(R"({{"title": "x", "evidence": "{}", "citation": "y", {}
          "base": {{"machine": {{"extends": "bow", "tiles": 1}},
                    "workload": {{"kernel": "{}", "elements_per_worker": 2000}}}},
          "points": [{{"name": "p", "published": {}}}]}})",
                                         kind, more, with_kernel("KERNEL"), published));
      return folder.call("validate a.json --out t");
    };
    const Answer good = judged("silicon", 6200);
    CAPTURE(good.out);
    CHECK(good.code == 0);
    check_holds(good.out,
                {"accuracy pass: 100.0 % of 1 point within 1.25x (80 % or more)",
                 "accuracy: 1 of 1 set reproduce what is published; 0 do not, with a "
                 "stated shortfall; 0 FAIL\nregression: 1 of 1 set as recorded; 0 FAIL\n"});
    CHECK(judged("datasheet", 6000).code == 1);
    CHECK(judged("vendor_model", 5200).code == 0);
    CHECK(judged("goal", 6000).code == 0);
    CHECK(judged("goal", 9000).code == 1);
    CHECK(judged("indirect", 100).code == 0);
    const Answer far = judged("silicon", 9000);
    CHECK(far.code == 1);
    check_holds(far.out, {"accuracy FAIL: median 0.6", "does not reproduce what is published",
                          "1 FAIL: a\n"});
    const Answer known = judged("silicon", 9000, R"("shortfall": "no loop of ours",)");
    CHECK(known.code == 0);
    check_holds(known.out, {"accuracy FAIL: median 0.6", "shortfall: no loop of ours",
                            "0.0 %  0 of 1\n", "1 do not, with a stated shortfall: a; 0 FAIL"});
    CHECK(holds(folder.read("t/a.csv"), ",silicon,far,pass"));
    CHECK(judged("silicon", 9000,
                 R"("shortfall": "known", "regression": {"none_below": 0.9, "none_above": 1.1},)")
              .code == 1);
  }

  TEST_CASE("published parts of unknown origin are shown beside the others, never within") {
    const CommandFolder folder{
        {"a.json", with_kernel(R"({"title": "x", "evidence": "silicon", "citation": "y",
      "base": {"machine": {"extends": "bow", "tiles": 1},
               "workload": {"kernel": "KERNEL", "elements_per_worker": 2000}},
      "unexplained": {"amount": 6000, "what": "nobody knows"},
      "points": [{"name": "p", "published": 12000}]})")}};
    const Answer answer = folder.call("validate a.json --out t");
    CAPTURE(answer.out);
    CHECK(answer.code == 1);
    check_holds(answer.out, {"ratio with 6000", "unexplained: nobody knows"});
    CHECK(holds(folder.read("t/a.csv"), "regression,ratio_with_unexplained\n"));
  }

  TEST_CASE("a point's speed-up is judged beside the published one") {
    const CommandFolder folder;
    const auto code = [&](const char* within) {
      std::string text = set_with("1");
      const std::string known = "\"published_speedup\": 1.5";
      folder.write("figure.json", text.replace(text.find(known), known.size(), known + within));
      return folder.call("validate figure.json").code;
    };
    CHECK(code(", \"regression\": {\"speedup_within\": 100}") == 0);
    CHECK(code(", \"regression\": {\"speedup_within\": 0.0001}") == 1);
    folder.write("figure.json", R"({"title": "x", "evidence": "silicon", "citation": "y",
      "base": {}, "points": [{"name": "p", "regression": {"speedup_within": 0.1}}]})");
    const Answer answer = folder.call("validate figure.json");
    CHECK(answer.code == 2);
    CHECK(
        holds(answer.err, "points[0].regression.speedup_within: stands without published_speedup"));
  }
}
