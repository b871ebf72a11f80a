#pragma once

#include <cstdint>

namespace tessera {

/// Element `index` of the SplitMix64 sequence of `seed`: its finaliser over a Weyl sequence
/// (Steele, Lea, Flood, OOPSLA 2014). Well mixed; any index, in any order, on any host.
constexpr std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + 0x9e37'79b9'7f4a'7c15 * (index + 1);
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
  return z ^ (z >> 31);
}

}  // namespace tessera
