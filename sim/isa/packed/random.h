#pragma once

#include <bit>
#include <cstdint>

/// rnd.64: xoroshiro128+ 1.0 (Blackman and Vigna, prng.di.unimi.it; public domain), one state of
/// 128 bits a worker. Lowest bits are the weakest: use the upper ones.
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

/// A state of its own for each worker of each tile, by splitmix64 from (seed, tile, worker).
constexpr void seed_random(std::uint64_t* state, std::uint64_t seed, std::uint32_t tile,
                           std::uint32_t worker) {
  constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;
  const auto mix = [](std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  };
  const std::uint64_t own = mix(seed + kGolden) ^ (std::uint64_t{tile} << 32 | worker);
  state[0] = mix(own + kGolden);
  state[1] = mix(own + 2 * kGolden);
  if ((state[0] | state[1]) == 0) state[0] = kGolden;
}

}  // namespace tessera::packed
