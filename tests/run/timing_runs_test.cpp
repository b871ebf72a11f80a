#include "tests/run/timing_runs.h"

#include <string>

#include "tests/run/machine_points.h"

using namespace tessera::test;

TEST_SUITE("run") {
  TEST_CASE("a timing run says what a full run says, on machines of every kind") {
    const std::vector<MachinePoint> all = pairwise_points();
    for (std::size_t i = 0; i < all.size(); i += 8) same_without_values(run_of(all[i]));
  }

  TEST_CASE("a timing run of what kernels state needs no values and says what a full run says") {
    for (const Point& stated : points("timed"))
      for (const Point& point : combinations(stated)) CHECK(same_without_values(point));
  }

  TEST_CASE("a timing run says so") {
    const CommandFolder folder;
    const Answer timed = folder.done("run --timing --out a " + small_file());
    check_holds(timed.out, {"  timing    no values computed", "  check     not computed\n"});
    const Json report = folder.json("a/report.json");
    CHECK(report.at("check").at("passed").is_null());
    CHECK(report.at("check").at("method") == "not computed");
    CHECK(report.at("timing").at("values") == false);
  }

  TEST_CASE("a timing run is not repeated where its folder has the answer") {
    const CommandFolder folder;
    const auto kept = [&](const std::string& more) {
      const Answer answer = folder.done(fmt::format("run --out a {} {}", more, small_file()));
      return holds(answer.out, "  kept      ");
    };
    CHECK_FALSE(kept("--timing"));
    const std::string report = folder.read("a/report.json");
    CHECK(kept("--timing --threads 2 --engine interpreter"));
    CHECK(folder.read("a/report.json") == report);
    CHECK_FALSE(kept("--timing --again"));
    CHECK_FALSE(kept("--timing --set machine.tiles=3"));
    CHECK_FALSE(kept("--timing"));
    CHECK_FALSE(kept("--timing --set report.tile_steps=3"));
    CHECK(folder.has("a/tile_steps.npy"));
    CHECK_FALSE(kept("--timing"));
    CHECK_FALSE(kept("--timing --trace phases"));
    CHECK_FALSE(folder.has("a/kept.json"));
    CHECK_FALSE(kept("--timing"));
    CHECK(kept("--timing"));
    folder.write("a/steps.csv", "of somebody else");
    CHECK_FALSE(kept("--timing"));
    CHECK(folder.read("a/steps.csv") != "of somebody else");
    folder.write("a/kept.json", "{}");
    CHECK_FALSE(kept("--timing"));
    CHECK_FALSE(kept(""));  // a run with values
    CHECK_FALSE(kept("--timing"));
  }
}
