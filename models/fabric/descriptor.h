#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "sim/base/types.h"
#include "sim/program/exchange_compiler.h"

/// The descriptor list that a tile gives to `exch`, byte for byte as it lies in SRAM: a Header,
/// `sends` SendDescriptors by start cycle, `receives` ReceiveDescriptors by start cycle. Words are
/// little-endian; a list is aligned to 4. A receive fragment costs 16 bytes here; the vendor's
/// tools count three control instructions of 4 bytes and more (machines.md 1.4).
namespace tessera::fabric {

struct Header {
  std::uint32_t exchange;           ///< number of the exchange within its program
  std::uint32_t participants : 22;  ///< tiles that hold a list of this exchange
  /// Ports::sharing - 1; with the fabric's rates it gives the streams' rate.
  std::uint32_t sharing_less_one : 10 = 0;
  std::uint32_t sends;
  std::uint32_t receives;
};

struct SendDescriptor {
  std::uint32_t start;    ///< cycles after the exchange begins; on `ideal` the number of the send
  std::uint32_t length;   ///< bytes
  std::uint32_t address;  ///< of the first byte
};

struct ReceiveDescriptor {
  std::uint32_t start;  ///< start of the send that it receives
  std::uint32_t length;
  std::uint32_t address;
  /// Low bits: source tile. Above: lane, the number among its sends of that start (several if it
  /// sends faster than others receive). Top bit: the pair's input port that is used.
  std::uint32_t mux;
};

constexpr std::uint32_t kPortBit = 0x8000'0000;
constexpr std::uint32_t kLaneShift = 20;
constexpr std::uint32_t kSourceMask = (1U << kLaneShift) - 1;
constexpr std::uint32_t source_of(const ReceiveDescriptor& receive) {
  return receive.mux & kSourceMask;
}
constexpr std::uint32_t lane_of(const ReceiveDescriptor& receive) {
  return (receive.mux & ~kPortBit) >> kLaneShift;
}

static_assert(sizeof(Header) == program::kListHeaderBytes && std::is_trivially_copyable_v<Header>);
static_assert(sizeof(SendDescriptor) == program::kSendBytes &&
              std::is_trivially_copyable_v<SendDescriptor>);
static_assert(sizeof(ReceiveDescriptor) == program::kReceiveBytes &&
              std::is_trivially_copyable_v<ReceiveDescriptor>);

constexpr std::uint32_t kMostParticipants = (1U << 22) - 1;
constexpr std::uint32_t kMostSharing = 1U << 10;
constexpr std::uint32_t sharing_of(const Header& header) { return header.sharing_less_one + 1; }

constexpr std::uint64_t list_bytes(const Header& header) {
  return sizeof(Header) + sizeof(SendDescriptor) * std::uint64_t{header.sends} +
         sizeof(ReceiveDescriptor) * std::uint64_t{header.receives};
}

/// A checked view of one list.
class ListView {
 public:
  /// Throws UserError naming `tile` if the list is misaligned or does not lie within `sram`.
  ListView(TileId tile, std::span<const std::byte> sram, Address list);

  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] std::uint64_t bytes() const { return list_bytes(header_); }
  [[nodiscard]] SendDescriptor send(std::uint32_t number) const;
  [[nodiscard]] ReceiveDescriptor receive(std::uint32_t number) const;

 private:
  Header header_;
  const std::byte* begin_;
};

}  // namespace tessera::fabric
