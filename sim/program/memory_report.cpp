#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/program/image.h"

namespace tessera::program {
namespace {

constexpr std::size_t kRows = 5;

/// The tiles that need most, first those of lower index among equals.
std::vector<std::uint32_t> fullest_tiles(std::span<const CategoryBytes> memory) {
  std::vector<std::uint64_t> needs(memory.size());
  std::transform(memory.begin(), memory.end(), needs.begin(), total);
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
  const std::uint64_t need = total(memory);
  const std::string over =
      need > capacity.count() ? fmt::format("{}", need - capacity.count()) : "-";
  return line + fmt::format(" {:>10} {:>10}\n", need, over);
}

std::vector<CategoryBytes> needs_of(const Images& images) {
  std::vector<CategoryBytes> needs;
  needs.reserve(images.tiles.size());
  for (const TileImage& tile : images.tiles) needs.push_back(tile.memory);
  return needs;
}

std::string table(std::span<const CategoryBytes> needs, std::size_t tiles, Bytes capacity) {
  std::string text = header();
  for (const std::uint32_t tile : fullest_tiles(needs)) text += row(tile, needs[tile], capacity);
  text += fmt::format("the fullest of {}, in bytes of {} each", counted(tiles, "tile"),
                      capacity.count());
  if (needs.size() < tiles) return text + ", as planned\n";
  const auto over = std::count_if(needs.begin(), needs.end(), [&](const CategoryBytes& need) {
    return total(need) > capacity.count();
  });
  return text + fmt::format("; {} of them over\n", over);
}

}  // namespace

std::uint64_t total(const CategoryBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::string_view category_name(Category category) {
  constexpr std::array<std::string_view, kCategories> kNames = {"code",      "control", "exchange",
                                                                "arguments", "tensors", "stack"};
  return kNames[static_cast<std::size_t>(category)];
}

MemorySummary summarise_memory(const Images& images) {
  MemorySummary summary;
  for (std::uint32_t tile = 0; tile < images.tiles.size(); ++tile) {
    const std::uint64_t need = total(images.tiles[tile].memory);
    summary.total_bytes += need;
    if (tile != 0 && need <= summary.max_bytes) continue;
    summary.max_bytes = need;
    summary.max_tile = TileId{tile};
    summary.on_max = images.tiles[tile].memory;
  }
  return summary;
}

std::string memory_table(const Images& images, Bytes capacity) {
  return table(needs_of(images), images.tiles.size(), capacity);
}

std::string overflow_message(std::string_view what, std::span<const CategoryBytes> needs,
                             const MachineConfig& machine) {
  const Bytes capacity(std::uint64_t{machine.tile.sram_kib} * 1024);
  const std::uint32_t fullest = fullest_tiles(needs).front();
  const std::uint64_t need = total(needs[fullest]);
  return fmt::format("{}: tile {} needs {} bytes of {} (machine.tile.sram_kib = {}), {} over\n{}",
                     what, fullest, need, capacity.count(), machine.tile.sram_kib,
                     need - capacity.count(), table(needs, machine.tiles, capacity));
}

}  // namespace tessera::program
