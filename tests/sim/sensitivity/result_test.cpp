#include "sim/sensitivity/result.h"

#include <set>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/refusal.h"

using namespace tessera;
using namespace tessera::sensitivity;
using test::check_holds;
using test::holds;

namespace {

Answer answer(double seconds, double joules = 1, const std::string& plan = "{}") {
  return {{}, plan, {}, seconds, joules, 10};
}

Key key(const std::string& path, double value, End low, End high) {
  return {{path, "", "", value, true}, std::move(low), std::move(high), {}};
}

Result result_of(std::vector<Key> keys) {
  Result result;
  result.heading = "k on m";
  result.base = answer(8);
  result.keys = std::move(keys);
  return result;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a slope is d log metric / d log key over the values that there are") {
    const Result result = result_of({key("machine.a", 4, {2, answer(16)}, {8, answer(4)}),
                                     key("machine.b", 4, {}, {9, answer(8 * 2.25)}),
                                     key("machine.c", 4, {1, answer(8)}, {8, answer(64)}),
                                     key("machine.d", 4, {}, {})});
    CHECK(*slope(result, result.keys[0], Metric::time) == doctest::Approx(-1));
    CHECK(*slope(result, result.keys[1], Metric::time) == doctest::Approx(1));
    CHECK(*slope(result, result.keys[2], Metric::time) == doctest::Approx(1));  // log 8 / log 8
    CHECK_FALSE(slope(result, result.keys[3], Metric::time));
    CHECK(*slope(result, result.keys[0], Metric::energy) == doctest::Approx(0));
  }

  TEST_CASE("an end that does not run has no part in the slope, but the key acts") {
    const Result result =
        result_of({key("machine.a", 4, {2, {"does not fit"}}, {8, answer(4)}),
                   key("machine.b", 4, {2, answer(8)}, {8, answer(8)}),
                   key("machine.c", 4, {2, answer(8, 2)}, {8, answer(8)}),
                   key("machine.d", 4, {2, {"does not fit"}}, {8, {"nor does it"}})});
    CHECK(*slope(result, result.keys[0], Metric::time) == doctest::Approx(-1));
    CHECK(acts(result, result.keys[0]));
    CHECK_FALSE(acts(result, result.keys[1]));
    CHECK(acts(result, result.keys[2]));
    CHECK(acts(result, result.keys[3]));
    CHECK_FALSE(slope(result, result.keys[3], Metric::time));
  }

  TEST_CASE("the strongest keys come first, and the table names those that do nothing") {
    Key held = key("machine.held", 1, {}, {});
    held.held = "allowed 1";
    Result result =
        result_of({std::move(held), key("machine.idle", 1, {}, {2, answer(8)}),
                   key("machine.weak", 4, {}, {8, answer(8.1)}),
                   key("machine.energy", 4, {}, {8, answer(8, 3)}),
                   key("machine.strong", 4, {2, answer(16)}, {8, answer(4, 1, "{\"p\":1}")})});
    sort(result);
    std::vector<std::string> order;
    for (const Key& each : result.keys) order.push_back(each.number.path.substr(8));
    CHECK(order == std::vector<std::string>{"strong", "weak", "energy", "idle", "held"});
    const std::string text = table(result);
    check_holds(text, {"-50.0 %*", "* with another plan",
                       "1 key changes nothing that is predicted, at either value", ":\n    idle\n",
                       "cannot be moved:\n    held 1: allowed 1\n"});
    result.simulated = true;
    CHECK(holds(table(result), "1 key changes nothing of this run at either value:\n    idle\n"));
  }

  TEST_CASE("keys that are 0 are listed together") {
    Key off = key("machine.off", 0, {}, {});
    off.held = "is 0, of which there is no ratio";
    Key none = off;
    none.number.path = "machine.none";
    CHECK(holds(table(result_of({off, none})),
                "2 keys are 0, which no factor moves:\n    off none\n"));
    CHECK_FALSE(holds(table(result_of({off})), "cannot be moved"));
  }

  TEST_CASE("columns stand below each other however long the keys' names are") {
    const std::string text =
        table(result_of({key("machine." + std::string(60, 'k'), 4, {2, answer(16)}, {8, answer(4)}),
                         key("machine.short", 4, {2, answer(16)}, {8, answer(4)})}));
    const std::size_t rows = text.find("d log");
    std::istringstream lines(text.substr(rows - 2, text.find("\n\n", rows) - rows));
    std::set<std::size_t> widths;
    for (std::string line; std::getline(lines, line);) widths.insert(line.size());
    CHECK(widths.size() == 1);
  }

  TEST_CASE("keys are not said to do nothing where energy is not predicted") {
    Result result = result_of({key("machine.idle", 2, {1, answer(8)}, {4, answer(8)})});
    CHECK(holds(table(result), "1 key changes nothing that is predicted"));
    for (Answer* each : {&result.base, &result.keys[0].low.answer, &result.keys[0].high.answer})
      each->joules.reset();
    CHECK(holds(table(result), "? energy is not predicted"));
    CHECK(holds(table(result), "1 key changes neither time nor area that is predicted"));
  }

  TEST_CASE("a key whose area has no model has no slope of it, and the table says so") {
    Result result = result_of({key("machine.a", 4, {2, answer(16)}, {8, answer(4)})});
    CHECK(*slope(result, result.keys[0], Metric::area) == 0);
    CHECK_FALSE(holds(table(result), "has no model"));
    result.keys[0].area_model = false;
    CHECK_FALSE(slope(result, result.keys[0], Metric::area));
    CHECK(holds(table(result), "none: the area of this key's hardware has no model"));
    CHECK(to_json(result).at("keys").at(0).at("area_model") == false);
  }

  TEST_CASE("the CSV has what there is and leaves the rest empty") {
    const Result result = result_of(
        {key("machine.a", 4, {2, {"no, \"not\"\nmore"}}, {8, answer(4, 1, "{\"p\":1}")})});
    CHECK(csv(result) ==
          "key,unit,value,time_slope,energy_slope,area_slope,low,low_seconds,low_joules,low_mm2,"
          "low_plan,low_error,high,high_seconds,high_joules,high_mm2,high_plan,high_error,seconds,"
          "joules,mm2,held,area_model\n"
          "machine.a,,4,-1,0,0,2,,,,,\"no, \"\"not\"\"\",8,4,1,10,changed,,8,1,10,,yes\n");
  }
}
