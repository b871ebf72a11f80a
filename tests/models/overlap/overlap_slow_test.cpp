#include "tests/models/overlap/against_stepper.h"

using namespace tessera;

TEST_SUITE("slow") {
  TEST_CASE("two thousand programs of overlapping exchanges run as cycle by cycle") {
    sample::check_seeds(1000, 2000);
  }
}
