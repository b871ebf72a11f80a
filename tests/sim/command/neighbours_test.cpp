#include <doctest/doctest.h>

#include "sim/command/gates.h"

using namespace tessera;
using namespace tessera::command;

TEST_SUITE("unit") {
  TEST_CASE("neighbours differ in one number alone, and no point lies between them") {
    const ValidationSet set = read_validation_set({"mine", R"({
      "title": "mine", "evidence": "silicon", "citation": "none", "base": {"workload": {"kernel": "any"}},
      "neighbours": {"over": ["workload.m", "workload.n"], "same": ["workload.dtype"], "within": 0.1, "share": 0.5},
      "points": [
        {"name": "a", "published": 10, "set": {"workload.dtype": "i8", "workload.m": 1, "workload.n": 1}},
        {"name": "b", "published": 20, "set": {"workload.dtype": "i8", "workload.m": 4, "workload.n": 1}},
        {"name": "c", "published": 40, "set": {"workload.dtype": "i8", "workload.m": 2, "workload.n": 1}},
        {"name": "d", "published": 80, "set": {"workload.dtype": "i8", "workload.m": 2, "workload.n": 3}},
        {"name": "e", "published": 99, "set": {"workload.dtype": "i16", "workload.m": 2, "workload.n": 9}},
        {"name": "f", "published": 99, "set": {"workload.dtype": "i8", "workload.m": 2, "workload.n": 7}}]})"});
    std::vector<Row> rows;
    for (const ValidationPoint& point : set.points) {
      Row& row = rows.emplace_back();
      row.point = &point;
      row.simulated = 2 * point.published;
    }
    rows[2].simulated = 40;
    rows[5].error = "no number";
    std::vector<std::string> found;
    for (const Change& change : changes(set, rows))
      found.push_back(change.from->point->name + change.to->point->name +
                      fmt::format(" {:g}", change.ratio));
    CHECK(found == std::vector<std::string>{"ac 0.5", "cb 2", "cd 2"});
  }
}
