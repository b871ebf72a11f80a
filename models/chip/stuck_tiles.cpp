#include "models/chip/stuck_tiles.h"

#include <map>
#include <vector>

#include <fmt/format.h>

#include "sim/base/counted.h"

namespace tessera {
namespace {

constexpr std::size_t kMostLines = 40;
constexpr std::size_t kMostRanges = 12;

struct Group {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;  ///< first and last tile of each
  std::size_t tiles = 0;
};

void add(Group& group, std::size_t tile) {
  ++group.tiles;
  if (!group.ranges.empty() && group.ranges.back().second + 1 == tile)
    group.ranges.back().second = tile;
  else
    group.ranges.emplace_back(tile, tile);
}

std::string name(const Group& group, std::string_view kind) {
  std::string text = group.tiles == 1 ? "tile " : "tiles ";
  for (std::size_t i = 0; i < group.ranges.size() && i < kMostRanges; ++i) {
    const auto [first, last] = group.ranges[i];
    text += fmt::format("{}{}", i == 0 ? "" : ", ", first);
    if (last != first) text += fmt::format("-{}", last);
  }
  if (group.ranges.size() > kMostRanges) text += fmt::format(", ... ({} tiles)", group.tiles);
  return kind.empty() ? text : fmt::format("{} ({})", text, kind);
}

}  // namespace

std::string summarise_tiles(std::span<const std::string> states,
                            std::span<const std::string> kinds) {
  using Key = std::pair<std::string_view, std::string_view>;  // kind and state
  std::map<Key, std::size_t> number;                          // group number, by first appearance
  std::vector<std::pair<Key, Group>> groups;
  for (std::size_t tile = 0; tile < states.size(); ++tile) {
    if (states[tile].empty()) continue;
    const Key key{kinds.empty() ? std::string_view() : kinds[tile], states[tile]};
    const auto [place, fresh] = number.try_emplace(key, groups.size());
    if (fresh) groups.emplace_back(key, Group{});
    add(groups[place->second].second, tile);
  }
  std::string text;
  std::size_t left = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i < kMostLines)
      text += fmt::format("\n  {}: {}", name(groups[i].second, groups[i].first.first),
                          groups[i].first.second);
    else
      left += groups[i].second.tiles;
  }
  if (left != 0) text += fmt::format("\n  and {} more", counted(left, "tile"));
  return text;
}

}  // namespace tessera
