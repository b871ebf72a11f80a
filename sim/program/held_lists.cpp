#include "sim/program/held_lists.h"

#include <algorithm>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"

namespace tessera::program {
namespace {

std::vector<std::uint32_t> different(std::span<const std::uint32_t> lists) {
  std::vector<std::uint32_t> all;
  for (const std::uint32_t list : lists) add_once(all, list);
  return all;
}

}  // namespace

std::size_t HeldLists::find(std::optional<std::uint32_t> offset) const {
  return index_in(held_, offset);
}

Reg HeldLists::at(std::uint32_t offset) const {
  check(holds(offset), "program: no register holds list {}", offset);
  return kRegisters[find(offset)];
}

bool HeldLists::can_hold(std::span<const std::uint32_t> lists) {
  return different(lists).size() <= kMost;
}

std::vector<HeldLists::Load> HeldLists::hold(std::span<const std::uint32_t> wanted) {
  std::vector<std::uint32_t> lists = different(wanted);
  lists.resize(std::min(lists.size(), kMost));
  const auto is_wanted = [&](std::optional<std::uint32_t> list) {
    return list && contains(lists, *list);
  };
  std::vector<Load> loads;
  for (const std::uint32_t list : lists) {
    if (holds(list)) continue;
    std::size_t free = find(std::nullopt);
    if (free == kMost)
      free = static_cast<std::size_t>(std::ranges::find_if_not(held_, is_wanted) - held_.begin());
    held_[free] = list;
    loads.push_back({kRegisters[free], list});
  }
  return loads;
}

}  // namespace tessera::program
