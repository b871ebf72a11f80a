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
}
