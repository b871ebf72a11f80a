#include "sim/sweep/spec.h"

#include <set>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/config/json_text.h"

using namespace tessera;
using config::Json;
using sweep::Spec;

namespace {

Spec read(const std::string& section, const std::vector<std::string>& arguments = {}) {
  return sweep::read_specs(config::parse_json(section, "test"), "s.json", arguments).front();
}

std::string rows(const sweep::Group& group) { return Json(group.rows).dump(); }

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("each axis of a grid is a group; lists, texts and single values are its rows") {
    const Spec spec =
        read(R"({"grid": {"a.b": [1, "2..4"], "//": "a note", "c": "8..32*2", "d": 5}})");
    REQUIRE(spec.groups.size() == 3);
    CHECK(rows(spec.groups[0]) == R"([[1],["2..4"]])");
    CHECK(rows(spec.groups[1]) == "[[8],[16],[32]]");
    CHECK(rows(spec.groups[2]) == "[[5]]");
    CHECK(sweep::combinations(spec) == 6);
  }

  TEST_CASE("zip and list vary their paths together") {
    const Spec spec = read(R"({"zip": {"m": [1, 2, 3], "n": "4..6"},
                               "list": [{"x": 1, "y": 2}, {"y": 4, "x": 3}]})");
    REQUIRE(spec.groups.size() == 2);
    CHECK(rows(spec.groups[0]) == "[[1,4],[2,5],[3,6]]");
    CHECK(rows(spec.groups[1]) == "[[1,2],[3,4]]");
    CHECK(sweep::combinations(spec) == 6);
  }

  TEST_CASE("random draws by the seed alone, within their ranges") {
    const std::string axes = R"("axes": {"m": "1..8", "d": "0.01..1 log", "t": ["a", "b"]}})";
    const auto draw = [&](const std::string& head) {
      return read(R"({"random": {)" + head + axes + "}").groups.front();
    };
    const sweep::Group group = draw(R"("points": 200, "seed": 7, )");
    CHECK(rows(group) == rows(draw(R"("points": 200, "seed": 7, )")));
    CHECK(rows(group) != rows(draw(R"("points": 200, "seed": 8, )")));
    CHECK(draw(R"("points": 3, "seed": 7, )").rows[2] == group.rows[2]);
    std::set<std::string> m, t;
    std::size_t small = 0;
    for (const auto& row : group.rows) {
      m.insert(row[0].dump());
      t.insert(row[2].dump());
      CHECK(row[1].get<double>() >= 0.01);
      CHECK(row[1].get<double>() < 1);
      if (row[1].get<double>() < 0.1) ++small;
    }
    CHECK(m.size() == 8);
    CHECK(t.size() == 2);
    CHECK(small > 70);
    CHECK(small < 130);
  }

  TEST_CASE("an axis of the command line replaces that of the grid or is added") {
    const Spec spec = read(R"({"grid": {"m": [1, 2], "n": [3]}})", {"m=7,8,9", "k=1..2"});
    REQUIRE(spec.groups.size() == 3);
    CHECK(rows(spec.groups[0]) == "[[7],[8],[9]]");
    CHECK(spec.groups[2].paths.front() == "k");
    CHECK_THROWS_WITH_AS(read(R"({"zip": {"m": [1], "n": [3]}})", {"m=7"}),
                         "tessera sweep: m: is varied twice", UserError);
    CHECK_THROWS_WITH_AS(read("null", {"m=1", "m=2"}), "tessera sweep: m: is varied twice",
                         UserError);
    CHECK_THROWS_WITH_AS(read("null", {"m"}),
                         "tessera sweep: found m, allowed path=a,b,c or path=low..high*factor",
                         UserError);
  }

  TEST_CASE("in a list of parts an axis of the command line is for those that have its path") {
    const Json parts =
        config::parse_json(R"([{"grid": {"m": [1], "b": [4, 8]}}, {"grid": {"m": [1]}}])", "test");
    const std::vector<Spec> some =
        sweep::read_specs(parts, "s.json", std::vector<std::string>{"b=16"});
    CHECK(rows(some[0].groups[1]) == "[[16]]");
    CHECK(some[1].groups.size() == 1);
    const std::vector<Spec> all =
        sweep::read_specs(parts, "s.json", std::vector<std::string>{"n=2", "m=5"});
    CHECK(rows(all[1].groups[0]) == "[[5]]");
    CHECK(rows(all[0].groups[2]) == "[[2]]");
    CHECK(rows(all[1].groups[1]) == "[[2]]");
  }

  TEST_CASE("values and rows that stand there twice are refused") {
    CHECK_THROWS_WITH_AS(read("null", {"m=64,1..64*8"}),
                         "tessera sweep: m: found 64 twice, allowed once", UserError);
    CHECK_THROWS_WITH_AS(read(R"({"zip": {"m": [1, 2, 1], "n": [3, 3, 3.0]}})"),
                         "s.json: m, n: found 1, 3.0 twice, allowed once", UserError);
    CHECK(read(R"({"zip": {"m": [1, 2, 1], "n": [3, 3, 4]}})").groups.size() == 1);
  }

  TEST_CASE("a section of too many points is refused") {
    CHECK_THROWS_AS(sweep::combinations(read(R"({"grid": {"a": "1..2000", "b": "1..2000"}})")),
                    UserError);
  }
}
