#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace tessera::fabric {

/// Sorts by `key(item)`, a std::uint64_t; equals stay in their order. Keys are counted, unless they
/// reach far beyond the number of items.
template <class Item, class Key>
void sort_counted(std::vector<Item>& items, const Key& key) {
  std::uint64_t last = 0;
  for (const Item& item : items) last = std::max<std::uint64_t>(last, key(item));
  constexpr std::uint64_t kMostKeys = 4;  // an item: more take longer to count than to compare
  if (last / kMostKeys > items.size()) {
    std::stable_sort(items.begin(), items.end(),
                     [&](const Item& a, const Item& b) { return key(a) < key(b); });
    return;
  }
  std::vector<std::uint32_t> next(last + 2);
  for (const Item& item : items) ++next[key(item) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Item> sorted(items.size());
  for (const Item& item : items) sorted[next[key(item)]++] = item;
  items = std::move(sorted);
}

}  // namespace tessera::fabric
