#include <doctest/doctest.h>

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
  "axes": ["workload.n"],
  "metric": {"key": "time.cycles", "unit": "cycles"},
  "gates": {"share_low": 0.001, "share_high": 1000, "share_least": RANGE},
  "points": [
    {"name": "small", "set": {"workload.n": 16}, "published": 500, "published_speedup": 1.5,
     "context": {"other machine": 7}},
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
    const Answer answer = folder.call("validate figure.json --out tables");
    CAPTURE(answer.out);
    CHECK(answer.code == 0);
    CHECK(answer.out.find("100 % of ratios within") != std::string::npos);
    CHECK(answer.out.find("too large") != std::string::npos);
    CHECK(answer.out.find("compute exchange sync, %") != std::string::npos);
    CHECK(answer.out.find("why: the mill grinds slowly") != std::string::npos);
    const std::string csv = folder.read("tables/figure.csv");
    CHECK(
        csv.starts_with("name,workload.n,published,simulated,ratio,compute,exchange,sync,"
                        "published_speedup,simulated_speedup,other machine\nsmall,16,500,"));
    CHECK(csv.find(",1.5,") != std::string::npos);
    CHECK(csv.find("\ntoo large,1000000,,,") != std::string::npos);
  }

  TEST_CASE("validate fails where a gate does not hold") {
    const CommandFolder folder;
    folder.write("figure.json", set_with("1.5"));
    const Answer answer = folder.call("validate figure.json");
    CHECK(answer.code == 1);
    CHECK(answer.out.find("FAIL: 150 % of ratios") != std::string::npos);
    CHECK(folder.has("runs/figure.csv"));
  }
}
