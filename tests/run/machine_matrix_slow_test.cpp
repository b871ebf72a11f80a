#include "tests/run/machine_matrix.h"

using namespace tessera::test;

TEST_SUITE("slow") {
  TEST_CASE("every kernel is right on two thousand seeded machines") {
    check_points(random_points(2000, 20));
  }
}
