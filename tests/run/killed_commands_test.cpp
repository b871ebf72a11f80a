#include "tests/run/killed_commands.h"

using namespace tessera;

TEST_SUITE("run") {
  TEST_CASE("every command that was killed goes on to the same bytes and leaves nothing") {
    for (const test::KilledCommand& command : test::killed_commands())
      test::check_killed(command, 1);
  }
}
