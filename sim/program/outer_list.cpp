#include "sim/program/outer_list.h"

#include <cstring>

#include "sim/base/errors.h"

namespace tessera::program {
namespace {

constexpr std::uint32_t kAlign = 8;

template <class Value>
Value load(const std::byte* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

OuterListView::OuterListView(TileId tile, std::span<const std::byte> sram, Address list) {
  const std::uint64_t at = list.count();
  const auto fail = [&](std::string_view problem) {
    throw UserError(fmt::format("tile {}: list of a transfer with memory outside at {:#x} {}",
                                index(tile), at, problem));
  };
  if (at % kAlign != 0) fail(fmt::format("is not aligned to {}", kAlign));
  if (at + sizeof(OuterHeader) > sram.size())
    fail(fmt::format("does not lie within the {} bytes of SRAM", sram.size()));
  header_ = load<OuterHeader>(sram.data() + at);
  if (at + outer_list_bytes(header_.entries) > sram.size())
    fail(fmt::format("has {} entries and does not lie within the {} bytes of SRAM", header_.entries,
                     sram.size()));
  if (header_.counts[0] == 0 || header_.counts[1] == 0) fail("counts turns by 0");
  entries_ = sram.data() + at + sizeof(OuterHeader);
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

}  // namespace tessera::program
