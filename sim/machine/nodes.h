#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/machine/machine_config.h"

/// Properties of a machine's node by its id: compute tiles come first, then the classes of
/// `machine.nodes` in their order. All ids given must be below node_count().
namespace tessera {

std::uint32_t node_count(const MachineConfig& machine);
/// The class of the node; null: a compute tile.
const NodeConfig* class_of(const MachineConfig& machine, std::uint32_t node);
/// The index of that class in `machine.nodes`, and one more; 0: a compute tile.
std::size_t class_number(const MachineConfig& machine, std::uint32_t node);
/// The core of a class by that number.
const TileConfig& tile_of_class(const MachineConfig& machine, std::size_t number);
const TileConfig& tile_of(const MachineConfig& machine, std::uint32_t node);
/// "tile 3", or "tile 70 (memory)" of a class.
std::string node_name(const MachineConfig& machine, std::uint32_t node);

std::uint64_t sram_bytes(const TileConfig& tile);
/// SRAM and, above it, the memory of code: all that the tile addresses.
std::uint64_t memory_bytes(const TileConfig& tile);
/// Where its memory begins in the address map of the machine, in which all lie without gaps by id.
std::uint64_t sram_address(const MachineConfig& machine, std::uint32_t node);
/// The end of that map.
std::uint64_t sram_end(const MachineConfig& machine);

/// How many times the fabric's rate in one direction a class of nodes moves bytes at; 1 each way
/// where it says nothing of ports, 0: it has none.
std::uint32_t port_factor(const MachineConfig& machine, const NodeConfig& node,
                          PortConfig::Direction direction);

/// Declares the fields of a tile that has so many contexts at least.
void describe_tile(config::Fields& fields, TileConfig& tile, std::uint32_t least_contexts);
/// Declares `machine.nodes`; the machine's tiles and fabric are known.
void describe_nodes(config::Fields& fields, MachineConfig& machine);
/// Requires of `machine.fabric.streams` what nodes and names say.
void require_streams(config::Fields& fields, const MachineConfig& machine);

/// The index in `machine.fabric.streams` of the streams of that name; nothing: there are none.
std::optional<std::uint32_t> stream_number(const MachineConfig& machine, std::string_view name);
/// True if a stream of that kind leads from the first node to the second.
bool leads(const MachineConfig& machine, const StreamConfig& stream, std::uint32_t from,
           std::uint32_t to);

}  // namespace tessera
