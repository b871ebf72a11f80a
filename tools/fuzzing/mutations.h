#pragma once

#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Inputs damaged, or made extreme, by a seed.
namespace tessera::fuzz {

using Json = nlohmann::ordered_json;

/// A seeded sequence of choices, equal on every host.
class Choices {
 public:
  Choices(std::uint64_t seed, std::uint64_t input) : random_(seed * 1'000'003 + input) {}

  /// A number below `bound`, which must be above 0.
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool once_in(std::size_t times) { return below(times) == 0; }
  template <class Container>
  auto& of(Container& from) {
    return from[below(std::size(from))];
  }

 private:
  std::mt19937_64 random_;
};

/// At least 1, rarely far too large.
std::uint64_t power_of_two(Choices& choices);
/// Sizes at which shapes change kind: near powers of two, and far too large.
std::uint64_t size(Choices& choices);

/// A value of any type.
Json value(Choices& choices);

/// Changes, removes or doubles a few bytes, or replaces a number.
std::string mutated(std::string text, Choices& choices);

/// Replaces, removes or renames a few leaves.
Json mutated(Json json, Choices& choices);

}  // namespace tessera::fuzz
