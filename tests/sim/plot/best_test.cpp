#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/plot/rows.h"
#include "tests/sim/plot/samples.h"

using namespace tessera;
using namespace tessera::plot;
using test::runs;

namespace {

Source source() {
  return runs({"n", "type"},
              {{1, "f16", 10}, {2, "f16", 5}, {4, "f16", 5}, {1, nullptr, 7}, {2, nullptr, 9}});
}

std::vector<std::string> at(const Rows& rows, const std::string& path) {
  std::vector<std::string> texts;
  for (const Row& row : rows.rows) texts.push_back(text(row, path));
  return texts;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("of runs that differ only along the axis, the first best one is kept") {
    const Rows best = best_over(source().rows, std::vector<std::string>{"n"}, "time.cycles");
    CHECK(best.axes == std::vector<std::string>{"type"});
    CHECK(at(best, "type") == std::vector<std::string>{"f16", ""});
    CHECK(at(best, "n") == std::vector<std::string>{"2", "1"});
  }

  TEST_CASE("the largest rate is best") {
    const Rows best =
        best_over(source().rows, std::vector<std::string>{"type"}, "rate.useful_flops_per_second");
    CHECK(at(best, "n") == std::vector<std::string>{"1", "2", "4"});
    CHECK(at(best, "type") == std::vector<std::string>{"", "f16", "f16"});
  }

  TEST_CASE("runs without the quantity are none, unless all are") {
    Source holes = source();
    holes.rows.rows[1].report["time"].erase("cycles");
    holes.rows.rows[2].report["time"].erase("cycles");
    const Rows best = best_over(holes.rows, std::vector<std::string>{"n"}, "time.cycles");
    CHECK(at(best, "n") == std::vector<std::string>{"1", "1"});
  }

  TEST_CASE("keys that are not axes are refused with the nearest one") {
    CHECK_THROWS_WITH_AS(best_over(source().rows, std::vector<std::string>{"typ"}, "time.cycles"),
                         "runs: --best: found typ, allowed an axis (n, type); did you mean type?",
                         UserError);
  }
}
