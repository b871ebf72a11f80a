#include "models/memory/external_memory.h"

#include "sim/base/errors.h"

namespace tessera {
namespace {

using fabric::Moved;
using fabric::Participant;
using program::OuterEntry;
using program::OuterListView;
using program::OuterTurn;

__extension__ using Wide = unsigned __int128;

/// External addresses of an entry's rows in one turn: the first byte and one past the last.
struct Range {
  Wide begin, end;
};

Range range_of(const OuterEntry& entry, const OuterTurn& turn) {
  Wide begin = entry.address;
  for (std::size_t i = 0; i < std::size(entry.steps); ++i)
    begin += Wide{turn.digits[i]} * entry.steps[i];
  return {begin, begin + Wide{entry.rows - 1} * entry.pitch + entry.row_bytes};
}

/// The entries that move bytes in this turn, with this turn's addresses.
std::vector<OuterEntry> entries_of(const Participant& side, const OuterListView& list,
                                   const OuterTurn& turn, std::uint64_t capacity) {
  const auto fail = [&](std::uint32_t number, const std::string& problem) {
    throw UserError("tile {}: list of a transfer with external memory at {:#x}: entry {}: {}",
                    index(side.tile), side.list.count(), number, problem);
  };
  const std::uint64_t list_end =
      side.list.count() + program::outer_list_bytes(list.header().entries);
  std::vector<OuterEntry> entries;
  entries.reserve(list.header().entries);
  for (std::uint32_t i = 0; i < list.header().entries; ++i) {
    OuterEntry entry = list.entry(i);
    if (entry.rows == 0 || entry.row_bytes == 0) continue;
    const Range range = range_of(entry, turn);
    if (range.end > capacity)
      fail(
          i,
          fmt::format(
              "{} rows of {} bytes, {} apart, at {:#x} outside (digits of the turn: {}) do not lie "
              "within the memory's {} bytes",
              entry.rows, entry.row_bytes, entry.pitch, static_cast<std::uint64_t>(range.begin),
              fmt::join(turn.digits, ", "), capacity));
    const std::uint64_t local_end = entry.local + std::uint64_t{entry.rows} * entry.row_bytes;
    if (entry.outward == 0 && entry.local < list_end && side.list.count() < local_end)
      fail(i, "overwrites the list");
    entry.address = static_cast<std::uint64_t>(range.begin);
    entries.push_back(entry);
  }
  return entries;
}

std::uint64_t key_of(fabric::Token side) {
  constexpr unsigned kListBits = 32;
  return std::uint64_t{index(side.tile)} << kListBits | side.list.count();
}

}  // namespace

ExternalMemory::ExternalMemory(const MachineConfig& machine, std::uint32_t tiles,
                               OuterTarget* target)
    : config_(machine.external),
      store_(target == nullptr ? std::make_optional<OuterStore>(config_, tiles) : std::nullopt),
      traffic_(machine, tiles, store_ ? &*store_ : nullptr, target) {
  check(config_.has_channels() == (target == nullptr), "memory: it has channels or a target");
}

fabric::Token ExternalMemory::submit(const Participant& side) {
  const OuterListView list(side.tile, side.sram, side.list);
  const fabric::Token token{side.tile, side.list};
  const OuterTurn turn = turn_of(list.header().turns, starts_[key_of(token)]++);
  std::vector<OuterEntry> entries;
  if (turn.moves) entries = entries_of(side, list, turn, config_.bytes());
  traffic_.start(
      {side.tile, side.start, side.list, std::move(entries), side.sram, list.header().exchange});
  return token;
}

std::vector<Moved> ExternalMemory::advance(Cycle to, HostThreads& /*threads*/) {
  std::vector<Moved> all;
  for (OuterTraffic::Ended& ended : traffic_.advance(to)) {
    const OuterTraffic::Transfer& transfer = ended.transfer;
    Moved moved{transfer.exchange,       transfer.start, ended.begin, {}, {}, {}, {},
                program::Carrier::memory};
    moved.participants = {{transfer.tile, transfer.start, transfer.sram, transfer.list}};
    moved.tiles = {{ended.done, ended.written, ended.read, 0}};
    moved.delivered = ended.read + ended.written;
    read_ += ended.read;
    written_ += ended.written;
    all.push_back(std::move(moved));
  }
  return all;
}

void ExternalMemory::answer(std::uint32_t request, Cycle cycle, std::string_view error) {
  if (error.empty()) return traffic_.answer(request, cycle);
  throw UserError(
      "tile {}: the platform's memory answers the {} of {} bytes at {:#x} outside by {}",
      index(traffic_.tile_of(request)), traffic_.piece_of(request).outward ? "write" : "read",
      traffic_.piece_of(request).bytes, traffic_.piece_of(request).address, error);
}

std::string ExternalMemory::missing(fabric::Token side) const {
  const auto [done, all] = traffic_.progress(side.tile, side.list);
  if (all == 0) return {};
  return fmt::format("a transfer with external memory, of which {} of {} requests are done", done,
                     all);
}

std::vector<trace::Transfer> ExternalMemory::transfers(const Moved& moved) const {
  if (moved.delivered == Bytes(0)) return {};
  const TileId tile = moved.participants.front().tile;
  return {{tile, tile, moved.begin, moved.tiles.front().done, moved.delivered}};
}

DramChannel::Statistics ExternalMemory::totals() const {
  DramChannel::Statistics sum;
  for (const DramChannel& channel : traffic_.channels()) sum += channel.statistics();
  return sum;
}

}  // namespace tessera
