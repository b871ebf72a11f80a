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
  /// Which step each stretch of supervisor code belongs to: {first address, index in Images::steps
  /// or kNoStep}, ascending. A step begins at its `sync`, or at its first instruction if it has
  /// none. The machine finds by it what a tile is doing, which supersteps are measured, and tiles
  /// that branched apart. The supervisor ends its tile by `xctl 0`.
  std::vector<std::pair<Address, std::uint32_t>> steps;
  bool idle = false;      ///< true of nodes that the program does not name: they end at once
  Address arguments;      ///< where argument blocks begin, behind the table of descriptor lists
  Address worker_stacks;  ///< worker w starts with sp = this + (w + 1) * worker_stack_bytes

  /// The step that a pc in the control code belongs to, or kNoStep.
  [[nodiscard]] std::uint32_t step_of(std::uint32_t pc) const;
  /// The last symbol at or before pc, for messages.
  [[nodiscard]] const std::string& symbol_of(std::uint32_t pc) const;
};

/// The start of the next buffer in memory outside, behind one at `begin` of `bytes` bytes.
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
  CategoryBytes memory{};             ///< peak bytes by category; sums to what the tile needs
};

/// One superstep of the program as compiled: what steps.csv shows beside the measured times.
struct StepInfo {
  std::string name;
  std::string kind;  ///< compute | exchange | start | wait | host_read | host_write
  Cycle exchange_makespan;
  Cycle exchange_bound;
  bool measured = true;
  std::uint64_t live_bytes = 0;  ///< live buffers on the tile where they are most
  bool waits_for_host = false;
  PortBytes exchange_ports = {};
  std::shared_ptr<const ExchangeEnds> exchange_ends = {};  ///< null: not known
};

/// A transfer with the host, of the exchange of that number.
struct HostStream {
  std::uint32_t exchange;
  std::string name;
  HostTransfer transfer;
  std::vector<TileId> tiles = {};  ///< by piece
};

struct Images {
  std::vector<TileImage> tiles;                   ///< one for every node of the machine
  std::vector<Address> buffer_address;            ///< by BufferId
  std::vector<std::uint64_t> outer_address = {};  ///< by OuterId, in memory outside
  std::uint64_t outer_bytes = 0;  ///< size of the buffers outside: on the chip, or of a tile
  std::vector<StepInfo> steps;    ///< in program order, zone by zone
  std::vector<std::uint32_t> exchange_step;  ///< by index in Flow::exchanges: a step that starts it
  std::vector<std::uint32_t> zone_of = {};   ///< by tile; empty: all are of zone 0
  std::vector<HostStream> host_streams = {};
  bool shortest_lists = false;  ///< in exchanges, as it does not fit with those that take least
};

/// `machine` with the worker contexts that `program` starts on its compute tiles, for all that
/// depends on their number.
MachineConfig started_by(const Program& program, MachineConfig machine);

/// Places and compiles `program`, which names the compute tiles and any number of the nodes behind
/// them; the others end at once. Exchanges take the least time, or the shortest lists if it does
/// not fit otherwise. Throws UserError with the memory table if a tile's SRAM is too small, and for
/// a vertex that needs workers on a node that has none.
Images compile(const Program& program, const MachineConfig& machine,
               const ExchangeCompiler& exchanges);

/// The memory section of a report.
struct MemorySummary {
  TileId max_tile{};       ///< the first tile of those that need most
  CategoryBytes on_max{};  ///< its need by category
  std::uint64_t max_bytes = 0;
  std::uint64_t total_bytes = 0;
};
MemorySummary summarise_memory(const Images& images);
/// Memory use of each tile or node.
std::vector<CategoryBytes> bytes_by_tile(const Images& images);
/// The tile, or node, that fills the largest share of its memory; the first of equal ones.
TileId fullest_tile(const Images& images, const MachineConfig& machine);

/// The results of compilation that planners use.
struct Needs {
  std::vector<StepInfo> steps;  ///< in program order
  MemorySummary memory;
  bool shortest_lists = false;
};
/// As compile, without the images. Reads only the parts of `machine` that `compiled_for` keeps.
Needs needs(const Program& program, const MachineConfig& machine, const ExchangeSizer& exchanges);
/// Hears what each exchange needs, in the order in which a program first comes to them, while lists
/// take the least time. False: enough is known.
using Watch = std::function<bool(const ExchangeNeeds& needs)>;
/// As needs() above; nothing if `watch` stops it.
std::optional<Needs> needs(const Program& program, const MachineConfig& machine,
                           const ExchangeSizer& exchanges, const Watch& watch);
/// `machine` with defaults for all values that do not change how programs are compiled.
MachineConfig compiled_for(const MachineConfig& machine);

/// The need of the fullest tiles by category, one row a tile, and what is over their SRAM.
std::string memory_table(const Images& images, const MachineConfig& machine);

/// Why tiles do not fit, `what` first: the fullest, the bytes over, the table as above. `needs`
/// begins at tile 0; a planner that knows the fullest tiles only gives those.
std::string overflow_message(std::string_view what, std::span<const CategoryBytes> needs,
                             const MachineConfig& machine);

/// The bytes of all categories together.
std::uint64_t total(const CategoryBytes& bytes);
/// Bytes beyond what the tile holds: of all, or of what a memory of code takes and what SRAM does.
std::uint64_t over(const CategoryBytes& bytes, const TileConfig& tile);
/// All bytes; where code has a memory of its own, so many bytes of SRAM as are as large a share of
/// it as the fuller of the two memories has.
std::uint64_t as_sram(const CategoryBytes& bytes, const TileConfig& tile);

/// The name of a category as in report.json.
std::string_view category_name(Category category);

}  // namespace tessera::program
