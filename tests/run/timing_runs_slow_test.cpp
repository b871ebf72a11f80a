#include <filesystem>

#include "tests/kernels/drawn_points.h"
#include "tests/run/machine_points.h"
#include "tests/run/timing_runs.h"

using namespace tessera::test;

namespace {

/// The machine's keys of a point in the matrix, without those of its workload.
std::vector<std::string> machine_sets(const MachinePoint& point) {
  std::vector<std::string> sets = run_of(point).sets;
  std::erase_if(sets, [](const std::string& set) { return !set.starts_with("machine."); });
  return sets;
}

}  // namespace

TEST_SUITE("slow") {
  TEST_CASE("timing runs of shipped configs say what full runs say") {
    const std::filesystem::path runs = std::filesystem::path(TESSERA_SOURCE) / "configs/runs";
    for (const auto& entry : std::filesystem::directory_iterator(runs))
      same_without_values({"", entry.path().stem().string(), {}, {}});
  }

  TEST_CASE("timing runs of the runs that kernels state say what full runs say") {
    for (const Point& point : points("runs")) same_without_values(point);
  }

  TEST_CASE("timing runs of all machines and workloads of the matrix say what full runs say") {
    for (const MachinePoint& point : pairwise_points()) same_without_values(run_of(point));
  }

  TEST_CASE("timing runs of drawn problems on machines of the matrix say what full runs say") {
    constexpr std::size_t kDraws = 40;  // for each statement
    const std::vector<MachinePoint> machines = pairwise_points();
    std::size_t next = 0;
    for (const Point& stated : points("predicted")) {
      MachinePoints random(stated.facts.value("seed", 1U));
      for (std::size_t i = 0; i < kDraws; ++i) {
        Point point = drawn_point(stated, random, 16);
        for (std::string& set : machine_sets(machines[next++ % machines.size()]))
          point.sets.push_back(std::move(set));
        same_without_values(point);
      }
    }
  }
}
