#include "kernels/arrays/array.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/machine/nodes.h"

namespace tessera::arrays {
namespace {

using Along = StreamConfig::Along;

struct Route {
  std::string_view name;
  std::string_view from;
  std::string_view to;
  Along along = Along::any;  ///< the narrowest direction that reaches all receivers
};
constexpr Route kRoutes[] = {{kActivations, "memory", "tile", Along::column},
                             {kWeights, "memory", "tile", Along::row},
                             {kResults, "tile", "memory", Along::column},
                             {kHalo, "memory", "memory"},
                             {kLoad, "ddr", "memory"},
                             {kLoadWeights, "ddr", "memory"},
                             {kStore, "memory", "ddr"}};

const char* name_of(Along along) {
  if (along == Along::any) return "any";
  return along == Along::row ? "row" : "column";
}

/// Throws KeyError for a wrong direction. Streams from or to the single DDR, and any streams on one
/// column, reach all nodes in every direction.
void require_way(const MachineConfig& machine, const Route& route, std::size_t number,
                 const char* user) {
  const Along found = machine.fabric.streams[number].along;
  const bool one = machine.fabric.columns == 1 || route.from == "ddr" || route.to == "ddr";
  if (one || found == Along::any || found == route.along) return;
  const bool narrow = route.along != Along::any;
  throw KeyError(fmt::format("machine.fabric.streams[{}].along", number),
                 "found {}, allowed {}{}: {} requires it for streams {} from {} to {}",
                 name_of(found), narrow ? "any, " : "", name_of(route.along), user, route.name,
                 route.from, route.to);
}

void require_streams(const MachineConfig& machine, std::span<const char* const> streams,
                     const char* user) {
  if (machine.fabric.kind != "streams")
    throw KeyError("machine.fabric.kind",
                   "found {}, allowed streams: {} runs on arrays of cores with "
                   "memory tiles, as machine aie2_4x4",
                   machine.fabric.kind, user);
  for (const char* const name : streams) {
    const Route& route = *std::ranges::find(kRoutes, std::string_view(name), &Route::name);
    const auto number = stream_number(machine, route.name);
    if (number && machine.fabric.streams[*number].from == route.from &&
        machine.fabric.streams[*number].to == route.to) {
      require_way(machine, route, *number, user);
      continue;
    }
    throw KeyError("machine.fabric.streams", "found no streams {} from {} to {}, required by {}",
                   route.name, route.from, route.to, user);
  }
}

/// Throws KeyError unless a core has one context: tile code does not read its worker's number.
void require_one_worker(const MachineConfig& machine, const char* user) {
  if (machine.tile.contexts == 1) return;
  throw KeyError("machine.tile.contexts", "found {}, allowed 1: {} runs one worker on each core",
                 machine.tile.contexts, user);
}

}  // namespace

std::uint64_t data_bytes(const TileConfig& tile, std::uint64_t beside) {
  const std::uint64_t taken = std::uint64_t{2} * kAlign + beside + tile.supervisor_stack_bytes +
                              std::uint64_t{tile.contexts} * tile.worker_stack_bytes;
  return sram_bytes(tile) - std::min(sram_bytes(tile), taken);
}

Array array_of(const MachineConfig& machine, std::span<const char* const> streams,
               const char* user) {
  require_streams(machine, streams, user);
  require_one_worker(machine, user);
  Array array{machine.tiles / machine.fabric.columns, machine.fabric.columns, 0, 0};
  std::uint32_t first = machine.tiles;
  for (std::size_t i = 0; i < machine.nodes.size(); ++i) {
    const NodeConfig& node = machine.nodes[i];
    const std::uint32_t wanted = node.name == "memory" ? array.columns : 1;
    if (node.name == "memory") array.first_memory = first;
    if (node.name == "ddr") array.ddr = first;
    if ((node.name == "memory" || node.name == "ddr") && node.count != wanted)
      throw KeyError(fmt::format("machine.nodes[{}].count", i),
                     "found {}, allowed {}: {} requires a memory tile for each column of "
                     "machine.fabric.columns, and one ddr",
                     node.count, wanted, user);
    first += node.count;
  }
  if (array.ddr + 1 != first || array.first_memory + array.columns != array.ddr)
    throw KeyError("machine.nodes",
                   "found other classes than memory and ddr, in this order, required by {}", user);
  return array;
}

}  // namespace tessera::arrays
