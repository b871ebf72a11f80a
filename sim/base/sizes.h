#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

namespace tessera {

/// Parses the whole text as a number; nullopt if it is not one.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// The product of sizes from a file or config, saturated at 2^64 - 1 so that a limit refuses it.
constexpr std::uint64_t bounded_product(std::span<const std::uint64_t> factors) {
  bool overflows = false;
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    if (factor == 0) return 0;
    overflows = __builtin_mul_overflow(product, factor, &product) || overflows;
  }
  return overflows ? UINT64_MAX : product;
}
template <class... Sizes>
constexpr std::uint64_t bounded_product(std::uint64_t first, Sizes... more) {
  const std::uint64_t factors[]{first, std::uint64_t{more}...};
  return bounded_product(std::span<const std::uint64_t>(factors));
}

}  // namespace tessera
