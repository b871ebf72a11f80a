#include "tests/run/timing_runs.h"

#include <string>

#include "tests/run/machine_points.h"

using namespace tessera::test;

TEST_SUITE("run") {
  TEST_CASE("a timing run says what a full run says, on machines of every kind") {
    const std::vector<MachinePoint> all = pairwise_points();
    for (std::size_t i = 0; i < all.size(); i += 8) same_without_values(run_of(all[i]));
  }

  TEST_CASE("a timing run says so") {
    const CommandFolder folder;
    const Answer timed = folder.done("run --timing --out a " + small_file());
    CHECK(timed.out.find("  timing    no values computed") != std::string::npos);
    CHECK(timed.out.find("  check     not computed\n") != std::string::npos);
    const Json report = folder.json("a/report.json");
    CHECK(report.at("check").at("passed").is_null());
    CHECK(report.at("check").at("method") == "not computed");
    CHECK(report.at("timing").at("values") == false);
  }

  TEST_CASE("a timing run refuses what needs values") {
    const CommandFolder folder;
    const auto refused = [&](const std::string& more, const std::string& message) {
      check_refused(folder, fmt::format("run --timing {} {}", more, small_file()), {message});
    };
    refused("--set run.check=full", "run.check: found \"full\", allowed auto, off");
    refused("--set run.check_races=true", "run.check_races: found true, allowed false");
    refused("--set report.tensors=C", "report.tensors: found \"C\"");
    refused("--save C=c.npy", "--save C=c.npy: found with --timing");
  }
}
