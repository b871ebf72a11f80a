#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/base/types.h"
#include "sim/machine/nodes.h"
#include "sim/program/image.h"

namespace tessera::program {
namespace {

constexpr std::size_t kRows = 5;

/// SRAM bytes if code and lists have a separate memory.
std::uint64_t data_bytes(const CategoryBytes& bytes) {
  return bytes[static_cast<std::size_t>(Category::tensors)] +
         bytes[static_cast<std::size_t>(Category::stack)];
}

/// Used fraction of the tile's memory, or of the fuller of its two memories.
double share_of(const CategoryBytes& bytes, const TileConfig& tile) {
  const auto share = [](std::uint64_t need, std::uint64_t capacity) {
    return static_cast<double>(need) / static_cast<double>(capacity);
  };
  if (tile.program_kib == 0) return share(total(bytes), sram_bytes(tile));
  const std::uint64_t data = data_bytes(bytes);
  return std::max(share(data, sram_bytes(tile)),
                  share(total(bytes) - data, memory_bytes(tile) - sram_bytes(tile)));
}

/// Tiles by used fraction of their memory, largest first, equals by index.
std::vector<std::uint32_t> fullest_tiles(std::span<const CategoryBytes> memory,
                                         const MachineConfig& machine) {
  std::vector<double> share(memory.size());
  for (std::size_t i = 0; i < share.size(); ++i)
    share[i] = share_of(memory[i], tile_of(machine, static_cast<std::uint32_t>(i)));
  std::vector<std::uint32_t> order(share.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t rows = std::min(kRows, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rows), order.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return share[a] != share[b] ? share[a] > share[b] : a < b;
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

std::string row(std::uint32_t tile, const CategoryBytes& memory, const TileConfig& config) {
  std::string line = fmt::format("{:>8}", tile);
  for (std::uint64_t bytes : memory) line += fmt::format(" {:>10}", bytes);
  const std::uint64_t most = over(memory, config);
  return line +
         fmt::format(" {:>10} {:>10}\n", total(memory), most > 0 ? fmt::format("{}", most) : "-");
}

/// "262144", or the text for both memories.
std::string capacity(const TileConfig& tile) {
  if (tile.program_kib == 0) return fmt::format("{}", sram_bytes(tile));
  return fmt::format("{} of SRAM and {} for code, lists and arguments", sram_bytes(tile),
                     memory_bytes(tile) - sram_bytes(tile));
}

/// "262144 each", then each other class of nodes.
std::string capacities(const MachineConfig& machine) {
  std::string text = fmt::format("{} each", capacity(machine.tile));
  for (const NodeConfig& node : machine.nodes)
    text += fmt::format(", {} of each {}", capacity(node.tile), node.name);
  return text;
}

std::string table(std::span<const CategoryBytes> needs, const MachineConfig& machine) {
  std::string text = header();
  for (const std::uint32_t tile : fullest_tiles(needs, machine))
    text += row(tile, needs[tile], tile_of(machine, tile));
  text += fmt::format("the fullest of {}, in bytes of {}", counted(machine.tiles, "tile"),
                      capacities(machine));
  if (needs.size() < machine.tiles) return text + ", as planned\n";
  std::uint32_t tile = 0;
  const auto those = std::ranges::count_if(
      needs, [&](const CategoryBytes& bytes) { return over(bytes, tile_of(machine, tile++)) > 0; });
  return text + fmt::format("; {} of them over\n", those);
}

}  // namespace

std::uint64_t total(const CategoryBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::uint64_t over(const CategoryBytes& bytes, const TileConfig& tile) {
  const auto beyond = [](std::uint64_t need, std::uint64_t capacity) {
    return need > capacity ? need - capacity : 0;
  };
  if (tile.program_kib == 0) return beyond(total(bytes), sram_bytes(tile));
  const std::uint64_t data = data_bytes(bytes);
  return beyond(data, sram_bytes(tile)) +
         beyond(total(bytes) - data, memory_bytes(tile) - sram_bytes(tile));
}

std::uint64_t as_sram(const CategoryBytes& bytes, const TileConfig& tile) {
  if (tile.program_kib == 0) return total(bytes);
  const std::uint64_t data = data_bytes(bytes);
  const std::uint64_t other = total(bytes) - data;
  return std::max(data, ceil_div(other * tile.sram_kib, std::uint64_t{tile.program_kib}));
}

std::string_view category_name(Category category) {
  constexpr std::array<std::string_view, kCategories> kNames = {"code",      "control", "exchange",
                                                                "arguments", "tensors", "stack"};
  return kNames[static_cast<std::size_t>(category)];
}

std::vector<CategoryBytes> bytes_by_tile(const Images& images) {
  std::vector<CategoryBytes> usage;
  usage.reserve(images.tiles.size());
  for (const TileImage& tile : images.tiles) usage.push_back(tile.memory);
  return usage;
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

TileId fullest_tile(const Images& images, const MachineConfig& machine) {
  return TileId{fullest_tiles(bytes_by_tile(images), machine).front()};
}

std::string memory_table(const Images& images, const MachineConfig& machine) {
  return table(bytes_by_tile(images), machine);
}

std::string overflow_message(std::string_view what, std::span<const CategoryBytes> needs,
                             const MachineConfig& machine) {
  const std::uint32_t fullest = fullest_tiles(needs, machine).front();
  const TileConfig& tile = tile_of(machine, fullest);
  const std::size_t kind = class_number(machine, fullest);
  const std::string key =
      kind == 0 ? "machine.tile" : fmt::format("machine.nodes[{}].tile", kind - 1);
  const std::uint64_t need = total(needs[fullest]);
  std::vector<std::string> short_of;
  const auto add = [&](std::uint64_t bytes, std::uint64_t capacity, const char* field,
                       std::uint32_t kib, const char* use) {
    if (bytes <= capacity) return;
    short_of.push_back(fmt::format("{} bytes{} of {} ({}.{} = {}), {} over", bytes, use, capacity,
                                   key, field, kib, bytes - capacity));
  };
  if (tile.program_kib == 0) {
    add(need, sram_bytes(tile), "sram_kib", tile.sram_kib, "");
  } else {
    const std::uint64_t data = data_bytes(needs[fullest]);
    add(data, sram_bytes(tile), "sram_kib", tile.sram_kib, " for tensors and stacks");
    add(need - data, memory_bytes(tile) - sram_bytes(tile), "program_kib", tile.program_kib,
        " for code, lists and arguments");
  }
  return fmt::format("{}: {} needs {}\n{}", what, node_name(machine, fullest),
                     fmt::join(short_of, "; "), table(needs, machine));
}

}  // namespace tessera::program
