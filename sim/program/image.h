#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/machine/machine_config.h"
#include "sim/program/exchange_compiler.h"
#include "sim/program/program.h"

/// Programs placed in SRAM: the contents of each tile and the addresses of all parts.
namespace tessera::program {

/// Marks code that belongs to no step: set-up, codelets, the barrier at the end.
constexpr std::uint32_t kNoStep = 0xffffffff;

/// Code shared by every tile that holds the same bytes. Loaded at address 0; stores below its end
/// fault.
struct CodeImage {
  std::vector<std::byte> bytes;
  Address entry;                                         ///< where the supervisor starts
  std::vector<std::pair<Address, std::string>> symbols;  ///< start of each function, for messages
  /// The step of each range of supervisor code: {first address, index in Images::steps or kNoStep},
  /// ascending. A step begins at its `sync`, or at its first instruction if it has none. The
  /// machine uses it for wait reasons, for which supersteps are measured, and to find tiles that
  /// branched apart. The supervisor ends its tile by `xctl 0`.
  std::vector<std::pair<Address, std::uint32_t>> steps;
  bool idle = false;      ///< true for nodes that the program does not name; they end at once
  Address arguments;      ///< start of argument blocks, after the descriptor-list table
  Address worker_stacks;  ///< worker w starts with sp = this + (w + 1) * worker_stack_bytes

  /// The step that a pc in the control code belongs to, or kNoStep.
  [[nodiscard]] std::uint32_t step_of(std::uint32_t pc) const;
  /// The last symbol at or before pc, for messages.
  [[nodiscard]] const std::string& symbol_of(std::uint32_t pc) const;
};

/// The address of the external buffer that follows one of `bytes` bytes at `begin`.
constexpr std::uint64_t end_of_outer(std::uint64_t begin, std::uint64_t bytes) {
  constexpr std::uint64_t kAlign = 4096;
  return round_up(begin + bytes, kAlign);
}

/// A range of SRAM with contents known at build time (argument blocks, descriptor lists).
struct Segment {
  Address address;
  std::vector<std::byte> bytes;
};

constexpr std::size_t kCategories = 6;
using CategoryBytes = std::array<std::uint64_t, kCategories>;  ///< indexed by Category

struct TileImage {
  std::shared_ptr<const CodeImage> code;
  std::vector<Segment> segments;
  std::vector<BufferId> initialised;  ///< buffers that the host fills before each run
  CategoryBytes memory{};             ///< peak bytes by category; their sum is the tile's need
};

/// One superstep of the compiled program, as steps.csv lists it.
struct StepInfo {
  std::string name;
  std::string kind;  ///< compute | exchange | start | wait | host_read | host_write
  Cycle exchange_makespan;
  Cycle exchange_bound;
  bool measured = true;
  std::uint64_t live_bytes = 0;  ///< live buffers on the tile with the most
  bool waits_for_host = false;
  PortBytes exchange_ports = {};
  std::shared_ptr<const ExchangeEnds> exchange_ends = {};  ///< null: not known
};

/// A host transfer, of exchange number `exchange`.
struct HostStream {
  std::uint32_t exchange;
  std::string name;
  HostTransfer transfer;
  std::vector<TileId> tiles = {};  ///< by piece
};

struct Images {
  std::vector<TileImage> tiles;                   ///< one for every node of the machine
  std::vector<Address> buffer_address;            ///< by BufferId
  std::vector<std::uint64_t> outer_address = {};  ///< by OuterId, in external memory
  std::uint64_t outer_bytes = 0;  ///< bytes of external buffers: of the chip, or per tile
  std::vector<StepInfo> steps;    ///< in program order, zone by zone
  std::vector<std::uint32_t> exchange_step;  ///< by index in Flow::exchanges: a step that starts it
  std::vector<std::uint32_t> zone_of = {};   ///< by tile; empty: all are of zone 0
  std::vector<HostStream> host_streams = {};
  bool shortest_lists = false;  ///< of exchanges: with fastest ones it does not fit
};

/// `machine` with its contexts reduced to the workers that `program` starts on its compute tiles.
MachineConfig started_by(const Program& program, MachineConfig machine);

/// Places and compiles `program`, which names the compute tiles and any number of the nodes after
/// them; the others end at once. Exchanges are the fastest, or have the shortest lists if the
/// program does not fit otherwise. Throws UserError with the memory table if a tile's SRAM is too
/// small, and for a vertex that needs workers on a node that has none.
Images compile(const Program& program, const MachineConfig& machine,
               const ExchangeCompiler& exchanges);

/// The memory section of a report.
struct MemorySummary {
  TileId max_tile{};       ///< the first tile with the largest need
  CategoryBytes on_max{};  ///< its need by category
  std::uint64_t max_bytes = 0;
  std::uint64_t total_bytes = 0;
};
MemorySummary summarise_memory(const Images& images);
/// Memory use of each tile or node.
std::vector<CategoryBytes> bytes_by_tile(const Images& images);
/// The tile or node that fills the largest share of its memory; the first of equals.
TileId fullest_tile(const Images& images, const MachineConfig& machine);

/// The results of compilation that planners use.
struct ResourceUsage {
  std::vector<StepInfo> steps;  ///< in program order
  MemorySummary memory;
  bool shortest_lists = false;
};
/// As compile, without the images. Reads only the parts of `machine` that `compiled_for` keeps.
ResourceUsage resource_usage(const Program& program, const MachineConfig& machine,
                             const ExchangeSizer& exchanges);
/// Called with each exchange's usage in program order, for the fastest lists. Returning false stops
/// the compilation.
using Watch = std::function<bool(const ExchangeUsage& needs)>;
/// As resource_usage() above; nothing if `watch` stops it.
std::optional<ResourceUsage> resource_usage(const Program& program, const MachineConfig& machine,
                                            const ExchangeSizer& exchanges, const Watch& watch);
/// `machine` with defaults for all values that do not affect compilation.
MachineConfig compiled_for(const MachineConfig& machine);

/// Table of the fullest tiles: memory by category, one row per tile, and bytes over their SRAM.
std::string memory_table(const Images& images, const MachineConfig& machine);

/// The message for tiles that do not fit: `what`, the fullest tile, the bytes over, the table
/// above. `needs` begins at tile 0; a planner may pass only the fullest tiles.
std::string overflow_message(std::string_view what, std::span<const CategoryBytes> needs,
                             const MachineConfig& machine);

/// The bytes of all categories together.
std::uint64_t total(const CategoryBytes& bytes);
/// Bytes beyond the tile's capacity: in total, or over its code memory and its SRAM if separate.
std::uint64_t over(const CategoryBytes& bytes, const TileConfig& tile);
/// Total bytes; with a separate code memory, the SRAM bytes of equal share as the fuller of the two
/// memories.
std::uint64_t as_sram(const CategoryBytes& bytes, const TileConfig& tile);

/// The name of a category as in report.json.
std::string_view category_name(Category category);

}  // namespace tessera::program
