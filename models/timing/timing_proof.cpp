#include "models/timing/timing_proof.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "models/timing/carried_bytes.h"
#include "models/timing/tile_walk.h"
#include "sim/base/ranges.h"
#include "sim/machine/nodes.h"
#include "sim/program/flow.h"

namespace tessera {
namespace {

using program::Buffer;
using program::BufferId;
using program::Images;
using program::Program;
using program::TileImage;

constexpr std::size_t kTilesAPiece = 16;

std::size_t index_of(BufferId id) { return static_cast<std::size_t>(id); }

/// Sorts ranges and merges adjacent ones of the same exchange.
void merge(std::vector<WalkedTile::Received>& all) {
  std::ranges::sort(all);
  std::vector<WalkedTile::Received> merged;
  for (const WalkedTile::Received& each : all) {
    WalkedTile::Received* const last = merged.empty() ? nullptr : &merged.back();
    if (last != nullptr && *last == each) continue;
    if (last != nullptr && each.turns == nullptr && last->exchange == each.exchange &&
        each.range.address <= last->range.address + last->range.bytes)
      last->range.bytes =
          std::max(last->range.bytes, each.range.address + each.range.bytes - last->range.address);
    else
      merged.push_back(each);
  }
  all = std::move(merged);
}

ReceivedByTile received_by_tile(const Program& program, const Images& images) {
  ReceivedByTile received(images.tiles.size());
  const program::Flow flow = program::flatten(program);
  for (std::uint32_t number = 0; number < flow.exchanges.size(); ++number) {
    const program::Exchange& exchange = *flow.exchanges[number];
    const auto note = [&](program::Place place,
                          std::optional<std::uint64_t> bytes) -> WalkedTile::Received& {
      const Buffer& buffer = program.buffer(place.buffer);
      const std::uint32_t offset = bytes ? place.offset : 0;
      const std::uint64_t behind = buffer.bytes - offset;
      return received[index(buffer.tile)].emplace_back(WalkedTile::Received{
          number,
          {images.buffer_address[index_of(place.buffer)].count() + offset,
           static_cast<std::uint32_t>(std::min(bytes.value_or(behind), behind))}});
    };
    for (const program::Copy& copy : exchange.copies)
      for (const program::Place place : copy.destinations) note(place, copy.bytes);
    for (const program::OuterCopy& copy : exchange.outside)
      if (!copy.outward) note(copy.place, std::nullopt);
    if (exchange.host && exchange.host->direction == program::HostTransfer::Direction::read)
      for (const program::HostPiece& piece : exchange.host->pieces) note(piece.place, std::nullopt);
    for (const program::Stream& stream : exchange.streams)
      for (const program::Walk& walk : stream.destinations) {
        WalkedTile::Received& its = note(walk.place, reach_of(walk, exchange.turns));
        its.turns = &exchange.turns;
        its.steps = std::to_array(walk.steps);
        its.bytes = static_cast<std::uint32_t>(program::stream_reach(walk.unit, walk.extents));
      }
  }
  for (auto& tile : received) merge(tile);
  return received;
}

/// Tiles whose known contents are equal.
struct Kind {
  std::vector<std::uint32_t> tiles;   ///< ascending
  WalkedTile holds;                   ///< contents of each of them
  std::vector<std::uint32_t> looked;  ///< numbers of buffers whose contents are known
};

/// One walk's result.
struct Walked {
  std::optional<std::string> refusal;
  std::vector<std::uint32_t> wanted;
  std::uint64_t followed = 0;
  WalkedCalls calls;
  CallScript script;
};

struct Proven {
  std::vector<std::uint32_t> tiles;
  CallScript script;
};

class Prover {
 public:
  Prover(const Program& program, const Images& images, const MachineConfig& machine,
         HostThreads& threads)
      : program_(program),
        images_(images),
        machine_(machine),
        threads_(threads),
        received_(received_by_tile(program, images)) {
    proof_.kind_of.assign(images.tiles.size(), 0);
    proof_.looked_up.assign(program.buffers().size(), false);
  }

  TimingProof prove() {
    std::vector<Kind> kinds = first_kinds();
    while (!kinds.empty() && !proof_.refusal) kinds = follow(std::move(kinds));
    if (!proof_.refusal) number_kinds();
    return std::move(proof_);
  }

 private:
  using CodeKey = std::pair<const program::CodeImage*, std::size_t>;  ///< with the tile's class

  std::vector<Kind> first_kinds();
  using CodeletsKey = std::pair<std::string_view, std::size_t>;

  [[nodiscard]] CodeKey code_of(const Kind& kind) const;
  [[nodiscard]] CodeletsKey codelets_of(const Kind& kind) const;
  static void note_lists(const TileImage& image, WalkedTile& holds);
  static void add_written(WalkedTile& all, const WalkedTile& one);
  [[nodiscard]] WalkedTile holds(std::uint32_t tile);
  std::vector<Kind> follow(std::vector<Kind> kinds);
  Walked walk(const Kind& kind) const;
  std::vector<Walked> walk(const std::vector<Kind>& kinds);
  CarriedBytes::Sent follow_sender(std::uint32_t tile, CarriedBytes::Known known,
                                   std::uint32_t exchange, TileWalk::EndsAt ends);
  [[nodiscard]] std::vector<std::size_t> brought_alike(const Kind& kind,
                                                       const std::vector<std::uint32_t>& wanted);
  [[nodiscard]] std::vector<WalkedTile::Brought> brought_to(std::uint32_t tile, const Kind& kind,
                                                            const std::vector<std::size_t>& lists);
  CarriedBytes& carried();
  void learn(const CodeletsKey& codelets, const WalkedCalls& calls);
  void look_up(const Kind& kind, const std::vector<std::uint32_t>& wanted,
               std::vector<Kind>& parts);
  [[nodiscard]] bool lookable(BufferId id) const {
    return bool(program_.buffer(id).contents) && program_.buffer(id).bytes > 0;
  }
  /// True for constants of calls, whose contents are known like argument blocks.
  [[nodiscard]] bool is_argument(BufferId id) const {
    return lookable(id) && program_.buffer(id).category == program::Category::arguments;
  }
  [[nodiscard]] std::vector<BufferId> lookable_of(std::uint32_t tile) const;
  [[nodiscard]] std::uint32_t address(BufferId id) const {
    return images_.buffer_address[index_of(id)].count();
  }
  void number_kinds();

  const Program& program_;
  const Images& images_;
  const MachineConfig& machine_;
  HostThreads& threads_;
  const ReceivedByTile received_;
  std::optional<CarriedBytes> carried_;  ///< made on first use
  std::map<CodeKey, WalkedCode> codes_;
  std::map<CodeletsKey, WalkedCalls> calls_;  ///< known at the begin of walks
  std::vector<Proven> proven_;
  TimingProof proof_;
};

std::vector<BufferId> Prover::lookable_of(std::uint32_t tile) const {
  std::vector<BufferId> buffers;
  for (const BufferId id : images_.tiles[tile].initialised)
    if (lookable(id) && !is_argument(id)) buffers.push_back(id);
  return buffers;
}

WalkedTile Prover::holds(std::uint32_t tile) {
  const TileImage& image = images_.tiles[tile];
  WalkedTile holds;
  const std::uint32_t arguments = image.code->arguments.count();
  for (const program::Segment& segment : image.segments) {
    const std::uint32_t begin = segment.address.count();
    const auto bytes = static_cast<std::uint32_t>(segment.bytes.size());
    holds.kept.push_back({begin, bytes});
    // The first segment is control data: the table of lists, then argument blocks.
    if (&segment != &image.segments.front()) continue;
    const auto from = segment.bytes.begin() + (arguments - begin);
    holds.known.push_back({arguments, {from, segment.bytes.end()}});
    holds.table = {begin, {segment.bytes.begin(), from}};
  }
  note_lists(image, holds);
  for (const BufferId id : image.initialised) {
    const Buffer& buffer = program_.buffer(id);
    if (!is_argument(id)) continue;
    std::vector<std::byte> bytes(buffer.bytes);
    buffer.fill(bytes, 0);
    holds.known.push_back({address(id), std::move(bytes)});
    proof_.looked_up[index_of(id)] = true;
  }
  for (const BufferId id : lookable_of(tile))
    holds.lookable.push_back({address(id), static_cast<std::uint32_t>(program_.buffer(id).bytes)});
  return holds;
}

/// Reads the exchange number at the begin of every list.
void Prover::note_lists(const TileImage& image, WalkedTile& holds) {
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  for (std::size_t at = 0; at + kWord <= holds.table.bytes.size(); at += kWord) {
    std::uint32_t list;
    std::memcpy(&list, holds.table.bytes.data() + at, kWord);
    for (const program::Segment& segment : image.segments) {
      const std::uint32_t begin = segment.address.count();
      if (list < begin || list + kWord > begin + segment.bytes.size()) continue;
      std::uint32_t exchange;
      std::memcpy(&exchange, segment.bytes.data() + (list - begin), kWord);
      holds.lists.push_back({exchange, list});
    }
  }
}

std::vector<Kind> Prover::first_kinds() {
  using Key = std::tuple<const program::CodeImage*, std::size_t, std::vector<WalkedTile::Contents>,
                         std::vector<WalkedTile::Range>>;
  std::map<Key, std::size_t> found;
  std::vector<Kind> kinds;
  for (std::uint32_t tile = 0; tile < images_.tiles.size(); ++tile) {
    const std::shared_ptr<const program::CodeImage>& code = images_.tiles[tile].code;
    const std::size_t kind = class_number(machine_, tile);
    codes_.try_emplace({code.get(), kind}, code, tile_of_class(machine_, kind));
    WalkedTile its = holds(tile);
    its.received = received_[tile];
    const auto [entry, is_new] =
        found.try_emplace({code.get(), kind, its.known, its.lookable}, kinds.size());
    if (is_new)
      kinds.push_back({{}, std::move(its), {}});
    else
      add_written(kinds[entry->second].holds, its);
    kinds[entry->second].tiles.push_back(tile);
  }
  for (Kind& kind : kinds) merge(kind.holds.received);
  return kinds;
}

/// Lists and received ranges differ in length from tile to tile: a byte counts as unknown for the
/// kind if any of its tiles receives it or has a list there.
void Prover::add_written(WalkedTile& all, const WalkedTile& one) {
  all.received.insert(all.received.end(), one.received.begin(), one.received.end());
  for (const WalkedTile::Range& range : one.kept) {
    const auto same = std::ranges::find(all.kept, range.address, &WalkedTile::Range::address);
    if (same == all.kept.end())
      all.kept.push_back(range);
    else
      same->bytes = std::max(same->bytes, range.bytes);
  }
}

Prover::CodeKey Prover::code_of(const Kind& kind) const {
  const std::uint32_t tile = kind.tiles.front();
  return {images_.tiles[tile].code.get(), class_number(machine_, tile)};
}

Walked Prover::walk(const Kind& kind) const {
  const auto known = calls_.find(codelets_of(kind));
  TileWalk walk(codes_.at(code_of(kind)), tile_of(machine_, kind.tiles.front()), kind.holds,
                known == calls_.end() ? WalkedCalls() : known->second);
  Walked walked;
  walked.refusal = walk.run();
  walked.wanted = walk.wanted();
  walked.followed = walk.followed();
  walked.calls = walk.take_calls();
  if (!walked.refusal) walked.script = walk.take_script();
  return walked;
}

/// Key: the code that a tile's workers may run (all code before the supervisor's) and the tile's
/// class.
Prover::CodeletsKey Prover::codelets_of(const Kind& kind) const {
  const auto [image, number] = code_of(kind);
  return {{reinterpret_cast<const char*>(image->bytes.data()), image->entry.count()}, number};
}

/// Walks in batches, each a quarter of all previous: a batch knows the calls of earlier batches. So
/// the walked calls do not depend on the number of threads.
std::vector<Walked> Prover::walk(const std::vector<Kind>& kinds) {
  std::vector<Walked> walked(kinds.size());
  for (std::size_t from = 0; from < kinds.size();) {
    const std::size_t count = std::min(from / 4 + 1, kinds.size() - from);
    threads_.for_ranges(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = from + begin; i < from + end; ++i) walked[i] = walk(kinds[i]);
    });
    for (std::size_t i = from; i < from + count; ++i) learn(codelets_of(kinds[i]), walked[i].calls);
    from += count;
  }
  return walked;
}

/// Keeps the calls of a walk for walks of tiles with the same codelets.
void Prover::learn(const CodeletsKey& codelets, const WalkedCalls& calls) {
  WalkedCalls& known = calls_[codelets];
  for (const auto& [where, followed] : calls) {
    auto& all = known[where];
    for (const std::shared_ptr<WalkedCall>& call : followed)
      if (all.size() < kMostWalkedCalls && !contains(all, call)) all.push_back(call);
  }
}

/// Walks one tile of each kind; returns the kinds to walk again with more contents known.
std::vector<Kind> Prover::follow(std::vector<Kind> kinds) {
  std::vector<Walked> walked = walk(kinds);
  std::vector<Kind> again;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!walked[i].refusal) {
      proof_.calls += walked[i].followed;
      proven_.push_back({std::move(kinds[i].tiles), std::move(walked[i].script)});
    } else if (walked[i].wanted.empty()) {
      if (!proof_.refusal)
        proof_.refusal = fmt::format("tile {}, {}", kinds[i].tiles.front(), *walked[i].refusal);
    } else {
      look_up(kinds[i], walked[i].wanted, again);
    }
  }
  return again;
}

CarriedBytes& Prover::carried() {
  if (!carried_)
    carried_.emplace(program_, images_, machine_, received_,
                     [this](std::uint32_t node, CarriedBytes::Known known, std::uint32_t exchange,
                            TileWalk::EndsAt ends) {
                       return follow_sender(node, std::move(known), exchange, std::move(ends));
                     });
  return *carried_;
}

CarriedBytes::Sent Prover::follow_sender(std::uint32_t tile, CarriedBytes::Known known,
                                         std::uint32_t exchange, TileWalk::EndsAt ends) {
  WalkedTile its = holds(tile);
  its.received = received_[tile];
  std::ranges::move(known.contents, std::back_inserter(its.known));
  its.brought = std::move(known.brought);
  const std::size_t number = class_number(machine_, tile);
  TileWalk walk(codes_.at({images_.tiles[tile].code.get(), number}), tile_of(machine_, tile), its,
                {});
  walk.record(exchange, std::move(ends));
  return walk.run() ? CarriedBytes::Sent() : walk.sent();
}

/// Indices of the kind's lists whose exchanges use the same streams as wanted ones: they may be
/// needed as well.
std::vector<std::size_t> Prover::brought_alike(const Kind& kind,
                                               const std::vector<std::uint32_t>& wanted) {
  const std::size_t buffers = kind.holds.lookable.size();
  std::vector<std::size_t> alike;
  for (std::size_t i = 0; i < kind.holds.lists.size(); ++i) {
    const std::uint32_t exchange = kind.holds.lists[i].exchange;
    if (std::ranges::find(kind.holds.brought, exchange, &WalkedTile::Brought::exchange) !=
        kind.holds.brought.end())
      continue;
    if (std::ranges::any_of(wanted, [&](std::uint32_t number) {
          return number >= buffers &&
                 carried().are_alike(static_cast<std::uint32_t>(number - buffers), exchange);
        }))
      alike.push_back(i);
  }
  return alike;
}

/// The bytes that streams deliver to `tile`, under the exchange numbers of the kind.
std::vector<WalkedTile::Brought> Prover::brought_to(std::uint32_t tile, const Kind& kind,
                                                    const std::vector<std::size_t>& lists) {
  std::vector<WalkedTile::Brought> brought;
  if (lists.empty()) return brought;
  const WalkedTile its = holds(tile);
  for (const std::size_t list : lists) {
    const std::uint32_t exchange = kind.holds.lists[list].exchange;
    if (std::ranges::find(brought, exchange, &WalkedTile::Brought::exchange) == brought.end())
      brought.push_back({exchange, list < its.lists.size()
                                       ? carried().to(tile, its.lists[list].exchange)
                                       : Deliveries()});
  }
  return brought;
}

/// Splits a kind by the contents of wanted buffers and by the bytes of wanted streams.
void Prover::look_up(const Kind& kind, const std::vector<std::uint32_t>& wanted,
                     std::vector<Kind>& parts) {
  using All = std::pair<std::vector<WalkedTile::Contents>, std::vector<WalkedTile::Brought>>;
  std::vector<All> contents(kind.tiles.size());
  const std::vector<std::size_t> lists = brought_alike(kind, wanted);
  for (std::size_t i = 0; i < kind.tiles.size(); ++i)
    contents[i].second = brought_to(kind.tiles[i], kind, lists);
  const auto is_buffer = [&](std::uint32_t which) { return which < kind.holds.lookable.size(); };
  threads_.for_ranges(kind.tiles.size(), kTilesAPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::vector<BufferId> buffers = lookable_of(kind.tiles[i]);
      for (const std::uint32_t which : wanted) {
        if (!is_buffer(which)) continue;
        std::vector<std::byte> bytes(program_.buffer(buffers[which]).bytes);
        program_.buffer(buffers[which]).fill(bytes, 0);
        contents[i].first.push_back({address(buffers[which]), std::move(bytes)});
      }
    }
  });
  std::map<All, std::size_t> found;
  for (std::size_t i = 0; i < kind.tiles.size(); ++i) {
    for (const std::uint32_t which : wanted)
      if (is_buffer(which)) proof_.looked_up[index_of(lookable_of(kind.tiles[i])[which])] = true;
    const auto [entry, is_new] = found.try_emplace(contents[i], parts.size());
    if (is_new) {
      Kind& part = parts.emplace_back(Kind{{}, kind.holds, kind.looked});
      part.looked.insert(part.looked.end(), wanted.begin(), wanted.end());
      for (WalkedTile::Contents& one : contents[i].first)
        part.holds.known.push_back(std::move(one));
      for (WalkedTile::Brought& one : contents[i].second)
        part.holds.brought.push_back(std::move(one));
    }
    parts[entry->second].tiles.push_back(kind.tiles[i]);
  }
}

/// Numbers kinds by their first tiles, independent of the order of proofs.
void Prover::number_kinds() {
  std::ranges::sort(proven_, {}, [](const Proven& kind) { return kind.tiles.front(); });
  for (Proven& kind : proven_) {
    for (const std::uint32_t tile : kind.tiles)
      proof_.kind_of[tile] = static_cast<std::uint32_t>(proof_.scripts.size());
    proof_.scripts.push_back(std::move(kind.script));
  }
}

}  // namespace

TimingProof prove(const Program& program, const Images& images, const MachineConfig& machine,
                  HostThreads& threads) {
  return Prover(program, images, machine, threads).prove();
}

}  // namespace tessera
