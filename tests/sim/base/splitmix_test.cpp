#include "sim/base/splitmix.h"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE("unit") {
  TEST_CASE("splitmix64 is the published generator") {
    // prng.di.unimi.it/splitmix64.c, seed 1234567; Java's SplittableRandom is the same generator.
    const std::uint64_t published[] = {6457827717110365317U, 3203168211198807973U,
                                       9817491932198370423U, 4593380528125082431U,
                                       16408922859458223821U};
    for (std::uint64_t i = 0; i < 5; ++i) CHECK(splitmix64(1234567, i) == published[i]);
  }
}
