#pragma once

#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Inputs made wrong, or extreme, by a seed.
namespace tessera::fuzz {

using Json = nlohmann::ordered_json;

/// A sequence of choices that is the same on every host.
class Choices {
 public:
  Choices(std::uint64_t seed, std::uint64_t input) : random_(seed * 1'000'003 + input) {}

  /// Below `bound`, which is above 0.
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool once_in(std::size_t times) { return below(times) == 0; }
  template <class Container>
  auto& of(Container& from) {
    return from[below(std::size(from))];
  }

 private:
  std::mt19937_64 random_;
};

/// From 1 on, seldom far too large.
std::uint64_t power_of_two(Choices& choices);
/// Sizes where shapes change their kind: around powers of two, and far too large.
std::uint64_t size(Choices& choices);

/// A value of any type.
Json value(Choices& choices);

/// A few bytes changed, removed, doubled, or a number replaced.
std::string mutated(std::string text, Choices& choices);

/// A few leaves replaced, removed or renamed.
Json mutated(Json json, Choices& choices);

}  // namespace tessera::fuzz
