#include <string>

#include <doctest/doctest.h>

#include "tests/cli/drawn.h"

using tessera::test::CommandFolder;

/// Figures that networks alone have.
TEST_SUITE("cli") {
  TEST_CASE("a network's training and its raster are drawn") {
    if (!tessera::test::has_gnuplot()) {
      MESSAGE("skipped: gnuplot is not installed");
      return;
    }
    const CommandFolder folder;
    folder.done("run - --out n --quiet",
                R"({"machine": {"extends": "bow", "tiles": 16},
                      "workload": {"kernel": "snn", "layers": [40, 10], "time_steps": 9, "batch": 2,
                                   "data": {"samples": 2, "rate": 0.1}, "weight_scale": 60}})");
    for (const std::string arguments :
         {"n --kind training", "n --kind raster --width 3.3in --size 8"})
      tessera::test::check_drawn(folder, arguments);
  }
}
