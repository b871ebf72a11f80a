#include "sim/config/json_text.h"

#include <doctest/doctest.h>

#include "tests/refusal.h"

using namespace tessera;
using config::parse_json;
using test::holds;

namespace {

std::string json_error(const std::string& text) {
  return test::refusal([&] { return parse_json(text, "a.json"); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("comments, notes and exact integers are read") {
    const config::Json value = parse_json(R"(// head
      {"a": /* inner */ 18446744073709551615, "//": "x", "//": "y", "b": [-1, {"c": 0.1}]})",
                                          "a.json");
    CHECK(value["a"].get<std::uint64_t>() == 18446744073709551615ULL);
    CHECK(value["b"][0] == -1);
    CHECK(value["b"].dump() == R"([-1,{"c":0.1}])");
  }

  TEST_CASE("syntax errors say line and column") {
    CHECK(json_error("{\n  \"a\": 1,,\n}") ==
          "a.json: line 2, column 10: syntax error while parsing object key - unexpected ','; "
          "expected string literal");
    CHECK(json_error("{\"a\": 1} x").starts_with("a.json: line 1, column 10: syntax error"));
    CHECK(json_error("{\"a\": NaN}").starts_with("a.json: line 1, column 7: syntax error"));
    CHECK(json_error("").starts_with("a.json: line 1, column 1: syntax error"));
    CHECK(holds(json_error("{\"a\": \"\xff\"}"), "ill-formed UTF-8 byte; last read: '\"\\xff'"));
    CHECK(json_error("/* open").starts_with("a.json: line 1, column 8: syntax error"));
  }

  TEST_CASE("duplicate keys, too large integers and deep nesting name their key path") {
    CHECK(json_error(R"({"a": {"b": 1, "c": 2, "b": 3}})") ==
          "a.json: a.b: the key stands twice in the same object");
    CHECK(json_error(R"({"a": [1, {"x": 0}, {"b": 1, "b": 3}]})") ==
          "a.json: a[2].b: the key stands twice in the same object");
    CHECK(json_error(R"({"a": [0, 123456789012345678901]})") ==
          "a.json: a[1]: integer 123456789012345678901 does not fit in 64 bits");
    CHECK(json_error(std::string(100, '[')).ends_with("nested more than 64 levels deep"));
    CHECK(holds(json_error("{\"a\": 1e999}"), "1e999"));
  }
}
