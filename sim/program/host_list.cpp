#include "sim/program/host_list.h"

#include <cstring>

#include "sim/base/errors.h"

namespace tessera::program {

Carrier carrier_of(std::span<const std::byte> sram, Address list) {
  const std::uint64_t at = list.count() + offsetof(OuterHeader, participants);
  std::uint32_t participants = 0;
  if (at + sizeof participants > sram.size()) return Carrier::fabric;
  std::memcpy(&participants, sram.data() + at, sizeof participants);
  if (participants == 0) return Carrier::memory;
  return participants >= kToHost ? Carrier::host : Carrier::fabric;
}

HostList read_host_list(TileId tile, std::span<const std::byte> sram, Address list) {
  const std::uint64_t at = list.count();
  const auto fail = [&](std::string_view problem) {
    throw UserError(fmt::format("tile {}: list of a transfer with the host at {:#x} {}",
                                index(tile), at, problem));
  };
  const auto require = [&](std::uint64_t end) {
    if (end > sram.size())
      fail(fmt::format("does not lie within the {} bytes of SRAM", sram.size()));
  };
  if (at % alignof(OuterHeader) != 0)
    fail(fmt::format("is not aligned to {}", alignof(OuterHeader)));
  HostList read;
  require(at + sizeof read.header);
  std::memcpy(&read.header, sram.data() + at, sizeof read.header);
  require(at + host_list_bytes(read.header.entries));
  read.entries.resize(read.header.entries);
  std::memcpy(read.entries.data(), sram.data() + at + sizeof read.header,
              read.entries.size() * sizeof(HostEntry));
  for (const HostEntry& entry : read.entries)
    if (std::uint64_t{entry.address} + entry.bytes > sram.size())
      fail(fmt::format("names {} bytes at {:#x}, which do not lie within the {} bytes of SRAM",
                       entry.bytes, entry.address, sram.size()));
  return read;
}

}  // namespace tessera::program
