#include "tests/kernels/larger_machines.h"

using namespace tessera::test;

TEST_SUITE("run") {
  TEST_CASE("a larger machine takes no longer, on a hundred seeded pairs") {
    check_pairs(100, 1, 0);
  }
}
