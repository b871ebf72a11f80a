#pragma once

#include <bit>
#include <cstdint>

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

}  // namespace tessera::packed
