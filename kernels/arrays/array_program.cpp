#include "kernels/arrays/array_program.h"

#include <algorithm>
#include <utility>

#include "kernels/arrays/timeline.h"

namespace tessera::arrays {
namespace {

using program::StreamExtent;
using program::Walk;

/// Longest list of items that a loop repeats.
constexpr std::size_t kLongestBody = 96;

void add_shape(const Walk& walk, std::vector<std::uint32_t>& shape) {
  shape.insert(shape.end(), {static_cast<std::uint32_t>(walk.place.buffer), walk.unit});
  for (const StreamExtent& extent : walk.extents)
    shape.insert(shape.end(), {extent.count, extent.pitch, extent.before, extent.after});
}

using TimelineItem = arrays::Item::Kind;

/// The walks of all streams, in order.
template <class Use>
void for_each_walk(std::vector<Stream>& streams, const Use& use) {
  for (Stream& stream : streams) {
    use(stream.source);
    for (Walk& walk : stream.destinations) use(walk);
  }
}

/// Offsets that advance with the digits of the turn number.
struct Pattern {
  std::uint32_t radices[2] = {1, 1};
  std::vector<std::uint32_t> steps[3];
  std::size_t count = 1;  ///< turns that the pattern covers
};

using Offsets = std::vector<const std::vector<std::uint32_t>*>;

/// Differences from the first offsets to number `to`; empty if one is negative.
std::vector<std::uint32_t> step_to(const Offsets& offsets, std::size_t to) {
  std::vector<std::uint32_t> step;
  for (std::size_t i = 0; i < offsets[0]->size(); ++i) {
    if ((*offsets[to])[i] < (*offsets[0])[i]) return {};
    step.push_back((*offsets[to])[i] - (*offsets[0])[i]);
  }
  return step;
}

bool fits(const Offsets& offsets, const Pattern& pattern, std::size_t turn) {
  const std::uint64_t digits[] = {turn % pattern.radices[0],
                                  turn / pattern.radices[0] % pattern.radices[1],
                                  turn / pattern.radices[0] / pattern.radices[1]};
  for (std::size_t i = 0; i < offsets[0]->size(); ++i) {
    std::uint64_t at = (*offsets[0])[i];
    for (std::size_t digit = 0; digit < 3; ++digit)
      if (!pattern.steps[digit].empty()) at += digits[digit] * pattern.steps[digit][i];
    if (at != (*offsets[turn])[i]) return false;
  }
  return true;
}

/// The pattern of the longest run from the first offsets on: each digit is extended as far as its
/// step holds, then the next one.
Pattern pattern_of(const Offsets& offsets) {
  Pattern pattern;
  pattern.radices[0] = pattern.radices[1] = UINT32_MAX;
  for (std::size_t digit = 0; digit < 3 && pattern.count < offsets.size(); ++digit) {
    const auto count = static_cast<std::uint32_t>(pattern.count);
    if (digit == 1) pattern.radices[0] = count;
    if (digit == 2) {
      if (count % pattern.radices[0] != 0) break;
      pattern.radices[1] = count / pattern.radices[0];
    }
    pattern.steps[digit] = step_to(offsets, pattern.count);
    if (pattern.steps[digit].empty()) break;
    while (pattern.count < offsets.size() && fits(offsets, pattern, pattern.count)) ++pattern.count;
  }
  for (std::uint32_t& radix : pattern.radices)
    radix = std::min(radix, static_cast<std::uint32_t>(pattern.count));
  for (std::vector<std::uint32_t>& steps : pattern.steps) steps.resize(offsets[0]->size());
  return pattern;
}

}  // namespace

program::Buffer buffer_of(std::uint32_t node, std::uint64_t bytes, std::string_view name,
                          std::function<void(std::span<std::byte>)> contents) {
  program::Buffer buffer{};
  buffer.tile = TileId{node};
  buffer.bytes = bytes;
  buffer.align = kAlign;
  buffer.name = name;
  buffer.contents = std::move(contents);
  return buffer;
}

ArrayProgram::ArrayProgram(Program& program) : program_(program), lists_(program.tiles()) {
  std::vector<std::uint32_t> zones(program.tiles());
  for (std::uint32_t node = 0; node < zones.size(); ++node) zones[node] = node;
  program_.part(std::move(zones));
}

TransferId ArrayProgram::transfer(std::uint32_t kind, std::string name,
                                  std::vector<Stream> streams) {
  Transfer transfer{std::move(name), std::move(streams), {}, {}, {}, {}};
  for (const Stream& stream : transfer.streams)
    transfer.shape.push_back(static_cast<std::uint32_t>(stream.destinations.size()));
  for_each_walk(transfer.streams, [&](Walk& walk) {
    add_shape(walk, transfer.shape);
    transfer.offsets.push_back(walk.place.offset);
    transfer.nodes.push_back(index(program_.buffer(walk.place.buffer).tile));
  });
  std::ranges::sort(transfer.nodes);
  transfer.nodes.erase(std::unique(transfer.nodes.begin(), transfer.nodes.end()),
                       transfer.nodes.end());
  const auto id = static_cast<std::uint32_t>(transfers_.size());
  kinds_[kind].push_back(id);
  transfer.kind = kind;
  transfers_.push_back(std::move(transfer));
  return TransferId{id};
}

TransferId ArrayProgram::from_host(std::uint32_t node, std::string name, Place place,
                                   std::uint32_t bytes) {
  program::Exchange exchange{std::move(name), {}, {}, program::kEveryStart};
  exchange.host = program::HostTransfer{
      program::HostTransfer::Direction::read,
      {{place, bytes, [](std::span<std::byte> into, std::uint64_t /*number*/) {
          std::ranges::fill(into, std::byte{});
        }}}};
  Transfer transfer{exchange.name, {}, {node}, {}, {}, program_.add_exchange(std::move(exchange))};
  const auto id = static_cast<std::uint32_t>(transfers_.size());
  transfers_.push_back(std::move(transfer));
  return TransferId{id};
}

void ArrayProgram::call(std::uint32_t node, const std::string& name, std::vector<Vertex> vertices,
                        std::uint64_t cycles) {
  std::vector<std::uint64_t> key{node};
  for (const Vertex& vertex : vertices) {
    key.insert(key.end(), {vertex.codelet, static_cast<std::uint64_t>(vertex.executor),
                           vertex.worker, vertex.arguments.size()});
    for (const program::Argument& argument : vertex.arguments) {
      key.push_back(argument.index());
      if (const auto* place = std::get_if<Place>(&argument))
        key.insert(key.end(), {static_cast<std::uint64_t>(place->buffer), place->offset});
      else
        key.push_back(std::get<std::uint32_t>(argument));
    }
  }
  const auto [entry, is_new] =
      known_sets_.try_emplace(std::move(key), static_cast<std::uint32_t>(sets_.size()));
  if (is_new) {
    sets_.push_back({name, std::move(vertices)});
    set_cycles_.push_back(cycles);
  }
  lists_[node].push_back({Kind::call, entry->second});
}

void ArrayProgram::mark(std::uint32_t node, const std::string& name) {
  lists_[node].push_back({Kind::call, static_cast<std::uint32_t>(sets_.size())});
  sets_.push_back({name, {}, true});
  set_cycles_.push_back(0);
}

Estimate ArrayProgram::estimate(const MachineConfig& machine) const {
  const auto node_of = [&](const Walk& walk) {
    return index(program_.buffer(walk.place.buffer).tile);
  };
  Timeline timeline(machine, static_cast<std::uint32_t>(lists_.size()));
  for (Channel id = 0; id < transfers_.size(); ++id) {
    std::vector<Flow> flows;
    for (const Stream& stream : transfers_[id].streams) {
      const std::uint64_t bytes = program::stream_bytes(stream.source.unit, stream.source.extents);
      Flow flow{stream.name, bytes, node_of(stream.source), {}};
      for (const Walk& to : stream.destinations) flow.to.push_back(node_of(to));
      flows.push_back(std::move(flow));
    }
    timeline.add(id, flows);
  }
  const auto add = [&](std::uint32_t node, std::uint32_t /*part*/, Items& items) {
    Channel marks = 0;
    for (const Item& item : lists_[node]) {
      if (item.kind != Kind::call)
        items.push_back({item.kind == Kind::start ? TimelineItem::start : TimelineItem::wait,
                         item.number, 0, transfers_[item.number].kind});
      else if (sets_[item.number].syncs)
        items.push_back({TimelineItem::mark, marks++, 1 + std::uint64_t{machine.sync.chip_cycles}});
      else
        items.push_back({TimelineItem::work, 0, set_cycles_[item.number]});
    }
  };
  const std::uint64_t cycles = timeline.run({1, {}, add});
  return {cycles, timeline.marks()};
}

/// Adds an exchange that covers as many of these transfers as possible, from the first on; returns
/// how many.
std::size_t ArrayProgram::add_exchange(std::span<const std::uint32_t> transfers) {
  Offsets offsets;
  const Transfer& first = transfers_[transfers.front()];
  for (const std::uint32_t number : transfers) {
    if (transfers_[number].shape != first.shape || transfers_[number].name != first.name) break;
    offsets.push_back(&transfers_[number].offsets);
  }
  const Pattern pattern = pattern_of(offsets);
  program::Exchange exchange{first.name, {}, {}, {}, {}, first.streams};
  exchange.turns.count = static_cast<std::uint32_t>(pattern.count);
  std::ranges::copy(pattern.radices, exchange.turns.radices);
  std::size_t at = 0;
  for_each_walk(exchange.streams, [&](Walk& walk) {
    for (std::size_t digit = 0; digit < 3; ++digit) walk.steps[digit] = pattern.steps[digit][at];
    ++at;
  });
  const ExchangeId id = program_.add_exchange(std::move(exchange));
  for (std::size_t i = 0; i < pattern.count; ++i) transfers_[transfers[i]].exchange = id;
  return pattern.count;
}

ArrayProgram::Piece ArrayProgram::piece_of(std::span<const Item> list) {
  Piece piece;
  for (std::size_t body = 1; body <= kLongestBody && 2 * body <= list.size(); ++body) {
    std::size_t found = 1;
    while ((found + 1) * body <= list.size() &&
           std::ranges::equal(list.first(body), list.subspan(found * body, body)))
      ++found;
    if (found > 1 && found * body > piece.length * piece.times) piece = {body, found};
  }
  return piece;
}

program::Sequence ArrayProgram::rolled(std::span<const Item> list) const {
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < list.size(); at += pieces.back().length * pieces.back().times)
    pieces.push_back(piece_of(list.subspan(at)));
  program::Sequence sequence;
  sequence.steps.reserve(pieces.size());  // steps are large
  std::size_t at = 0;
  for (const auto& [length, times] : pieces) {
    if (times > 1) {
      sequence.steps.push_back(
          {program::Repeat{static_cast<std::uint32_t>(times), rolled(list.subspan(at, length))}});
    } else if (list[at].kind == Kind::call) {
      sequence.steps.push_back({sets_[list[at].number]});
    } else if (list[at].kind == Kind::start) {
      sequence.steps.push_back({program::Start{ExchangeId{list[at].number}}});
    } else {
      sequence.steps.push_back({program::Wait{ExchangeId{list[at].number}}});
    }
    at += length * times;
  }
  return sequence;
}

void ArrayProgram::finish() {
  for (const auto& [kind, transfers] : kinds_) {
    std::span<const std::uint32_t> left = transfers;
    while (!left.empty()) left = left.subspan(add_exchange(left));
  }
  for (std::uint32_t node = 0; node < lists_.size(); ++node) {
    for (Item& item : lists_[node])
      if (item.kind != Kind::call)
        item.number = static_cast<std::uint32_t>(transfers_[item.number].exchange);
    program_.steps(node) = rolled(lists_[node]);
  }
}

}  // namespace tessera::arrays
