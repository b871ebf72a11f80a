#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace tessera::fabric {

/// Stable counting sort by `key(item)`, a std::uint64_t; a radix sort where keys far exceed the
/// number of items.
template <class Item, class Key>
void sort_counted(std::vector<Item>& items, const Key& key) {
  std::uint64_t last = 0;
  for (const Item& item : items) last = std::max<std::uint64_t>(last, key(item));
  constexpr std::uint64_t kMostKeys = 4;  // per item
  std::uint32_t bits = static_cast<std::uint32_t>(std::bit_width(last));
  if (last / kMostKeys > items.size()) bits = std::min(bits, 11U);
  std::vector<Item> sorted(items.size());
  std::vector<std::uint32_t> next;
  for (std::uint32_t shift = 0; shift < 64 && last >> shift != 0; shift += bits) {
    const auto digit = [&](const Item& item) {
      return key(item) >> shift & ((std::uint64_t{1} << bits) - 1);
    };
    next.assign((std::uint64_t{1} << bits) + 1, 0);
    for (const Item& item : items) ++next[digit(item) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const Item& item : items) sorted[next[digit(item)]++] = item;
    items.swap(sorted);
  }
}

}  // namespace tessera::fabric
