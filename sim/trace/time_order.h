#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::trace {

/// Stable sort by `at`, a Cycle. A radix sort: many items at few, close times. `spare`: scratch.
template <class Item>
void order_by_time(std::vector<Item>& items, std::vector<Item>& spare) {
  constexpr std::size_t kFew = 256;
  constexpr unsigned kDigitBits = 11;
  constexpr std::size_t kDigits = 1U << kDigitBits;
  const auto before = [](const Item& a, const Item& b) { return a.at < b.at; };
  if (items.size() < kFew) return std::stable_sort(items.begin(), items.end(), before);
  const auto [least, most] = std::minmax_element(items.begin(), items.end(), before);
  const auto first = least->at;
  const std::uint64_t range = (most->at - first).count();
  spare.resize(items.size());
  for (unsigned shift = 0; shift < 64 && range >> shift != 0; shift += kDigitBits) {
    const auto digit = [&](const Item& item) {
      return ((item.at - first).count() >> shift) % kDigits;
    };
    std::array<std::size_t, kDigits + 1> place{};
    for (const Item& item : items) ++place[digit(item) + 1];
    for (std::size_t i = 1; i < kDigits; ++i) place[i] += place[i - 1];
    for (const Item& item : items) spare[place[digit(item)]++] = item;
    items.swap(spare);
  }
}

}  // namespace tessera::trace
