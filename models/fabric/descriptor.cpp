#include "models/fabric/descriptor.h"

#include <cstring>

#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

ListView::ListView(TileId tile, std::span<const std::byte> sram, Address list) {
  const std::uint64_t at = list.count();
  if (at % 4 != 0 || at + sizeof(Header) > sram.size()) {
    throw UserError(
        "fabric: tile {}: descriptor list at {:#x} is misaligned or outside the {} "
        "bytes of SRAM",
        index(tile), at, sram.size());
  }
  begin_ = sram.data() + at;
  header_ = load<Header>(begin_);
  if (at + list_bytes(header_) > sram.size()) {
    throw UserError(
        "fabric: tile {}: descriptor list at {:#x} with {} sends and {} receives runs "
        "past the {} bytes of SRAM",
        index(tile), at, header_.sends, header_.receives, sram.size());
  }
}

SendDescriptor ListView::send(std::uint32_t number) const {
  return load<SendDescriptor>(begin_ + sizeof(Header) + sizeof(SendDescriptor) * number);
}

ReceiveDescriptor ListView::receive(std::uint32_t number) const {
  return load<ReceiveDescriptor>(begin_ + sizeof(Header) +
                                 sizeof(SendDescriptor) * std::size_t{header_.sends} +
                                 sizeof(ReceiveDescriptor) * std::size_t{number});
}

}  // namespace tessera::fabric
