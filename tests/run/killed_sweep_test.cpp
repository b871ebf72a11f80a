#include "tests/run/killed_sweep.h"

using namespace tessera;
using test::CommandFolder;

TEST_SUITE("slow") {
  TEST_CASE("a sweep killed twenty times in a row and resumed leaves the same bytes") {
    for (int repetition = 0; repetition < 3; ++repetition) test::check_killed_sweep(20);
  }
}
