#include "tests/kernels/check/mutations.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/kernels/points.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr unsigned kTrials = 20;

/// Required detections of each mutation: the numbers in the point, or else all.
Rates rates_of(const config::Json& stated) {
  Rates rates;
  rates.fill(kTrials);
  if (stated.is_array()) std::copy(stated.begin(), stated.end(), rates.begin());
  return rates;
}

/// Makes 20 mutations of each kind (zeroed, negated, x 1.5, x 1.004, swapped with the neighbour, a
/// stale tile, a common bias, noise within each element's bound, NaN) in one run. "found" if the
/// check in each mode detects as many as the point states; otherwise each failing mode's counts.
std::string finds(const Point& point, program::Type type) {
  const auto plan = [&](MachineCosts& costs) { return point.options_read()->plan(costs); };
  const auto judged = [&](const Workload& workload, const Results& results) -> std::string {
    std::string missed;
    for (const auto& [mode, stated] : point.facts.at("finds").items()) {
      const Rates least = rates_of(stated);
      const Rates found = found_mutations(
          workload, results, type, mode == "full" ? CheckMode::full : CheckMode::sample, kTrials);
      bool enough = true;
      for (std::size_t m = 0; m < found.size(); ++m) enough = enough && found[m] >= least[m];
      if (!enough) missed += fmt::format("{}: {}; ", mode, text(found));
    }
    return missed.empty() ? "found" : missed;
  };
  return after_planned(small_machine(16), plan, judged);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("checks find wrong elements, stale tiles, a bias and noise") {
    for (const Point& point : points("mutations")) {
      CAPTURE(point.describe());
      const std::string results =
          point.facts.value("results", point.workload().value("dtype", "f32"));
      REQUIRE_MESSAGE((results == "f16" || results == "f32"), "results: ", results);
      const auto type = results == "f16" ? program::Type::f16 : program::Type::f32;
      CHECK(finds(point, type) == "found");
    }
  }
}
