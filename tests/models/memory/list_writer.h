#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "sim/program/transfer_list.h"

namespace tessera::sample {

/// Writes a transfer list to address `at` of a tile's SRAM.
inline void put_list(std::span<std::byte> sram, std::uint32_t at,
                     const program::TransferHeader& header,
                     const std::vector<program::OuterEntry>& entries) {
  program::TransferHeader written = header;
  written.entries = static_cast<std::uint32_t>(entries.size());
  std::memcpy(sram.data() + at, &written, sizeof written);
  if (!entries.empty())
    std::memcpy(sram.data() + at + sizeof written, entries.data(),
                entries.size() * sizeof entries[0]);
}

inline program::OuterEntry entry(std::uint64_t address, std::uint32_t local, std::uint32_t bytes,
                                 bool outward = false) {
  program::OuterEntry entry{};
  entry.address = address;
  entry.local = local;
  entry.row_bytes = bytes;
  entry.outward = outward ? 1 : 0;
  return entry;
}

}  // namespace tessera::sample
