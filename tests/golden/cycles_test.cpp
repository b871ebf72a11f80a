#include <doctest/doctest.h>

#include "tests/cli/command.h"
#include "tests/kernels/points.h"

/// Exact figures of a few runs. A change here is a change of the model: the commit that makes it
/// says why in its `Cycles:` line.
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
