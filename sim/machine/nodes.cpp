#include "sim/machine/nodes.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/config/fields.h"
#include "sim/config/nearest.h"

namespace tessera {

using config::Fields;

std::uint32_t node_count(const MachineConfig& machine) {
  std::uint32_t count = machine.tiles;
  for (const NodeConfig& node : machine.nodes) count += node.count;
  return count;
}

std::size_t class_number(const MachineConfig& machine, std::uint32_t node) {
  std::uint32_t end = machine.tiles;
  std::size_t number = 0;
  while (number < machine.nodes.size() && node >= end) end += machine.nodes[number++].count;
  return number;
}

const NodeConfig* class_of(const MachineConfig& machine, std::uint32_t node) {
  const std::size_t number = class_number(machine, node);
  return number == 0 ? nullptr : &machine.nodes[number - 1];
}

const TileConfig& tile_of_class(const MachineConfig& machine, std::size_t number) {
  return number == 0 ? machine.tile : machine.nodes[number - 1].tile;
}

const TileConfig& tile_of(const MachineConfig& machine, std::uint32_t node) {
  return tile_of_class(machine, class_number(machine, node));
}

std::string node_name(const MachineConfig& machine, std::uint32_t node) {
  const NodeConfig* const its = class_of(machine, node);
  return its == nullptr ? fmt::format("tile {}", node)
                        : fmt::format("tile {} ({})", node, its->name);
}

std::uint64_t sram_bytes(const TileConfig& tile) { return std::uint64_t{tile.sram_kib} * 1024; }

std::uint64_t memory_bytes(const TileConfig& tile) {
  return (std::uint64_t{tile.sram_kib} + tile.program_kib) * 1024;
}

std::uint64_t sram_address(const MachineConfig& machine, std::uint32_t node) {
  std::uint64_t address = std::min(node, machine.tiles) * memory_bytes(machine.tile);
  std::uint32_t first = machine.tiles;
  for (const NodeConfig& its : machine.nodes) {
    if (node <= first) break;
    address += std::min(node - first, its.count) * memory_bytes(its.tile);
    first += its.count;
  }
  return address;
}

std::uint64_t sram_end(const MachineConfig& machine) {
  return sram_address(machine, node_count(machine));
}

std::uint32_t port_factor(const MachineConfig& machine, const NodeConfig& node,
                          PortConfig::Direction direction) {
  if (node.ports.empty()) return 1;
  const std::uint32_t rate = direction == PortConfig::Direction::send
                                 ? machine.fabric.send_bytes_per_cycle
                                 : machine.fabric.receive_bytes_per_cycle;
  std::uint32_t factor = 0;
  for (const PortConfig& port : node.ports)
    if (port.direction == direction) factor += port.count * (port.bytes_per_cycle / rate);
  return factor;
}

namespace {

using Direction = PortConfig::Direction;
constexpr config::Names<Direction, 2> kDirections{
    {{"send", Direction::send}, {"receive", Direction::receive}}};

constexpr std::uint32_t kMostNodes = 1U << 20;  // descriptors hold a node in 20 bits
constexpr std::uint32_t kMostPorts = 64;        // per node, in multiples of the fabric's rate

/// The tile of a class of nodes.
struct NodeTile {
  TileConfig& tile;
};

/// Costs of workers are refused if there are no workers.
void describe(Fields& fields, NodeTile& node) {
  SupervisorCosts& costs = node.tile.supervisor;
  const SupervisorCosts usual = costs;
  describe_tile(fields, node.tile, 0);
  if (node.tile.contexts > 0) return;
  const auto none = [&](const char* key, std::uint32_t& found, std::uint32_t inherited) {
    fields.require(found == inherited || found == 0, key,
                   "found {}, allowed 0 where there are no workers", found);
    found = 0;
  };
  none("supervisor.launch_cycles", costs.launch_cycles, usual.launch_cycles);
  none("supervisor.launch_stagger_cycles", costs.launch_stagger_cycles,
       usual.launch_stagger_cycles);
  none("supervisor.join_cycles", costs.join_cycles, usual.join_cycles);
  none("supervisor.weight_load_cycles", costs.weight_load_cycles, usual.weight_load_cycles);
}

/// The scheduler moves every stream of an exchange at the fabric's rate: a faster port carries
/// several streams at once, a slower port none.
void require_ports(Fields& fields, const MachineConfig& machine, std::size_t number) {
  const NodeConfig& node = machine.nodes[number];
  const std::string& kind = machine.fabric.kind;
  fields.require(
      node.ports.empty() || kind == "scheduled", fmt::format("nodes[{}].ports", number),
      "found ports, allowed none with machine.fabric.kind {}, {}", kind,
      kind == "ideal" ? "which has no rates" : "where fabric.streams says what nodes send");
  for (std::size_t i = 0; i < node.ports.size(); ++i) {
    const PortConfig& port = node.ports[i];
    const bool sends = port.direction == Direction::send;
    const std::uint32_t rate =
        sends ? machine.fabric.send_bytes_per_cycle : machine.fabric.receive_bytes_per_cycle;
    fields.require(port.bytes_per_cycle % rate == 0,
                   fmt::format("nodes[{}].ports[{}].bytes_per_cycle", number, i),
                   "found {}, allowed multiples of the {} of "
                   "machine.fabric.{}_bytes_per_cycle, at which all streams move",
                   port.bytes_per_cycle, rate, sends ? "send" : "receive");
  }
  for (const auto& [name, direction] : kDirections) {
    const std::uint32_t factor = port_factor(machine, node, direction);
    fields.require(factor <= kMostPorts, fmt::format("nodes[{}].ports", number),
                   "found ports that {} {} times the fabric's rate together, allowed "
                   "{} times at most",
                   name, factor, kMostPorts);
  }
}

}  // namespace

void describe(Fields& fields, PortConfig& port) {
  fields.field({"direction", "direction, seen from the node"}, port.direction, kDirections);
  fields.field({"bytes_per_cycle",
                "rate of each port: a multiple of the fabric's rate in that direction; rate / "
                "fabric rate streams pass at once",
                "bytes a cycle"},
               port.bytes_per_cycle, {1, 1024});
  fields.field({"count", "ports of this kind"}, port.count, {1, kMostPorts});
}

void describe(Fields& fields, NodeConfig& node) {
  fields.field({"name", "name of this class in messages and reports", "", true}, node.name);
  fields.field({"count", "nodes"}, node.count, {1, kMostNodes});
  NodeTile tile{node.tile};
  fields.group({"tile",
                "core and SRAM of each node; keys not given are as in machine.tile; contexts 0: a "
                "supervisor without workers"},
               tile);
  fields.list({"ports",
               "ports to the fabric; not given: one in each direction at the fabric's rates; a "
               "direction not listed has no port"},
              node.ports);
}

void describe_nodes(Fields& fields, MachineConfig& machine) {
  NodeConfig base;
  base.tile = machine.tile;
  fields.list({"nodes",
               "classes of nodes other than the compute tiles: cores of other sizes, or memories "
               "with a supervisor and no workers; their ids follow those of the tiles"},
              machine.nodes, base);
  std::set<std::string> names{"tile"};
  std::uint64_t count = machine.tiles;
  for (std::size_t i = 0; i < machine.nodes.size(); ++i) {
    const NodeConfig& node = machine.nodes[i];
    const bool plain = node.name.find_first_of(",\"\n") == std::string::npos;
    fields.require(!node.name.empty() && plain && names.insert(node.name).second,
                   fmt::format("nodes[{}].name", i),
                   "found \"{}\", allowed a name without commas and quotes that no "
                   "other class has, nor tile",
                   node.name);
    count += node.count;
    require_ports(fields, machine, i);
  }
  fields.require(count <= kMostNodes, "nodes", "found {} nodes with the tiles, allowed {}", count,
                 kMostNodes);
}

void require_streams(Fields& fields, const MachineConfig& machine) {
  const FabricConfig& fabric = machine.fabric;
  if (fabric.kind != "streams") return;
  std::vector<std::string> classes{"tile"};
  for (const NodeConfig& node : machine.nodes) classes.push_back(node.name);
  fields.require(!fabric.streams.empty(), "fabric.streams",
                 "found none, needed with machine.fabric.kind streams");
  std::set<std::string> names;
  for (std::size_t i = 0; i < fabric.streams.size(); ++i) {
    const StreamConfig& stream = fabric.streams[i];
    const std::string at = fmt::format("fabric.streams[{}].", i);
    fields.require(!stream.name.empty() && names.insert(stream.name).second, at + "name",
                   "found \"{}\", allowed a name that no others have", stream.name);
    const auto require_class = [&](const char* key, const std::string& name) {
      fields.require(std::ranges::count(classes, name) > 0, at + key, "found \"{}\", allowed {}",
                     name, config::names_near(name, classes));
    };
    require_class("from", stream.from);
    require_class("to", stream.to);
  }
}

std::optional<std::uint32_t> stream_number(const MachineConfig& machine, std::string_view name) {
  const auto found = std::ranges::find(machine.fabric.streams, name, &StreamConfig::name);
  if (found == machine.fabric.streams.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - machine.fabric.streams.begin());
}

bool leads(const MachineConfig& machine, const StreamConfig& stream, std::uint32_t from,
           std::uint32_t to) {
  const auto name_of = [&](std::uint32_t node) {
    const NodeConfig* const its = class_of(machine, node);
    return its == nullptr ? std::string_view("tile") : std::string_view(its->name);
  };
  const auto place_of = [&](std::uint32_t node) {
    const std::uint32_t columns = machine.fabric.columns;
    if (node < machine.tiles)
      return stream.along == StreamConfig::Along::row ? node / columns : node % columns;
    std::uint32_t first = machine.tiles;
    for (const NodeConfig& its : machine.nodes) {
      if (node < first + its.count) break;
      first += its.count;
    }
    return node - first;
  };
  if (name_of(from) != stream.from || name_of(to) != stream.to) return false;
  if (stream.along == StreamConfig::Along::any) return true;
  // Positions wrap around at the smaller class.
  const auto places = [&](std::uint32_t node) {
    const NodeConfig* const its = class_of(machine, node);
    return its == nullptr ? UINT32_MAX : its->count;
  };
  const std::uint32_t count = std::min(places(from), places(to));
  return place_of(from) % count == place_of(to) % count;
}

}  // namespace tessera
