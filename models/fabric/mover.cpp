#include "models/fabric/mover.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

constexpr std::size_t kMoverGrain = 32;  ///< participants that a host thread takes at a time

template <class Descriptor>
[[noreturn]] void fault(TileId tile, const char* kind, std::uint32_t number,
                        const Descriptor& descriptor, const std::string& problem) {
  throw UserError("fabric: tile {}: {} {} (start {}, {} bytes, address {:#x}): {}", index(tile),
                  kind, number, descriptor.start, descriptor.length, descriptor.address, problem);
}

template <class Descriptor>
bool outside(const Descriptor& descriptor, std::size_t sram) {
  return std::uint64_t{descriptor.address} + descriptor.length > sram;
}

bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

const std::vector<Mover::Tally>& Mover::move(std::span<const Participant> participants,
                                             HostThreads& threads) {
  participants_ = participants;
  if (values_ || participants.empty()) {
    check_and_copy(threads);
    return tallies_;
  }
  const Participant& first = participants.front();
  const ListView list(first.tile, first.sram, first.list);
  Checked& checked = checked_[list.header().exchange];
  const auto same = [](const Participant& side, const std::pair<TileId, Address>& known) {
    return side.tile == known.first && side.list == known.second;
  };
  if (std::ranges::equal(participants, checked.lists, same)) return checked.tallies;
  check_and_copy(threads);
  checked.lists.clear();
  for (const Participant& p : participants) checked.lists.emplace_back(p.tile, p.list);
  checked.tallies = tallies_;
  return checked.tallies;
}

void Mover::check_and_copy(HostThreads& threads) {
  const std::span<const Participant> participants = participants_;
  tallies_.assign(participants.size(), {});
  lists_.clear();
  lists_.reserve(participants.size());
  for (const Participant& p : participants) lists_.emplace_back(p.tile, p.sram, p.list);
  check_headers();
  index_tiles();
  sends_.resize(first_send_.back());
  if (floorplan_.known()) reach_.assign(sends_.size(), 0);
  if (staged_.size() < participants.size()) staged_.resize(participants.size());
  const auto each = [&](auto work) {
    threads.for_ranges(participants.size(), kMoverGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) work(i);
    });
  };
  // Two passes: every source is staged or safe before the first destination is written.
  each([&](std::size_t i) {
    read_sends(i);
    stage(i, read_receives(i));
  });
  each([&](std::size_t i) { copy_receives(i); });
  if (floorplan_.known()) each([&](std::size_t i) { add_up_ways(i); });
}

void Mover::index_tiles() {
  std::uint32_t tiles = 0;
  for (const Participant& p : participants_) tiles = std::max(tiles, index(p.tile) + 1);
  number_.assign(tiles, kAbsent);
  first_send_.assign(1, 0);
  for (std::uint32_t i = 0; i < participants_.size(); ++i) {
    std::uint32_t& number = number_[index(participants_[i].tile)];
    check(number == kAbsent, "fabric: tile {} takes part twice", index(participants_[i].tile));
    number = i;
    first_send_.push_back(first_send_.back() + lists_[i].header().sends);
  }
}

void Mover::check_headers() const {
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    const Header& header = lists_[i].header();
    if (header.sharing_less_one != lists_[0].header().sharing_less_one) {
      throw UserError("fabric: tile {}: exchange {} runs at another rate than tile {}'s",
                      index(participants_[i].tile), header.exchange, index(participants_[0].tile));
    }
    if (header.participants != lists_.size()) {
      throw UserError("fabric: tile {}: exchange {} joins {} tiles, {} started it",
                      index(participants_[i].tile), header.exchange, header.participants,
                      lists_.size());
    }
  }
}

std::span<Mover::Send> Mover::sends_of(std::size_t number) {
  return {sends_.data() + first_send_[number], first_send_[number + 1] - first_send_[number]};
}

void Mover::read_sends(std::size_t number) {
  const Participant& self = participants_[number];
  const std::span<Send> sends = sends_of(number);
  for (std::uint32_t i = 0; i < sends.size(); ++i) {
    const SendDescriptor send = lists_[number].send(i);
    if (outside(send, self.sram.size())) fault(self.tile, "send", i, send, "outside SRAM");
    if (i > 0 && send.start < sends[i - 1].start) {
      fault(self.tile, "send", i, send, "starts before the one in front of it");
    }
    sends[i] = {send.start, send.length, self.sram.data() + send.address};
    tallies_[number].sent += send.length;
  }
}

Mover::Written Mover::read_receives(std::size_t number) {
  const Participant& self = participants_[number];
  const ListView& list = lists_[number];
  Written written{self.sram.size(), 0};
  for (std::uint32_t i = 0; i < list.header().receives; ++i) {
    const ReceiveDescriptor receive = list.receive(i);
    if (outside(receive, self.sram.size())) fault(self.tile, "receive", i, receive, "outside SRAM");
    if (overlap(receive.address, receive.length, self.list.count(), list.bytes())) {
      fault(self.tile, "receive", i, receive, "overwrites the tile's descriptor list");
    }
    written.low = std::min<std::uint64_t>(written.low, receive.address);
    written.high = std::max(written.high, std::uint64_t{receive.address} + receive.length);
    tallies_[number].received += receive.length;
  }
  return written;
}

/// Copies aside the sources that may be overwritten before every receiver has read them.
void Mover::stage(std::size_t number, const Written& written) {
  if (!values_ || written.low >= written.high) return;
  const std::byte* sram = participants_[number].sram.data();
  const auto is_lost = [&](const Send& send) {
    const auto address = static_cast<std::uint64_t>(send.from - sram);
    return overlap(address, send.length, written.low, written.high - written.low);
  };
  std::size_t bytes = 0;
  for (const Send& send : sends_of(number)) bytes += is_lost(send) ? send.length : 0;
  std::vector<std::byte>& staged = staged_[number];
  if (staged.size() < bytes) staged.resize(bytes);
  std::size_t at = 0;
  for (Send& send : sends_of(number)) {
    if (!is_lost(send)) continue;
    std::memcpy(staged.data() + at, send.from, send.length);
    send.from = staged.data() + at;
    at += send.length;
  }
}

const Mover::Send* Mover::find(const ReceiveDescriptor& receive) const {
  const std::uint32_t tile = source_of(receive);
  const std::uint32_t source = tile < number_.size() ? number_[tile] : kAbsent;
  if (source == kAbsent) return nullptr;
  const Send* begin = sends_.data() + first_send_[source];
  const Send* end = sends_.data() + first_send_[source + 1];
  const Send* first = std::lower_bound(
      begin, end, receive.start, [](const Send& s, std::uint32_t at) { return s.start < at; });
  const std::uint32_t lane = lane_of(receive);
  return lane < end - first && first[lane].start == receive.start ? first + lane : nullptr;
}

/// Host threads race for receivers of one send; the maximum is the same in any order.
void Mover::reach(const Send& send, std::uint32_t micrometres) {
  std::atomic_ref<std::uint32_t> farthest(reach_[static_cast<std::size_t>(&send - sends_.data())]);
  std::uint32_t known = farthest.load(std::memory_order_relaxed);
  while (known < micrometres &&
         !farthest.compare_exchange_weak(known, micrometres, std::memory_order_relaxed)) {
  }
}

void Mover::add_up_ways(std::size_t number) {
  for (std::size_t i = first_send_[number]; i < first_send_[number + 1]; ++i)
    tallies_[number].byte_micrometres += std::uint64_t{sends_[i].length} * reach_[i];
}

void Mover::copy_receives(std::size_t number) {
  const Participant& self = participants_[number];
  const ListView& list = lists_[number];
  for (std::uint32_t i = 0; i < list.header().receives; ++i) {
    const ReceiveDescriptor receive = list.receive(i);
    const Send* send = find(receive);
    if (send == nullptr || send->length != receive.length) {
      fault(self.tile, "receive", i, receive,
            send == nullptr
                ? fmt::format("tile {} sends nothing at that time", source_of(receive))
                : fmt::format("tile {} sends {} bytes then", source_of(receive), send->length));
    }
    if (values_) std::memcpy(self.sram.data() + receive.address, send->from, receive.length);
    if (floorplan_.known())
      reach(*send, floorplan_.distance_um(source_of(receive), index(self.tile)));
  }
}

}  // namespace tessera::fabric
