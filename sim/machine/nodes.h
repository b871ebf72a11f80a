#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/machine/machine_config.h"

/// Properties of a machine's node by its id: compute tiles come first, then the classes of
/// `machine.nodes` in order. All ids must be below node_count().
namespace tessera {

std::uint32_t node_count(const MachineConfig& machine);
/// The node's class; null for a compute tile.
const NodeConfig* class_of(const MachineConfig& machine, std::uint32_t node);
/// 1 + the index of the node's class in `machine.nodes`; 0 for a compute tile.
std::size_t class_number(const MachineConfig& machine, std::uint32_t node);
/// The tile config of class number `number`, as class_number() gives it.
const TileConfig& tile_of_class(const MachineConfig& machine, std::size_t number);
const TileConfig& tile_of(const MachineConfig& machine, std::uint32_t node);
/// "tile 3", or "tile 70 (memory)" for a node of a class.
std::string node_name(const MachineConfig& machine, std::uint32_t node);

std::uint64_t sram_bytes(const TileConfig& tile);
/// All bytes that the tile addresses: SRAM and, above it, program memory.
std::uint64_t memory_bytes(const TileConfig& tile);
/// Start of the node's memory in the address map, which holds all nodes by id, without gaps.
std::uint64_t sram_address(const MachineConfig& machine, std::uint32_t node);
/// End of the address map.
std::uint64_t sram_end(const MachineConfig& machine);

/// Port bandwidth of a class in one direction, in multiples of the fabric's rate: 1 if it declares
/// no ports, 0 if it has none in this direction.
std::uint32_t port_factor(const MachineConfig& machine, const NodeConfig& node,
                          PortConfig::Direction direction);

/// Declares the fields of a tile with at least `least_contexts` contexts.
void describe_tile(config::Fields& fields, TileConfig& tile, std::uint32_t least_contexts);
/// Declares `machine.nodes`; call it after the machine's tiles and fabric.
void describe_nodes(config::Fields& fields, MachineConfig& machine);
/// Checks `machine.fabric.streams` against the classes of nodes and for unique names.
void require_streams(config::Fields& fields, const MachineConfig& machine);

/// The index of a stream kind in `machine.fabric.streams` by name; nullopt if there is none.
std::optional<std::uint32_t> stream_number(const MachineConfig& machine, std::string_view name);
/// True if a stream of this kind leads from node `from` to node `to`.
bool leads(const MachineConfig& machine, const StreamConfig& stream, std::uint32_t from,
           std::uint32_t to);

}  // namespace tessera
