#include "sim/config/config.h"
#include "sim/config/presets.h"
#include "tests/kernels/larger_machines.h"

using namespace tessera;
using namespace tessera::test;

namespace {

MachineConfig bow(std::uint32_t tiles) {
  MachineConfig machine = config::load_machine("bow", config::machine_presets());
  machine.tiles = tiles;
  machine.fabric.columns = std::min(machine.fabric.columns, (tiles + 1) / 2);
  return machine;
}

/// Random increasing tile counts from 3 to 320.
std::vector<std::uint32_t> tile_counts(MachinePoints& points) {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t tiles = 3; tiles < 320;
       tiles += 1 + static_cast<std::uint32_t>(points.below(1 + tiles / 4)))
    counts.push_back(tiles);
  counts.push_back(320);
  return counts;
}

/// Messages for each tile count on which a problem takes longer than on fewer tiles, or fails.
std::vector<std::string> slower_tiles(const Point& point,
                                      const std::vector<std::uint32_t>& counts) {
  const auto options = point.options_read();
  std::vector<std::string> found;
  Ended best;
  std::uint32_t best_tiles = 0;
  for (const std::uint32_t tiles : counts) {
    const Ended ended = run_on(*options, bow(tiles));
    const bool compared = best.passed() && (!ended.passed() || ended.work == best.work);
    if (compared && !(ended.passed() && ended.cycles <= kMostSlower * best.cycles))
      found.push_back(fmt::format("{}: {} cycles on {} tiles, {} on {}", point.describe(),
                                  best.cycles, best_tiles, ended.said, tiles));
    if (!compared || (ended.passed() && ended.cycles < best.cycles)) {
      best = ended;
      best_tiles = tiles;
    }
  }
  return found;
}

}  // namespace

TEST_SUITE("slow") {
  TEST_CASE("a larger machine takes no longer, on two thousand seeded pairs") {
    check_pairs(100, 1, 0);
    check_pairs(2000, 2, 0);
  }

  TEST_CASE("more tiles of a Bow take no longer, from 3 to 320") {
    std::vector<std::string> problems;
    for (const Point& stated : points_of_pairs()) {
      MachinePoints points(3, stated.describe());
      const bool drawn = stated.facts.contains("draws");
      for (int problem = 0; problem < (drawn ? 3 : 1); ++problem) {
        const Point point = drawn ? drawn_point(stated, points, 16) : stated;
        for (std::string& each : slower_tiles(point, tile_counts(points))) {
          MESSAGE(each);
          problems.push_back(std::move(each));
        }
      }
      MESSAGE(stated.describe(), " ends, ", problems.size(), " steps are slower so far");
    }
    CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
  }
}
