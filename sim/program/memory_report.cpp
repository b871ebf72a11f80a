#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/program/image.h"

namespace tessera::program {
namespace {

constexpr std::size_t kRows = 5;

std::uint64_t sum(const CategoryBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

/// The tiles that need most, first those of lower index among equals.
std::vector<std::uint32_t> fullest_tiles(const std::vector<std::uint64_t>& needs) {
  std::vector<std::uint32_t> order(needs.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t rows = std::min(kRows, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rows), order.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return needs[a] != needs[b] ? needs[a] > needs[b] : a < b;
                    });
  order.resize(rows);
  return order;
}

std::string header() {
  std::string line = fmt::format("{:>8}", "tile");
  for (std::size_t i = 0; i < kCategories; ++i) {
    line += fmt::format(" {:>10}", category_name(static_cast<Category>(i)));
  }
  return line + fmt::format(" {:>10} {:>10}\n", "bytes", "over by");
}

std::string row(std::uint32_t tile, const CategoryBytes& memory, Bytes capacity) {
  std::string line = fmt::format("{:>8}", tile);
  for (std::uint64_t bytes : memory) line += fmt::format(" {:>10}", bytes);
  const std::uint64_t need = sum(memory);
  const std::string over =
      need > capacity.count() ? fmt::format("{}", need - capacity.count()) : "-";
  return line + fmt::format(" {:>10} {:>10}\n", need, over);
}

}  // namespace

std::string_view category_name(Category category) {
  constexpr std::array<std::string_view, kCategories> kNames = {"code",      "control", "exchange",
                                                                "arguments", "tensors", "stack"};
  return kNames[static_cast<std::size_t>(category)];
}

MemorySummary summarise_memory(const Images& images) {
  MemorySummary summary;
  for (std::uint32_t tile = 0; tile < images.tiles.size(); ++tile) {
    const std::uint64_t need = sum(images.tiles[tile].memory);
    summary.total_bytes += need;
    if (tile != 0 && need <= summary.max_bytes) continue;
    summary.max_bytes = need;
    summary.max_tile = TileId{tile};
    summary.on_max = images.tiles[tile].memory;
  }
  return summary;
}

std::string memory_table(const Images& images, Bytes capacity) {
  std::vector<std::uint64_t> needs;
  needs.reserve(images.tiles.size());
  for (const TileImage& tile : images.tiles) needs.push_back(sum(tile.memory));
  const auto over = std::count_if(needs.begin(), needs.end(),
                                  [&](std::uint64_t need) { return need > capacity.count(); });
  std::string text = header();
  for (std::uint32_t tile : fullest_tiles(needs)) {
    text += row(tile, images.tiles[tile].memory, capacity);
  }
  return text + fmt::format("the fullest of {} tiles, in bytes of {} each; {} of them over\n",
                            needs.size(), capacity.count(), over);
}

}  // namespace tessera::program
