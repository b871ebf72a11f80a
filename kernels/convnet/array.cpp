#include "kernels/convnet/array.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/machine/nodes.h"

namespace tessera::convnet {
namespace {

struct Route {
  const char* name;
  const char* from;
  const char* to;
};
constexpr Route kRoutes[] = {{kActivations, "memory", "tile"}, {kWeights, "memory", "tile"},
                             {kResults, "tile", "memory"},     {kHalo, "memory", "memory"},
                             {kLoad, "ddr", "memory"},         {kLoadWeights, "ddr", "memory"},
                             {kStore, "memory", "ddr"}};

void require_streams(const MachineConfig& machine) {
  if (machine.fabric.kind != "streams")
    throw KeyError("machine.fabric.kind",
                   fmt::format("found {}, allowed streams: convnet runs on arrays of cores with "
                               "memory tiles, as machine aie2_4x4",
                               machine.fabric.kind));
  for (const Route& route : kRoutes) {
    const auto number = stream_number(machine, route.name);
    if (number && machine.fabric.streams[*number].from == route.from &&
        machine.fabric.streams[*number].to == route.to)
      continue;
    throw KeyError("machine.fabric.streams",
                   fmt::format("found no streams {} from {} to {}, which convnet needs", route.name,
                               route.from, route.to));
  }
}

}  // namespace

Range part_of(std::uint32_t all, std::uint32_t parts, std::uint32_t number) {
  const std::uint32_t each = (all + parts - 1) / parts;
  return {std::min(all, number * each), std::min(all, (number + 1) * each)};
}

Array array_of(const MachineConfig& machine) {
  require_streams(machine);
  if (!machine.tile.matrix_unit.i8.exists())
    throw KeyError("machine.tile.matrix_unit.i8.outputs",
                   "found 0, allowed 8: convnet computes on the int8 unit");
  Array array{machine.tiles / machine.fabric.columns, machine.fabric.columns, 0, 0};
  std::uint32_t first = machine.tiles;
  for (std::size_t i = 0; i < machine.nodes.size(); ++i) {
    const NodeConfig& node = machine.nodes[i];
    const std::uint32_t wanted = node.name == "memory" ? array.columns : 1;
    if (node.name == "memory") array.first_memory = first;
    if (node.name == "ddr") array.ddr = first;
    if ((node.name == "memory" || node.name == "ddr") && node.count != wanted)
      throw KeyError(fmt::format("machine.nodes[{}].count", i),
                     fmt::format("found {}, allowed {}: convnet has a memory tile a column of "
                                 "machine.fabric.columns, and one ddr",
                                 node.count, wanted));
    first += node.count;
  }
  if (array.ddr + 1 != first || array.first_memory + array.columns != array.ddr)
    throw KeyError("machine.nodes",
                   "found other classes than memory and ddr, in this order, which convnet needs");
  return array;
}

}  // namespace tessera::convnet
