#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "sim/base/types.h"

/// The list that a tile gives to `exch` for a transfer between its SRAM and memory outside, byte
/// for byte as it stands in SRAM: an OuterHeader, then OuterEntry by OuterEntry. Words are
/// little-endian; a list is aligned to 8.
namespace tessera::program {

/// A tile may start one list again and again, as a loop does: start `s` of a run is turn
/// first + every * (s - skipped). The first `skipped` starts, and turns from `turns` on, move
/// nothing and are done at once; every `period` starts (0: never) it begins anew. A turn is a
/// number of three digits: turn % counts[0], turn / counts[0] % counts[1], and the rest; each digit
/// moves an entry's address by its step.
struct OuterHeader {
  std::uint32_t exchange;          ///< number of the exchange within its program
  std::uint32_t participants = 0;  ///< none: this tells it from the lists of a fabric
  std::uint32_t entries;
  std::uint32_t turns = 1;
  std::uint32_t first = 0;
  std::uint32_t every = 1;
  std::uint32_t skipped = 0;
  std::uint32_t counts[2] = {1, 1};
  std::uint32_t period = 0;
};

/// `rows` rows of `row_bytes`, one behind the other in SRAM, `pitch` bytes apart in memory outside.
struct OuterEntry {
  std::uint64_t address;  ///< outside, of turn 0
  std::uint64_t steps[3] = {0, 0, 0};
  std::uint64_t pitch = 0;
  std::uint32_t local;  ///< in SRAM
  std::uint32_t row_bytes;
  std::uint32_t rows = 1;
  std::uint32_t outward = 0;  ///< 1: from SRAM to memory outside; 0: from there
};

static_assert(sizeof(OuterHeader) == 40 && std::is_trivially_copyable_v<OuterHeader>);
static_assert(sizeof(OuterEntry) == 56 && std::is_trivially_copyable_v<OuterEntry>);

constexpr std::uint64_t outer_list_bytes(std::uint64_t entries) {
  return sizeof(OuterHeader) + sizeof(OuterEntry) * entries;
}
/// What start number `start` of a list does: whether it moves something, and in which turn.
struct OuterTurn {
  bool moves;
  std::uint64_t digits[3];
};
constexpr std::optional<std::uint64_t> turn_number(const OuterHeader& header, std::uint64_t start) {
  if (header.period > 0) start %= header.period;
  if (start < header.skipped) return {};
  const std::uint64_t turn = header.first + std::uint64_t{header.every} * (start - header.skipped);
  return turn < header.turns ? std::optional(turn) : std::nullopt;
}
constexpr OuterTurn turn_of(const OuterHeader& header, std::uint64_t start) {
  const std::optional<std::uint64_t> turn = turn_number(header, start);
  if (!turn) return {false, {}};
  return {true,
          {*turn % header.counts[0], *turn / header.counts[0] % header.counts[1],
           *turn / header.counts[0] / header.counts[1]}};
}
constexpr std::uint64_t address_of(const OuterEntry& entry, const OuterTurn& turn) {
  return entry.address + turn.digits[0] * entry.steps[0] + turn.digits[1] * entry.steps[1] +
         turn.digits[2] * entry.steps[2];
}

/// A checked view of one list.
class OuterListView {
 public:
  /// Throws UserError naming `tile` if the list, or what it names of the SRAM, does not lie within
  /// `sram`, if it is misaligned, or if a count is 0.
  OuterListView(TileId tile, std::span<const std::byte> sram, Address list);

  [[nodiscard]] const OuterHeader& header() const { return header_; }
  [[nodiscard]] OuterEntry entry(std::uint32_t number) const;

 private:
  OuterHeader header_;
  const std::byte* entries_;
};

}  // namespace tessera::program
