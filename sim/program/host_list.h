#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/program/outer_list.h"

/// The list that a tile gives to `exch` for a transfer with the host, byte for byte as it stands in
/// SRAM: an OuterHeader whose `participants` is kFromHost or kToHost, then HostEntry by HostEntry.
/// The host's bytes for the tile, or from it, are those of its entries one behind the other.
namespace tessera::program {

constexpr std::uint32_t kFromHost = UINT32_MAX, kToHost = UINT32_MAX - 1;

struct HostEntry {
  std::uint32_t address;
  std::uint32_t bytes;
};

constexpr std::uint64_t host_list_bytes(std::uint64_t entries) {
  return sizeof(OuterHeader) + sizeof(HostEntry) * entries;
}

/// Who carries out the list at an address.
enum class Carrier : std::uint8_t { fabric, memory, host };
/// Carrier::fabric if no header lies within `sram`.
Carrier carrier_of(std::span<const std::byte> sram, Address list);

struct HostList {
  OuterHeader header;
  std::vector<HostEntry> entries;

  [[nodiscard]] bool outward() const { return header.participants == kToHost; }
};
/// Throws UserError naming `tile` if the list, or what it names of the SRAM, does not lie within
/// `sram`, or if it is misaligned.
HostList read_host_list(TileId tile, std::span<const std::byte> sram, Address list);

}  // namespace tessera::program
