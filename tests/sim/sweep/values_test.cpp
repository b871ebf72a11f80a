#include "sim/sweep/values.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"

using namespace tessera;
using sweep::Json;
using sweep::parse_range;
using sweep::parse_values;

namespace {

std::string listed(const std::string& text) { return Json(parse_values(text, "axis")).dump(); }

void values_refused(const std::string& text, const std::string& message) {
  CHECK_THROWS_WITH_AS(parse_values(text, "axis"), ("axis: " + message).c_str(), UserError);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("values with commas between are JSON if they parse, else texts") {
    CHECK(listed("64,256") == "[64,256]");
    CHECK(listed("f16,true,1.5,-2,null") == R"(["f16",true,1.5,-2,null])");
    CHECK(listed("[1,2],[3,4]") == "[[1,2],[3,4]]");
    CHECK(listed(R"({"a":1,"b":[2,3]},"x,y")") == R"([{"a":1,"b":[2,3]},"x,y"])");
    CHECK(listed("../a.mtx,..") == R"(["../a.mtx",".."])");
  }

  TEST_CASE("ranges step by one, by a step or by a factor, the end included if reached") {
    CHECK(listed("1..4") == "[1,2,3,4]");
    CHECK(listed("0..10+4") == "[0,4,8]");
    CHECK(listed("16..4096*4") == "[16,64,256,1024,4096]");
    CHECK(listed("16..4095*4") == "[16,64,256,1024]");
    CHECK(listed("-2..2+2") == "[-2,0,2]");
    CHECK(listed("7..7*2") == "[7]");
    CHECK(listed("1,2,8..32*2") == "[1,2,8,16,32]");
  }

  TEST_CASE("ranges of reals have no errors of rounding and reach their end") {
    CHECK(listed("0.1..0.5+0.1") == "[0.1,0.2,0.3,0.4,0.5]");
    CHECK(listed("0.001..1*10") == "[0.001,0.01,0.1,1.0]");
    CHECK(listed("1..8*1.5") == "[1.0,1.5,2.25,3.375,5.0625,7.59375]");
    CHECK(listed("1e2..1e3*10") == "[100.0,1000.0]");
  }

  TEST_CASE("arguments that are neither values nor ranges are refused") {
    values_refused("", "found an empty value, allowed values with a comma between");
    values_refused("1,,2", "found an empty value, allowed values with a comma between");
    const std::string no_range = "not a range; allowed LOW..HIGH, LOW..HIGH+STEP, LOW..HIGH*FACTOR";
    values_refused("1..", "1..: " + no_range);
    values_refused("1..x", "1..x: " + no_range);
    values_refused("1..8/2", "1..8/2: " + no_range);
    values_refused("1..8*2x", "1..8*2x: " + no_range);
    values_refused("8..1", "8..1: the end is below the beginning");
    values_refused("1..8*1", "1..8*1: found *1, allowed above 1");
    values_refused("1..8+0", "1..8+0: found +0, allowed above 0");
    values_refused("0..8*2", "0..8*2: found a beginning of 0, allowed above 0");
    values_refused("0..1e9+1", "0..1e9+1: more than 1000000 values");
    values_refused("0.5..1", "0.5..1: a range of reals needs a +STEP or *FACTOR");
    values_refused("1..8 log", "1..8 log: log is for sweep.random");
    CHECK_THROWS_AS(parse_values("99999999999999999999", "axis"), UserError);
  }

  TEST_CASE("a fraction picks from a range, evenly or by its logarithm") {
    const auto at = [](const char* text, double fraction) {
      return parse_range(text, "axis")->at(fraction).dump();
    };
    CHECK(at("1..4", 0) == "1");
    CHECK(at("1..4", 0.25) == "2");
    CHECK(at("1..4", 0.9999) == "4");
    CHECK(at("0.0..2", 0.5) == "1.0");
    CHECK(at("0.01..1 log", 0.5) == "0.1");
    CHECK(at("1..10000 log", 0.5) == "100");
    CHECK(at("0.0..1", 1.0 / 3) == "0.333333");
  }
}
