#include "models/fabric/list_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "models/fabric/descriptor.h"
#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

/// State of one list being written: descriptors come in order of their starts.
struct Cursor {
  Header header{};
  std::byte* send = nullptr;
  std::byte* receive = nullptr;
  std::uint64_t last = ~std::uint64_t{0};  ///< start of the tile's previous send
  std::uint32_t beside = 0;                ///< earlier sends of the same start
};

template <class T>
void put(std::byte*& at, const T& descriptor) {
  std::memcpy(at, &descriptor, sizeof descriptor);
  at += sizeof descriptor;
}

class ListWriter {
 public:
  ListWriter(const Traffic& traffic, const Schedule& schedule)
      : traffic_(traffic), schedule_(schedule), cursors_(traffic.tiles) {}

  std::vector<program::ExchangeUsage::List> sizes() {
    count();
    std::vector<program::ExchangeUsage::List> sizes;
    for (std::uint32_t tile = 0; tile < cursors_.size(); ++tile) {
      const Header& header = cursors_[tile].header;
      if (header.sends + header.receives > 0) sizes.push_back({TileId(tile), list_bytes(header)});
    }
    return sizes;
  }

  std::vector<program::DescriptorList> write(std::uint32_t exchange) {
    std::vector<program::DescriptorList> lists = allocate(exchange);
    for_each(
        [&](std::uint32_t tile, const SendDescriptor& send) { put(cursors_[tile].send, send); },
        [&](std::uint32_t tile, const ReceiveDescriptor& receive) {
          put(cursors_[tile].receive, receive);
        });
    return lists;
  }

 private:
  /// Counts descriptors. Every sink of a stream receives it once, from one of its sends.
  void count() {
    std::uint64_t last = 0;
    for (const Send& send : schedule_.sends) {
      last = std::max(last, send.start);
      ++cursors_[traffic_.streams[send.stream].source].header.sends;
    }
    if (last > std::numeric_limits<std::uint32_t>::max())
      throw UserError("exchange: takes more than 2^32 cycles");
    for (const Stream& stream : traffic_.streams) {
      for (std::uint32_t i = 0; i < stream.sinks; ++i) {
        const Sink sink = traffic_.sinks[stream.first_sink + i];
        for (std::uint32_t k = 0; k < (sink.shared ? 2U : 1U); ++k)
          ++cursors_[traffic_.receivers[sink.receiver + k].tile].header.receives;
      }
    }
  }

  template <class OnSend, class OnReceive>
  void for_each(const OnSend& on_send, const OnReceive& on_receive) {
    for (Cursor& cursor : cursors_) cursor.last = ~std::uint64_t{0};
    for (const Send& send : schedule_.sends) {
      const Stream& stream = traffic_.streams[send.stream];
      Cursor& source = cursors_[stream.source];
      source.beside = source.last == send.start ? source.beside + 1 : 0;
      source.last = send.start;
      const auto start = static_cast<std::uint32_t>(send.start);
      on_send(stream.source, SendDescriptor{start, stream.bytes, stream.address});
      for (std::uint32_t i = 0; i < send.receptions; ++i) {
        const Reception reception = schedule_.receptions[send.first_reception + i];
        const Sink sink = traffic_.sinks[reception.sink];
        const std::uint32_t mux =
            stream.source | source.beside << kLaneShift | (reception.port % 2 == 1 ? kPortBit : 0);
        for (std::uint32_t k = 0; k < (sink.shared ? 2U : 1U); ++k) {
          const Receiver receiver = traffic_.receivers[sink.receiver + k];
          on_receive(receiver.tile,
                     ReceiveDescriptor{start, stream.bytes, receiver.address + stream.offset, mux});
        }
      }
    }
  }

  std::vector<program::DescriptorList> allocate(std::uint32_t exchange) {
    std::vector<program::DescriptorList> lists;
    check(schedule_.sharing <= kMostSharing, "fabric: {} streams share a port", schedule_.sharing);
    for (const program::ExchangeUsage::List& list : sizes())
      lists.push_back({list.tile, std::vector<std::byte>(list.bytes)});
    for (program::DescriptorList& list : lists) {
      Cursor& cursor = cursors_[index(list.tile)];
      cursor.header.exchange = exchange;
      cursor.header.participants = static_cast<std::uint32_t>(lists.size()) & kMostParticipants;
      cursor.header.sharing_less_one = (schedule_.sharing - 1) & (kMostSharing - 1);
      cursor.send = list.bytes.data();
      put(cursor.send, cursor.header);
      cursor.receive = cursor.send + sizeof(SendDescriptor) * cursor.header.sends;
    }
    return lists;
  }

  const Traffic& traffic_;
  const Schedule& schedule_;
  std::vector<Cursor> cursors_;
};

}  // namespace

std::vector<program::DescriptorList> write_lists(std::uint32_t exchange, const Traffic& traffic,
                                                 const Schedule& schedule) {
  return ListWriter(traffic, schedule).write(exchange);
}

std::vector<program::ExchangeUsage::List> list_sizes(const Traffic& traffic,
                                                     const Schedule& schedule) {
  return ListWriter(traffic, schedule).sizes();
}

}  // namespace tessera::fabric
