#include "sim/program/transfer_list.h"

#include <cstring>

#include "sim/base/errors.h"

namespace tessera::program {
namespace {

template <class Value>
Value load(const std::byte* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The header at `at`; calls `fail` if it, or its entries of `entry_bytes` each, do not lie within
/// `sram`.
template <class Fail>
TransferHeader header_at(std::span<const std::byte> sram, std::uint64_t at, std::size_t entry_bytes,
                         const Fail& fail) {
  constexpr std::uint32_t kMultiple = 8;
  if (at % kMultiple != 0) fail(fmt::format("is not aligned to {}", kMultiple));
  if (at + sizeof(TransferHeader) > sram.size())
    fail(fmt::format("does not lie within the {} bytes of SRAM", sram.size()));
  const auto header = load<TransferHeader>(sram.data() + at);
  if (at + sizeof header + std::uint64_t{header.entries} * entry_bytes > sram.size())
    fail(fmt::format("has {} entries and does not lie within the {} bytes of SRAM", header.entries,
                     sram.size()));
  return header;
}

}  // namespace

Carrier carrier_of(std::span<const std::byte> sram, Address list) {
  const std::uint64_t at = list.count() + offsetof(TransferHeader, participants);
  if (at + sizeof(std::uint32_t) > sram.size()) return Carrier::fabric;
  const auto participants = load<std::uint32_t>(sram.data() + at);
  if (participants == kWithMemory) return Carrier::memory;
  return participants == kToHost || participants == kFromHost ? Carrier::host : Carrier::fabric;
}

OuterListView::OuterListView(TileId tile, std::span<const std::byte> sram, Address list) {
  const std::uint64_t at = list.count();
  const auto fail = [&](std::string_view problem) {
    throw UserError("tile {}: list of a transfer with external memory at {:#x} {}", index(tile), at,
                    problem);
  };
  header_ = header_at(sram, at, sizeof(OuterEntry), fail);
  if (header_.turns.radices[0] == 0 || header_.turns.radices[1] == 0) fail("counts turns by 0");
  entries_ = sram.data() + at + sizeof(TransferHeader);
  for (std::uint32_t i = 0; i < header_.entries; ++i) {
    const OuterEntry each = entry(i);
    if (each.local + std::uint64_t{each.rows} * each.row_bytes > sram.size())
      fail(
          fmt::format("entry {}: {} rows of {} bytes at {:#x} do not lie within the {} bytes of "
                      "SRAM",
                      i, each.rows, each.row_bytes, each.local, sram.size()));
  }
}

OuterEntry OuterListView::entry(std::uint32_t number) const {
  return load<OuterEntry>(entries_ + sizeof(OuterEntry) * std::size_t{number});
}

StreamList read_stream_list(TileId tile, std::span<const std::byte> sram, Address list) {
  const std::uint64_t at = list.count();
  const auto fail = [&](std::string_view problem) {
    throw UserError("tile {}: list of an exchange of streams at {:#x} {}", index(tile), at,
                    problem);
  };
  StreamList read{header_at(sram, at, sizeof(StreamEntry), fail), {}};
  if (read.header.turns.radices[0] == 0 || read.header.turns.radices[1] == 0)
    fail("counts turns by 0");
  read.entries.resize(read.header.entries);
  if (!read.entries.empty())
    std::memcpy(read.entries.data(), sram.data() + at + sizeof read.header,
                sizeof(StreamEntry) * read.entries.size());
  return read;
}

HostList read_host_list(TileId tile, std::span<const std::byte> sram, Address list) {
  const std::uint64_t at = list.count();
  const auto fail = [&](std::string_view problem) {
    throw UserError("tile {}: list of a transfer with the host at {:#x} {}", index(tile), at,
                    problem);
  };
  HostList read{header_at(sram, at, sizeof(HostEntry), fail), {}};
  for (std::uint32_t i = 0; i < read.header.entries; ++i) {
    const auto entry =
        load<HostEntry>(sram.data() + at + sizeof read.header + sizeof(HostEntry) * std::size_t{i});
    if (std::uint64_t{entry.address} + entry.bytes > sram.size())
      fail(fmt::format("entry {}: {} bytes at {:#x} do not lie within the {} bytes of SRAM", i,
                       entry.bytes, entry.address, sram.size()));
    read.entries.push_back(entry);
  }
  return read;
}

}  // namespace tessera::program
