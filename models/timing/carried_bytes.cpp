#include "models/timing/carried_bytes.h"

#include <algorithm>
#include <string_view>

#include "sim/machine/nodes.h"

namespace tessera {
namespace {

using program::BufferId;
using program::Exchange;
using program::OuterTurn;
using program::Stream;
using program::Walk;

/// True if each start takes the next turn, without gaps.
bool follow_each_other(const program::Turns& turns) {
  return turns.first == 0 && turns.every == 1 && turns.skipped == 0 && turns.period == 0;
}

}  // namespace

std::uint64_t reach_of(const Walk& walk, const program::Turns& turns) {
  const std::uint64_t last = std::max(turns.count, 1U) - 1;
  const std::uint64_t both = std::uint64_t{turns.radices[0]} * turns.radices[1];
  return program::stream_reach(walk.unit, walk.extents) +
         std::min<std::uint64_t>(last, turns.radices[0] - 1) * walk.steps[0] +
         std::min<std::uint64_t>(last / turns.radices[0], turns.radices[1] - 1) * walk.steps[1] +
         last / both * walk.steps[2];
}

CarriedBytes::CarriedBytes(const program::Program& program, const program::Images& images,
                           const MachineConfig& machine, const ReceivedByTile& received,
                           Follow follow)
    : program_(program),
      images_(images),
      machine_(machine),
      received_(received),
      follow_(std::move(follow)),
      flow_(program::flatten(program)) {}

bool CarriedBytes::are_alike(std::uint32_t one, std::uint32_t other) const {
  return std::ranges::any_of(flow_.exchanges[one]->streams, [&](const Stream& stream) {
    return std::ranges::any_of(flow_.exchanges[other]->streams,
                               [&](const Stream& its) { return its.name == stream.name; });
  });
}

StreamEnd CarriedBytes::end_of(const Walk& walk, const OuterTurn& turn) const {
  std::uint64_t address =
      images_.buffer_address[static_cast<std::size_t>(walk.place.buffer)].count() +
      walk.place.offset;
  for (std::size_t i = 0; i < std::size(walk.steps); ++i) address += turn.digits[i] * walk.steps[i];
  return {static_cast<std::uint32_t>(address), walk.unit, std::to_array(walk.extents)};
}

Deliveries CarriedBytes::to(std::uint32_t tile, std::uint32_t exchange) {
  const Exchange& of = *flow_.exchanges[exchange];
  const Shared& all = sent(exchange);
  Deliveries deliveries;
  for (std::size_t start = 0; start < all.size(); ++start) {
    std::vector<Delivery>& now = deliveries.emplace_back();
    if (all[start].empty()) continue;
    const OuterTurn turn = program::turn_of(of.turns, start);
    for (std::size_t i = 0; i < of.streams.size(); ++i)
      for (const Walk& walk : of.streams[i].destinations)
        if (node_of(walk.place.buffer) == tile) now.push_back({end_of(walk, turn), all[start][i]});
  }
  return deliveries;
}

const CarriedBytes::Shared& CarriedBytes::sent(std::uint32_t exchange) {
  const auto found = sent_.find(exchange);
  if (found != sent_.end()) return found->second;
  static const Shared kNothing;
  if (!asked_.insert(exchange).second) return kNothing;  // cyclic: its bytes depend on itself
  Shared all;
  for (std::vector<Bytes>& start : find_sent(exchange)) {
    std::vector<SharedBytes>& now = all.emplace_back();
    for (Bytes& bytes : start) now.push_back(shared(std::move(bytes)));
  }
  asked_.erase(exchange);
  return sent_[exchange] = std::move(all);
}

CarriedBytes::Sent CarriedBytes::find_sent(std::uint32_t exchange) {
  const Exchange& of = *flow_.exchanges[exchange];
  if (of.streams.empty()) return {};
  if (auto known = constants(of)) return *std::move(known);
  const std::uint32_t node = node_of(of.streams.front().source.place.buffer);
  if (tile_of(machine_, node).contexts != 0) return {};
  Known known;
  for (const Stream& stream : of.streams) {
    if (node_of(stream.source.place.buffer) != node) return {};
    const BufferId id = stream.source.place.buffer;
    if (program_.buffer(id).contents)
      known.contents.push_back(
          {images_.buffer_address[static_cast<std::size_t>(id)].count(), contents_of(id)});
    const std::uint32_t begin = end_of(stream.source, {}).address;
    const std::uint64_t end = begin + reach_of(stream.source, of.turns);
    for (const WalkedTile::Received& each : received_[node]) {
      const auto [address, bytes] = each.range;
      if (address >= end || address + bytes <= begin) continue;
      if (std::ranges::find(known.brought, each.exchange, &WalkedTile::Brought::exchange) ==
          known.brought.end())
        known.brought.push_back({each.exchange, to(node, each.exchange)});
    }
  }
  return follow_(node, std::move(known), exchange, [&](std::uint64_t start) {
    const OuterTurn turn = program::turn_of(of.turns, start);
    std::vector<StreamEnd> ends;
    if (!turn.moves) return ends;
    for (const Stream& stream : of.streams) ends.push_back(end_of(stream.source, turn));
    return ends;
  });
}

const CarriedBytes::Bytes& CarriedBytes::contents_of(BufferId id) {
  const auto [contents, is_new] = contents_.try_emplace(id);
  if (is_new) {
    contents->second.resize(program_.buffer(id).bytes);
    program_.buffer(id).fill(contents->second, 0);
  }
  return contents->second;
}

/// True if a buffer with initial contents is never written, on a node without workers.
bool CarriedBytes::is_constant(BufferId id) const {
  const program::Buffer& buffer = program_.buffer(id);
  const std::uint32_t begin = images_.buffer_address[static_cast<std::size_t>(id)].count();
  return buffer.contents && tile_of(machine_, index(buffer.tile)).contexts == 0 &&
         std::ranges::none_of(received_[index(buffer.tile)], [&](const auto& each) {
           return each.range.address < begin + buffer.bytes &&
                  begin < each.range.address + each.range.bytes;
         });
}

std::optional<CarriedBytes::Sent> CarriedBytes::constants(const Exchange& exchange) {
  if (!follow_each_other(exchange.turns) || exchange.turns.count == program::kEveryStart.count ||
      !std::ranges::all_of(exchange.streams, [&](const Stream& stream) {
        return is_constant(stream.source.place.buffer);
      }))
    return std::nullopt;
  Sent sent(exchange.turns.count);
  for (std::uint64_t start = 0; start < sent.size(); ++start) {
    const OuterTurn turn = program::turn_of(exchange.turns, start);
    for (const Stream& stream : exchange.streams) {
      const BufferId id = stream.source.place.buffer;
      const StreamEnd end = end_of(stream.source, turn);
      const std::uint32_t begin = images_.buffer_address[static_cast<std::size_t>(id)].count();
      const std::byte* const from = contents_of(id).data();
      Bytes& bytes = sent[start].emplace_back();
      bytes.reserve(program::stream_bytes(end.unit, end.extents));
      program::walk_units(
          end.extents, end.address - begin,
          [&](std::uint64_t at) { bytes.insert(bytes.end(), from + at, from + at + end.unit); },
          [&] { bytes.resize(bytes.size() + end.unit); });
    }
  }
  return sent;
}

SharedBytes CarriedBytes::shared(Bytes bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  std::vector<SharedBytes>& alike = pool_[std::hash<std::string_view>()(text)];
  for (const SharedBytes& one : alike)
    if (*one == bytes) return one;
  alike.push_back(std::make_shared<const Bytes>(std::move(bytes)));
  return alike.back();
}

}  // namespace tessera
