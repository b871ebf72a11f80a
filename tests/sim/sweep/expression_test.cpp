#include "sim/sweep/expression.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/config/json_text.h"

using namespace tessera;
using config::Json;
using sweep::Expression;

namespace {

const Json& config() {
  static const Json kConfig = config::parse_json(R"({
    "machine": {"name": "bow", "tiles": 64, "ports": [4, 8]},
    "workload": {"kernel": "product", "m": 256, "n": 100, "density": 0.5, "plan": null}})",
                                                 "test");
  return kConfig;
}

bool holds(const std::string& text) { return Expression(text, "where").holds(config()); }

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("conditions compare paths, numbers, texts and truths") {
    for (const char* truth :
         {"workload.m <= 4 * machine.tiles",
          "machine.name == \"bow\" and workload.kernel != 'other'", "machine.ports[1] == 8",
          "true != false", "not workload.m < 4 * machine.tiles"}) {
      CAPTURE(truth);
      CHECK(holds(truth));
    }
  }

  TEST_CASE("operators bind as in arithmetic and group from the left; functions take arguments") {
    for (const char* truth :
         {"2 + 3 * 4 == 14", "(2 + 3) * 4 == 20", "10 - 4 - 3 == 3", "64 / 4 / 2 == 8",
          "-2 * -3 == 6", "7 % 4 == 3", "1 == 1 or 1 == 2 and 1 == 3", "not 1 == 2",
          "!(1 == 2) && !(1==3) || false", "not not true", ".5==workload.density",
          "log2(machine.tiles) == 6", "min(3, workload.n) == 3", "max(3, workload.n) == 100",
          "floor(workload.n / 64) == 1 and ceil(workload.n / 64) == 2"}) {
      CAPTURE(truth);
      CHECK(holds(truth));
    }
    CHECK_FALSE(holds("(1 == 1 or 1 == 2) and 1 == 3"));
  }

  TEST_CASE("and and or look no further than they must") {
    CHECK_FALSE(holds("false and workload.none == 1"));
    CHECK(holds("true or workload.none == 1"));
  }

  TEST_CASE("an expression of very many operators is refused at once, one of a thousand holds") {
    const auto sum = [](int terms) {
      std::string text = "1";
      for (int i = 1; i < terms; ++i) text += " + 1";
      return text;
    };
    CHECK(Expression(sum(1001), "test").number([](const std::string&) { return 0; }) == 1001);
    CHECK_THROWS_WITH_AS(Expression(sum(1'000'000), "test"),
                         doctest::Contains("allowed at most 1000 operators"), UserError);
  }

  TEST_CASE("values nested too deeply, or missing, are refused") {
    CHECK_THROWS_AS(holds(std::string(500, '(') + "1"), UserError);
    CHECK_THROWS_AS(holds(std::string(500, '-') + "1 < 2"), UserError);
    CHECK_THROWS_WITH_AS(holds("workload.plan == 3"),
                         "where: workload.plan == 3: null and 3 cannot be compared", UserError);
  }

  TEST_CASE("an expression may be a number, whatever its paths stand for") {
    const Expression expression("time / (n + 2) - time", "y");
    CHECK(expression.paths() == std::vector<std::string>{"time", "n", "time"});
    CHECK(expression.number([](const std::string& path) { return Json(path == "n" ? 3 : 10); }) ==
          -8);
    const Expression truth("n < 2", "y");
    CHECK_THROWS_WITH_AS(
        static_cast<void>(truth.number([](const std::string&) { return Json(1); })),
        "y: n < 2: the whole: found true, allowed a number", UserError);
  }
}
