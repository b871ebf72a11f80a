#include "tests/kernels/larger_machines.h"

using namespace tessera::test;

TEST_SUITE("slow") {
  TEST_CASE("a larger machine takes no longer, on two thousand seeded pairs") {
    check_pairs(2000, 2, 26);
  }
}
