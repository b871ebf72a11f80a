#include "tests/kernels/larger_machines.h"

using namespace tessera::test;

TEST_SUITE("run") {
  TEST_CASE("a larger machine takes no longer, on forty seeded pairs") { check_pairs(40, 1, 0); }
}
