#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/types.h"
#include "sim/machine/energy_config.h"
#include "sim/machine/external_config.h"
#include "sim/machine/matrix_unit.h"

/// Plain values that describe a machine: models are built from them, planners read them. Every
/// field's key, default, unit and sentence are in machine_config.cpp.
namespace tessera::config {
class Fields;
}

namespace tessera {

/// Issue slots per instruction of each class: it issues that many times (multi-step or software
/// operations), one turn of its context each. Its context issues nothing else meanwhile; other
/// contexts do. A unit that stays busy after a single issue has an interval instead.
struct SlotCosts {
  std::uint32_t plain = 1;  ///< any instruction that no other key covers
  std::uint32_t integer_multiply = 1;
  std::uint32_t integer_divide = 1;
  std::uint32_t float_add = 1;  ///< this and the next two: f32 and f16, up to `float_lanes` lanes
  std::uint32_t float_multiply = 1;
  std::uint32_t float_fma = 1;
  std::uint32_t float_lanes = 4;   ///< lanes of packed arithmetic; more lanes take multiples
  std::uint32_t float_divide = 1;  ///< f32 and f16 divide, square root
  std::uint32_t activation = 1;    ///< act.s: exp2, log2, tanh, sigmoid, rsqrt
};

/// Cycles from an instruction's (last) slot to the first in which another can use its result; 1:
/// the next cycle. Under `barrel` a context issues every `contexts` cycles, which hides latencies
/// up to that.
struct LatencyConfig {
  std::uint32_t load = 1;     ///< from local memory
  std::uint32_t integer = 1;  ///< also of addresses that a memory instruction advances
  std::uint32_t integer_multiply = 1;
  std::uint32_t integer_divide = 1;
  std::uint32_t f32_add = 1;
  std::uint32_t f32_multiply = 1;
  std::uint32_t f32_fma = 1;
  std::uint32_t f16_add = 1;
  std::uint32_t f16_multiply = 1;
  std::uint32_t f16_fma = 1;
  std::uint32_t float_move = 1;  ///< moves, comparisons, conversions, lane shuffles
  std::uint32_t float_divide = 1;
  std::uint32_t square_root = 1;
  std::uint32_t activation = 1;
  std::uint32_t matrix = 1;        ///< from an amp.* to a use of its results
  std::uint32_t branch_taken = 1;  ///< from a taken branch to its target
};

/// Initiation intervals of units that are not fully pipelined. Under `barrel` in slots of the
/// context (each context has its share of the unit), else in cycles of the tile's single unit.
struct IntervalConfig {
  std::uint32_t integer_multiply = 1;
  std::uint32_t integer_divide = 1;
  std::uint32_t floating = 1;  ///< add, multiply, fused multiply-add
  std::uint32_t float_divide = 1;
  std::uint32_t activation = 1;
};

/// Costs of the supervisor, in cycles. Under `barrel` it has its own issue port, and the first
/// three are its costs; under the other kinds its instructions cost the same as a worker's.
struct SupervisorCosts {
  std::uint32_t plain_cycles = 1;
  std::uint32_t branch_taken_cycles = 6;
  std::uint32_t load_use_stall_cycles = 5;  ///< if the next instruction reads a loaded register
  std::uint32_t launch_cycles = 6;          ///< `run`
  std::uint32_t launch_stagger_cycles =
      0;  ///< between the starts of successive workers when one `run` starts all
  std::uint32_t join_cycles = 6;
  std::uint32_t weight_load_cycles = 6;  ///< to start `ldcw`; the words then move at their rate
};

/// How contexts share the issue slots.
enum class IssueKind : std::uint8_t { barrel, revolver, interleaved, single };

struct TileConfig {
  std::uint32_t sram_kib = 256;
  /// Memory for code, control, arguments and descriptor lists, above the SRAM in the same address
  /// space; 0: they lie in SRAM.
  std::uint32_t program_kib = 0;
  std::uint32_t contexts = 6;  ///< worker contexts; 0 (no workers) in NodeConfig only
  IssueKind issue = IssueKind::barrel;
  std::uint32_t reissue_cycles = 0;  ///< revolver: minimum distance of a context's issues
  bool dual_issue = true;
  std::uint32_t load_bytes_per_slot = 16;
  std::uint32_t store_bytes_per_slot = 8;
  std::uint32_t worker_stack_bytes = 0;
  std::uint32_t supervisor_stack_bytes = 256;
  /// Exchanges and transfers with external memory overlap with the tile's code; else the supervisor
  /// waits where it starts them.
  bool overlap = false;
  MatrixUnitConfig matrix_unit;
  SlotCosts slots;
  LatencyConfig latency;
  IntervalConfig interval;
  SupervisorCosts supervisor;
};

/// True if contexts compete for issue slots, so that their times depend on each other.
inline bool shares_pipeline(const TileConfig& tile) {
  return tile.issue == IssueKind::revolver || tile.issue == IssueKind::interleaved;
}

/// Cycles between two slots of a worker context, if it has slots of its own.
inline std::uint32_t cycles_per_slot(const TileConfig& tile) {
  return tile.issue == IssueKind::barrel && tile.contexts > 0 ? tile.contexts : 1;
}

/// Ports of a node to the fabric; all of one entry are alike.
struct PortConfig {
  enum class Direction : std::uint8_t { send, receive };
  Direction direction = Direction::send;
  std::uint32_t bytes_per_cycle = 4;  ///< rate per port: a multiple of the fabric's rate
  std::uint32_t count = 1;
};

/// A class of nodes besides the compute tiles: cores with another SRAM size, with or without
/// workers. Node ids follow the tiles', class by class (nodes.h maps an id to its properties).
struct NodeConfig {
  std::string name;
  std::uint32_t count = 1;
  TileConfig tile;                ///< keys not given are as in MachineConfig::tile
  std::vector<PortConfig> ports;  ///< none: one each way, like a tile
};

/// A kind of stream of the `streams` fabric, from nodes of one class to nodes of one class.
struct StreamConfig {
  /// Which nodes a stream reaches: all, those in the sender's column, or in its row. Tile t is in
  /// column t % columns and row t / columns; node n of another class is in column n and row n.
  enum class Along : std::uint8_t { any, column, row };
  std::string name;
  std::string from = "tile";  ///< a class of nodes
  std::string to = "tile";
  Along along = Along::any;
  double bytes_per_cycle = 4;       ///< rate of one stream, rounded to nine decimals
  std::uint32_t send_ports = 1;     ///< concurrent streams sent by a node; 0: any number
  std::uint32_t receive_ports = 1;  ///< concurrent streams received by a node
};

struct FabricConfig {
  std::string kind = "scheduled";  ///< scheduled | ideal | streams
  std::uint32_t send_bytes_per_cycle = 4;
  std::uint32_t receive_bytes_per_cycle = 4;
  bool pair_sharing = true;           ///< a pair of tiles receives identical data at twice the rate
  std::uint32_t fixed_cycles = 100;   ///< per exchange
  std::uint32_t cycles_per_hop = 0;   ///< between neighbouring columns or rows
  std::uint32_t columns = 1;          ///< at most one per pair of tiles; streams: per tile
  std::vector<StreamConfig> streams;  ///< only for the kind `streams`
};

struct SyncConfig {
  std::uint32_t chip_cycles = 90;  ///< from the last arrival to the release
};

struct HostLinkConfig {
  double launch_us = 0;
  double latency_us = 0;
  double gigabytes_per_second = 64;
};

struct MachineConfig {
  std::string name;
  std::uint32_t tiles = 1;
  double clock_ghz = 1.0;
  TileConfig tile;
  std::vector<NodeConfig> nodes;  ///< besides the tiles
  FabricConfig fabric;
  SyncConfig sync;
  HostLinkConfig host;
  bool has_external = false;
  ExternalConfig external;  ///< if has_external
  bool has_energy = false;
  EnergyConfig energy;  ///< if has_energy
};

/// True if workers start transfers with external memory themselves (`ldma`, `sdma`).
inline bool workers_start_transfers(const MachineConfig& machine) {
  return machine.has_external && machine.external.worker_dma.has_value();
}

/// Cycles that `bytes` occupy a stream's ports: bytes / rate, rounded up.
std::uint64_t stream_cycles(const StreamConfig& stream, std::uint64_t bytes);

/// `launch_us` of a run in chip clocks.
Cycle launch_cycles(const MachineConfig& machine);
/// Chip clocks of `transfers` transfers of `bytes` in all between chip and host: one link latency
/// each, plus the bytes at the link's rate, rounded up.
Cycle host_transfer_cycles(const MachineConfig& machine, Bytes bytes, std::uint32_t transfers = 1);

/// The declarations of the fields above: keys are nested as the structs are.
void describe(config::Fields& fields, SlotCosts& slots);
void describe(config::Fields& fields, LatencyConfig& latency);
void describe(config::Fields& fields, IntervalConfig& interval);
void describe(config::Fields& fields, SupervisorCosts& costs);
void describe(config::Fields& fields, TileConfig& tile);
void describe(config::Fields& fields, PortConfig& port);
void describe(config::Fields& fields, NodeConfig& node);
void describe(config::Fields& fields, StreamConfig& stream);
void describe(config::Fields& fields, FabricConfig& fabric);
void describe(config::Fields& fields, SyncConfig& sync);
void describe(config::Fields& fields, HostLinkConfig& link);
void describe(config::Fields& fields, MachineConfig& machine);

}  // namespace tessera
