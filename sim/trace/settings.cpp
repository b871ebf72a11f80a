#include "sim/trace/settings.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/base/sizes.h"
#include "sim/machine/nodes.h"

namespace tessera::trace {
namespace {

constexpr const char* kKey = "report.trace_tiles";

/// Marks the tiles of "5" or "0-63". The last one may exceed the machine: the range is clipped.
void mark(std::string_view part, std::vector<bool>& chosen) {
  const std::size_t dash = part.find('-');
  const auto first = number_in<std::uint32_t>(part.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : number_in<std::uint32_t>(part.substr(dash + 1));
  if (!first || !last || *last < *first)
    throw KeyError(kKey,
                   "found \"{}\", allowed all, or tiles and ranges of them such "
                   "as 0-63,100",
                   part);
  if (*first >= chosen.size())
    throw KeyError(kKey, "found tile {}, allowed 0 to {}, the tiles of the machine", *first,
                   chosen.size() - 1);
  for (std::size_t tile = *first; tile <= *last && tile < chosen.size(); ++tile)
    chosen[tile] = true;
}

}  // namespace

std::vector<TileId> tiles_of(std::string_view text, std::uint32_t machine_tiles) {
  const bool all = text == "all";
  std::vector<bool> chosen(machine_tiles, all);
  for (bool more = !all; more;) {
    const std::size_t comma = text.find(',');
    mark(text.substr(0, comma), chosen);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  std::vector<TileId> tiles;
  for (std::uint32_t i = 0; i < machine_tiles; ++i)
    if (chosen[i]) tiles.push_back(TileId{i});
  return tiles;
}

Settings settings_of(const config::Config& config) {
  Settings settings;
  const std::vector<TileId> tiles = tiles_of(config.report.trace_tiles, node_count(config.machine));
  if (config.report.trace == TraceDetail::tiles) settings.tiles = tiles;
  settings.workers = config.report.trace_workers;
  settings.most_bytes = config.report.trace_limit_mib << 20;
  settings.machine_tiles = node_count(config.machine);
  settings.contexts = config.machine.tile.contexts;
  for (const NodeConfig& node : config.machine.nodes)
    settings.contexts = std::max(settings.contexts, node.tile.contexts);
  settings.cycle_femtoseconds =
      static_cast<std::uint64_t>(std::llround(1e6 / config.machine.clock_ghz));
  return settings;
}

}  // namespace tessera::trace
