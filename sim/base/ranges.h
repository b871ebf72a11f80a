#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

/// Range algorithms that the C++20 library has no name for.
namespace tessera {

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::end(range);
}

/// Index of the first element equal to `value`; the range's size if there is none.
template <class Range, class Value>
std::size_t index_in(const Range& range, const Value& value) {
  return static_cast<std::size_t>(std::ranges::find(range, value) - std::begin(range));
}

/// Appends `value` unless the list has an equal one.
template <class Value>
void add_once(std::vector<Value>& list, Value value) {
  if (!contains(list, value)) list.push_back(std::move(value));
}

/// Applies `make` to each element, in order; `make` may be a pointer to a member.
template <class Range, class Make>
auto mapped(const Range& range, const Make& make) {
  std::vector<std::decay_t<decltype(std::invoke(make, *std::begin(range)))>> made;
  made.reserve(std::size(range));
  for (const auto& each : range) made.push_back(std::invoke(make, each));
  return made;
}

/// Elements [begin, end) of a list.
template <class Value>
std::vector<Value> slice(const std::vector<Value>& list, std::uint64_t begin, std::uint64_t end) {
  return {list.begin() + static_cast<std::ptrdiff_t>(begin),
          list.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// The distinct values of a list, ascending.
template <class Value>
std::vector<Value> sorted_once(std::vector<Value> list) {
  if constexpr (std::is_unsigned_v<Value>) {
    // Marks values of a dense range in place, without sorting.
    const Value largest = list.empty() ? Value{0} : *std::ranges::max_element(list);
    if (largest < list.size()) {
      std::vector<char> marked(std::size_t{largest} + 1);
      for (const Value each : list) marked[each] = 1;
      list.clear();
      for (std::size_t i = 0; i < marked.size(); ++i)
        if (marked[i] != 0) list.push_back(static_cast<Value>(i));
      return list;
    }
  }
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace tessera
