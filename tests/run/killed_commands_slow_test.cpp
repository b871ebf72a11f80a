#include "tests/run/killed_commands.h"

using namespace tessera;

TEST_SUITE("slow") {
  TEST_CASE("200 commands killed at random moments go on to the same bytes and leave nothing") {
    for (const test::KilledCommand& command : test::killed_commands())
      test::check_killed(command, 40);
  }
}
