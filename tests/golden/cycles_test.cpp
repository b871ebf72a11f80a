#include <doctest/doctest.h>

#include "tests/cli/command.h"
#include "tests/kernels/points.h"

/// Exact results of a few runs. If they change, the model has changed, and the commit gives the
/// reason in its `Cycles:` line.
TEST_SUITE("golden") {
  TEST_CASE("cycles, instructions, bytes and joules are exactly those of the last change") {
    for (const tessera::test::Point& point : tessera::test::points("golden")) {
      CAPTURE(point.describe());
      const tessera::test::CommandFolder folder;
      folder.done("run --out result " + point.arguments());
      tessera::test::check_report(folder.json("result/report.json"), point.facts.at("report"));
    }
  }
}
