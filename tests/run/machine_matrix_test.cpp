#include "tests/run/machine_matrix.h"

using namespace tessera::test;

TEST_SUITE("run") {
  TEST_CASE("a covering array has every pair that may stand together, and no other") {
    const std::vector<std::size_t> levels = {3, 4, 2, 5};
    const auto allowed = [](const CoveringArray::Row& row) { return row[0] != 1 || row[1] != 2; };
    const auto rows = CoveringArray::make(levels, allowed, 7);
    for (std::size_t i = 0; i < levels.size(); ++i)
      for (std::size_t j = i + 1; j < levels.size(); ++j)
        for (std::size_t a = 0; a < levels[i]; ++a)
          for (std::size_t b = 0; b < levels[j]; ++b) {
            const bool found = std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
              return row[i] == a && row[j] == b;
            });
            CHECK(found == !(i == 0 && j == 1 && a == 1 && b == 2));
          }
  }

  TEST_CASE("every kernel is right on every kind of machine, two properties at a time") {
    check_points(pairwise_points());
  }

  TEST_CASE("machines that contradict themselves are refused") {
    const CommandFolder folder;
    const auto refused = [&](const std::string& sets, const std::vector<std::string>& message) {
      check_refused(folder, fmt::format("run {} {}", small_file(), sets), message);
    };
    refused("--set machine.tile.issue=revolver",
            {"machine.tile.reissue_cycles: found 0, allowed 1 to 1000 with issue revolver"});
    refused("--set machine.tile.reissue_cycles=11",
            {"machine.tile.reissue_cycles: found 11, allowed 0 with issue barrel"});
    refused("--set machine.tile.issue=interleaved --set machine.tile.supervisor.plain_cycles=2",
            {"machine.tile.supervisor.plain_cycles: found 2, allowed 1", "with issue interleaved"});
    refused("--set machine.tile.issue=rotating", {"machine.tile.issue", "barrel, revolver"});
    refused("--set machine.tile.latency.load=0",
            {"machine.tile.latency.load: found 0, allowed an integer from 1"});
  }
}
