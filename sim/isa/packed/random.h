#pragma once

#include <bit>
#include <cstdint>

#include "sim/base/splitmix.h"

/// rnd.64: xoroshiro128+ 1.0 (Blackman and Vigna, prng.di.unimi.it; public domain), one 128-bit
/// state per worker. The lowest bits are the weakest: use the upper ones.
namespace tessera::packed {

/// The next 64 bits; `state` is two words, not both zero.
constexpr std::uint64_t rnd_64(std::uint64_t* state) {
  const std::uint64_t a = state[0];
  const std::uint64_t b = state[1] ^ a;
  const std::uint64_t result = a + state[1];
  state[0] = std::rotl(a, 24) ^ b ^ (b << 16);
  state[1] = std::rotl(b, 37);
  return result;
}

/// Sets a separate state for each worker of each tile.
constexpr void seed_random(std::uint64_t* state, std::uint64_t seed, std::uint32_t tile,
                           std::uint32_t worker) {
  const std::uint64_t own = splitmix64(seed, 0) ^ (std::uint64_t{tile} << 32 | worker);
  state[0] = splitmix64(own, 0);
  state[1] = splitmix64(own, 1);
  if ((state[0] | state[1]) == 0) state[0] = 1;
}

}  // namespace tessera::packed
