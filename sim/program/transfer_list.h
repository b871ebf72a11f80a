#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "sim/base/types.h"

/// The lists that a tile gives to `exch` for transfers outside the fabric, and for streams, byte
/// for byte as in SRAM: a TransferHeader, then entries (OuterEntry: external memory, HostEntry:
/// host, StreamEntry: streams). Words are little-endian; a list is aligned to 8.
namespace tessera::program {

/// The turn that each start of a transfer moves, if a loop starts it repeatedly: start s of a run
/// is turn first + every * (s - skipped). The first `skipped` starts, and turns from `count` on,
/// move nothing and are done at once. After `period` starts the sequence begins again; 0: never. A
/// turn is a number of three digits: turn % radices[0], turn / radices[0] % radices[1], and the
/// rest; each digit moves an OuterEntry's address by its step.
struct Turns {
  std::uint32_t count = 1;
  std::uint32_t first = 0;
  std::uint32_t every = 1;
  std::uint32_t skipped = 0;
  std::uint32_t radices[2] = {1, 1};
  std::uint32_t period = 0;
};

/// Special values of TransferHeader::participants; fabric and stream lists hold counts between
/// them.
constexpr std::uint32_t kWithMemory = 0, kToHost = UINT32_MAX - 1, kFromHost = UINT32_MAX;

struct TransferHeader {
  std::uint32_t exchange;  ///< number of the exchange within its program
  std::uint32_t participants = kWithMemory;
  std::uint32_t entries;
  Turns turns;
};

/// `rows` rows of `row_bytes`, contiguous in SRAM, `pitch` bytes apart in external memory.
struct OuterEntry {
  std::uint64_t address;  ///< in external memory, of turn 0
  std::uint64_t steps[3] = {0, 0, 0};
  std::uint64_t pitch = 0;
  std::uint32_t local;  ///< in SRAM
  std::uint32_t row_bytes;
  std::uint32_t rows = 1;
  std::uint32_t outward = 0;  ///< 1: from SRAM to external memory; 0: into SRAM
};

/// A range in SRAM; the host's bytes for or from a tile are its entries' ranges concatenated.
struct HostEntry {
  std::uint32_t address;  ///< in SRAM
  std::uint32_t bytes;
};

/// `count` units along one extent of a walk, `pitch` bytes apart, and the numbers of zero units
/// that the sending DMA adds before and after them.
struct StreamExtent {
  std::uint32_t count = 1;
  std::uint32_t pitch = 0;
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  bool operator==(const StreamExtent&) const = default;
};
constexpr std::size_t kStreamExtents = 4;

/// A tile's end of a stream (program.h, Walk and Stream).
struct StreamEntry {
  std::uint32_t address;  ///< address of the first unit, in turn 0
  std::uint32_t steps[3];
  std::uint32_t unit;  ///< bytes
  StreamExtent extents[kStreamExtents];
  std::uint32_t kind;     ///< index in the machine's fabric.streams
  std::uint32_t number;   ///< index of the stream in its exchange
  std::uint32_t outward;  ///< 1: the tile sends; 0: it receives
};

static_assert(sizeof(StreamEntry) == 96 && std::is_trivially_copyable_v<StreamEntry>);
static_assert(sizeof(TransferHeader) == 40 && std::is_trivially_copyable_v<TransferHeader>);
static_assert(sizeof(OuterEntry) == 56 && std::is_trivially_copyable_v<OuterEntry>);

constexpr std::uint64_t outer_list_bytes(std::uint64_t entries) {
  return sizeof(TransferHeader) + sizeof(OuterEntry) * entries;
}

/// The turn of start number `start`; nothing if it moves nothing.
constexpr std::optional<std::uint64_t> turn_number(const Turns& turns, std::uint64_t start) {
  if (turns.period > 0) start %= turns.period;
  if (start < turns.skipped) return {};
  const std::uint64_t turn = turns.first + std::uint64_t{turns.every} * (start - turns.skipped);
  return turn < turns.count ? std::optional(turn) : std::nullopt;
}
/// The digits of a start's turn; `moves` is false if the start moves nothing.
struct OuterTurn {
  bool moves;
  std::uint64_t digits[3];
};
constexpr OuterTurn turn_of(const Turns& turns, std::uint64_t start) {
  const std::optional<std::uint64_t> turn = turn_number(turns, start);
  if (!turn) return {false, {}};
  return {true,
          {*turn % turns.radices[0], *turn / turns.radices[0] % turns.radices[1],
           *turn / turns.radices[0] / turns.radices[1]}};
}
constexpr std::uint64_t address_of(const OuterEntry& entry, const OuterTurn& turn) {
  return entry.address + turn.digits[0] * entry.steps[0] + turn.digits[1] * entry.steps[1] +
         turn.digits[2] * entry.steps[2];
}

/// The carrier that executes a list.
enum class Carrier : std::uint8_t { fabric, memory, host };
/// The carrier of the list at `list`; Carrier::fabric if no header fits within `sram`.
Carrier carrier_of(std::span<const std::byte> sram, Address list);

/// A checked view of an external-memory transfer's list.
class OuterListView {
 public:
  /// Throws UserError naming `tile` if the list or an SRAM range it names does not lie within
  /// `sram`, if it is misaligned, or if a count is 0.
  OuterListView(TileId tile, std::span<const std::byte> sram, Address list);

  [[nodiscard]] const TransferHeader& header() const { return header_; }
  [[nodiscard]] OuterEntry entry(std::uint32_t number) const;

 private:
  TransferHeader header_;
  const std::byte* entries_;
};

/// The list of a host transfer.
struct HostList {
  TransferHeader header;
  std::vector<HostEntry> entries;

  [[nodiscard]] bool outward() const { return header.participants == kToHost; }
};
/// A tile's list of an exchange of streams.
struct StreamList {
  TransferHeader header;
  std::vector<StreamEntry> entries;
};
/// Throws UserError naming `tile` if the list does not lie within `sram` or is misaligned.
StreamList read_stream_list(TileId tile, std::span<const std::byte> sram, Address list);
/// Address of the first unit in that turn.
constexpr std::uint64_t address_of(const StreamEntry& entry, const OuterTurn& turn) {
  return entry.address + turn.digits[0] * entry.steps[0] + turn.digits[1] * entry.steps[1] +
         turn.digits[2] * entry.steps[2];
}
/// Bytes of the walk, zeros included.
constexpr std::uint64_t stream_bytes(std::uint32_t unit,
                                     std::span<const StreamExtent, kStreamExtents> extents) {
  std::uint64_t bytes = unit;
  for (const StreamExtent& extent : extents)
    bytes *= std::uint64_t{extent.before} + extent.count + extent.after;
  return bytes;
}
/// Bytes from the start of the first unit to the end of the last one.
constexpr std::uint64_t stream_reach(std::uint32_t unit,
                                     std::span<const StreamExtent, kStreamExtents> extents) {
  std::uint64_t reach = unit;
  for (const StreamExtent& extent : extents)
    if (extent.count > 0) reach += std::uint64_t{extent.count - 1} * extent.pitch;
  return reach;
}
constexpr bool reads_nothing(std::span<const StreamExtent, kStreamExtents> extents) {
  for (const StreamExtent& extent : extents)
    if (extent.count == 0) return true;
  return false;
}

/// Calls, in the walk's order, `unit(address)` for every unit of a walk that begins at `at` and
/// `zero()` for every padding unit.
template <class Unit, class Zero>
void walk_units(std::span<const StreamExtent> extents, std::uint64_t at, const Unit& unit,
                const Zero& zero, bool outside = false) {
  if (extents.empty()) return outside ? zero() : unit(at);
  const StreamExtent& extent = extents.front();
  const std::uint64_t end = std::uint64_t{extent.before} + extent.count;
  for (std::uint64_t i = 0; i < end + extent.after; ++i) {
    const bool real = i >= extent.before && i < end;
    walk_units(extents.subspan(1), real ? at + (i - extent.before) * extent.pitch : at, unit, zero,
               outside || !real);
  }
}

/// Throws UserError naming `tile` if the list or an SRAM range it names does not lie within `sram`,
/// or if it is misaligned.
HostList read_host_list(TileId tile, std::span<const std::byte> sram, Address list);

}  // namespace tessera::program
