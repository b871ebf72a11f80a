#include "sim/command/accuracy.h"

#include <doctest/doctest.h>

#include "tests/refusal.h"

using namespace tessera::command;

namespace {

/// A set with one point per ratio; each point's published value is 100.
struct Sample {
  ValidationSet set;
  std::vector<Row> rows;

  Sample(Evidence evidence, const std::vector<double>& ratios) {
    set.evidence = evidence;
    set.points.resize(ratios.size());
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      set.points[i].published = 100;
      Row& row = rows.emplace_back();
      row.point = &set.points[i];
      row.simulated = 100 * ratios[i];
    }
  }
};

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a row agrees by its value, else by its speed-up, and not without both numbers") {
    Sample one(Evidence::silicon, {0.5});
    CHECK(agreement(one.rows[0]) == 0.5);
    one.set.points[0].published = 0;
    CHECK(!agreement(one.rows[0]));
    one.set.points[0].published_speedup = 2;
    one.rows[0].baseline_seconds = 3;
    one.rows[0].seconds = 1;
    CHECK(agreement(one.rows[0]) == 1.5);
    one.rows[0].error = "does not fit";
    CHECK(!agreement(one.rows[0]));
  }

  TEST_CASE("each kind of evidence has one gate") {
    const auto judged = [](Evidence evidence, const std::vector<double>& ratios) {
      const Sample sample(evidence, ratios);
      return judge_accuracy(sample.set, sample.rows, false);
    };
    CHECK(judged(Evidence::silicon, {0.95, 1.05, 1.2}) == true);
    CHECK(judged(Evidence::silicon, {1.12, 1.12, 1.12}) == false);    // median
    CHECK(judged(Evidence::silicon, {0.7, 0.9, 1.1, 1.3}) == false);  // share
    CHECK(judged(Evidence::vendor_model, {1.12, 1.2, 1.2}) == true);
    CHECK(judged(Evidence::datasheet, {1, 1.02}) == false);
    CHECK(judged(Evidence::goal, {1, 5}) == true);
    CHECK(!judged(Evidence::indirect, {7}));
    CHECK(!judged(Evidence::silicon, {}));
    const std::vector<double> far_apart = {1.2, 1.1, 1, 0.9, 0.85, 1.2, 1.1, 1, 0.9, 0.85};
    CHECK(judged(Evidence::derived, far_apart) == false);  // all published as 100: no rank
    for (const EvidenceKind& kind : evidence_kinds()) CHECK(&kind == &kind_of(kind.evidence));
  }

  TEST_CASE("totals count a stated shortfall among those that do not reproduce") {
    Sample good(Evidence::silicon, {1, 1.1});
    Sample bad(Evidence::silicon, {0.5, 2});
    bad.set.shortfall = "known";
    const Sample other(Evidence::goal, {1});
    const std::vector<ValidatedSet> sets = {
        {&good.set, good.rows, true}, {&bad.set, bad.rows, false}, {&other.set, other.rows, true}};
    CHECK(sets[1].passed());
    const std::vector<Total> all = totals(sets);
    REQUIRE(all.size() == 2);
    CHECK(all[0].kind->name == "silicon");
    CHECK(all[0].sets == 2);
    CHECK(all[0].judged == 2);
    CHECK(all[0].reproduced == 1);
    CHECK(tessera::test::holds(totals_csv(sets), "\nsilicon,2,4,1.05,1.15,0.5,2,1,"));
  }
}
