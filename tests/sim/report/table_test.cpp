#include "sim/report/table.h"

#include <doctest/doctest.h>

#include "tests/refusal.h"

using namespace tessera;
using report::parse_table;
using report::Table;

namespace {

std::string refusal(std::string_view csv, const std::vector<std::string_view>& needed = {}) {
  return test::refusal([&] { return parse_table(csv, "a.csv", needed); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a table is read as columns of numbers and of words") {
    const Table table =
        parse_table("name,cycles,mean\n\"a, \"\"b\"\"\",7,0.5\nc,-8,10.2\n\"a, \"\"b\"\"\",9,3.0\n",
                    "a.csv", {"name", "mean"});
    CHECK(table.rows == 3);
    CHECK(table.at("name").words == std::vector<std::string>{"a, \"b\"", "c"});
    CHECK(table.at("name").word(2) == "a, \"b\"");
    CHECK(table.at("cycles").values == std::vector<double>{7, -8, 9});
    CHECK(table.at("cycles").words.empty());
    CHECK(table.at("mean").decimals == 1);
    CHECK(table.at("cycles").decimals == 0);
    CHECK(table.find("cycle") == nullptr);
  }

  TEST_CASE("a table of no rows is one, and the last line may lack its end") {
    CHECK(parse_table("name,b\n", "a.csv", {"name", "b"}).rows == 0);
    CHECK(parse_table("a,b\n1,2", "a.csv", {"b"}).rows == 1);
  }

  TEST_CASE("a table that is none is refused with file and line") {
    CHECK(refusal("a,b\n1,2\n3\n") == "a.csv:3: found 1 fields, expected 2");
    CHECK(refusal("a\n1\ntwo\n") == "a.csv:3: a: found 'two', expected a number");
    CHECK(refusal("a\n1\n-9223372036854775808\n") ==
          "a.csv:3: a: found -9.223372036854776e+18 beside numbers of 0 decimals, allowed what 53 "
          "bits hold");
    CHECK(refusal("a\n1000\n0.00000000000001\n").starts_with("a.csv:2: a: found 1000 beside"));
    CHECK(refusal("a\n9007199254740991\n") == "");
    CHECK(refusal("a\n1\nnan\n") == "a.csv:3: a: found 'nan', expected a number");
    CHECK(refusal("a\n\"1\n") == "a.csv:2: found an open quote");
    CHECK(refusal("a\n\"1\"2\n") == "a.csv:2: found text after a closing quote");
    CHECK(refusal("a\n1\n", {"b"}) == "a.csv: the column b is missing");
    CHECK(refusal("a\nx\n", {"a"}) == "a.csv: a: found 'x', expected a number");
    CHECK(refusal("", {"a"}) == "a.csv: the column a is missing");
  }
}
