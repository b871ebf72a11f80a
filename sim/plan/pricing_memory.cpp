#include <algorithm>
#include <numeric>

#include "sim/machine/nodes.h"
#include "sim/plan/aliases.h"
#include "sim/plan/pricing.h"
#include "sim/plan/sent_streams.h"
#include "sim/plan/tile_parts.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::plan {

namespace {

constexpr std::uint64_t kPieces = 16;  ///< maximum streams that a schedule cuts
std::uint64_t entries(std::uint64_t streams) { return streams + std::min(2 * streams, kPieces); }

std::uint64_t list_bytes(std::uint64_t sends, std::uint64_t receives) {
  return program::kListHeaderBytes + sends * program::kSendBytes +
         receives * program::kReceiveBytes;
}
std::uint64_t cut_list_bytes(std::uint64_t sends, std::uint64_t receives) {
  return list_bytes(entries(sends), entries(receives));
}

}  // namespace

program::ExchangeUsage CountedLists::resource_usage(
    std::uint32_t /*exchange*/, std::span<const program::PlacedCopy> copies) const {
  struct Ends {
    std::uint64_t sends = 0, receives = 0;
  };
  std::vector<Ends> tiles;
  const auto ends = [&](TileId tile) -> Ends& {
    if (index(tile) >= tiles.size()) tiles.resize(index(tile) + std::size_t{1});
    return tiles[index(tile)];
  };
  for (const program::PlacedCopy& copy : copies) {
    ++ends(copy.source.tile).sends;
    for (const program::Port& port : copy.destinations) ++ends(port.tile).receives;
  }
  program::ExchangeUsage usage{{}, Cycle(0), Cycle(0)};
  for (std::uint32_t tile = 0; tile < tiles.size(); ++tile)
    if (const auto [sends, receives] = tiles[tile]; sends + receives > 0)
      usage.lists.push_back({TileId(tile), (cut_ ? cut_list_bytes : list_bytes)(sends, receives)});
  return usage;
}

std::unique_ptr<program::ExchangeSizer> CountedLists::shortest() const {
  if (!cut_) return nullptr;
  auto made = std::make_unique<CountedLists>();
  made->cut_ = false;
  return made;
}

/// One tile's contents and work as a one-tile program. Exchanges copy within the tile, so that
/// lifetimes equal those of the full program; their lists are sized from the tile's pulls and its
/// share of other tiles' pulls (estimated from `tiles`), or are the shortest possible if the sent
/// streams are known.
class Pricing::Sample final : public program::ExchangeSizer {
 public:
  Sample(const Description& description, std::span<const Tile> tiles, Tile tile,
         const SentStreams* sent = nullptr)
      : tiles_(tiles),
        tile_(tile),
        sent_(sent),
        aliases_(description),
        parts_(description, tile, sample_, 0, &aliases_) {
    sample_.main() = reduced(description.steps());
    // Parts that no step names exist only if kept.
    for (std::uint32_t id = 0; id < description.arrays().size(); ++id) {
      const Array& array = description.arrays()[id];
      if (array.keep && array.bytes(tile) > 0) parts_({BufferId(id)});
    }
  }

  [[nodiscard]] const program::Program& program() const { return sample_; }
  /// Bytes of arguments and lists, which share memory with nothing.
  [[nodiscard]] program::CategoryBytes unshared() const {
    program::CategoryBytes bytes{};
    bytes[static_cast<std::size_t>(program::Category::arguments)] = argument_bytes_;
    bytes[static_cast<std::size_t>(program::Category::exchange)] =
        std::accumulate(list_bytes_.begin(), list_bytes_.end(), std::uint64_t{0});
    return bytes;
  }

  [[nodiscard]] program::ExchangeUsage resource_usage(
      std::uint32_t exchange, std::span<const program::PlacedCopy> /*copies*/) const override {
    return {{{kSampleTile, list_bytes_[exchange]}}, Cycle(0), Cycle(0)};
  }

 private:
  [[nodiscard]] bool holds(BufferId array) const { return parts_.bytes(array) > 0; }

  program::Sequence reduced(const Sequence& steps) {
    program::Sequence sequence;
    for (const Step& step : steps)
      std::visit([&](const auto& action) { add(sequence, action); }, step.action);
    return sequence;
  }

  void add(program::Sequence& into, const Rounds& rounds) {
    const program::Sequence steps = reduced(unrolled(rounds));
    into.steps.insert(into.steps.end(), steps.steps.begin(), steps.steps.end());
  }

  void add(program::Sequence& into, const Round& round) {
    if (round.on_seconds) parts_.stand_for(round.rounds->loaded, round.rounds->seconds);
    into.steps.push_back({program::Repeat{1, reduced(*round.steps)}});
    parts_.stand_for({}, {});
  }

  /// Adds a transfer; the compiler sizes its list, so its entry in list_bytes_ is 0.
  void add(program::Sequence& into, const Transfer& transfer) {
    const auto [known, is_new] = transfers_.try_emplace({transfer.rounds, transfer.what});
    if (is_new) known->second = sample_.add_exchange(transfer_of(transfer));
    const program::Exchange& its = sample_.exchange(known->second);
    if (its.outside.empty() && !its.host) return;
    if (transfer.starts) into.steps.push_back({program::Start{known->second}});
    if (transfer.waits) into.steps.push_back({program::Wait{known->second}});
    if (is_new) list_bytes_.push_back(0);
  }

  program::Exchange transfer_of(const Transfer& transfer) {
    const bool stores = transfer.what == Transfer::What::store;
    if (transfer.what == Transfer::What::load_second)
      parts_.stand_for(transfer.rounds->loaded, transfer.rounds->seconds);
    program::Exchange own{transfer.rounds->name, {}};
    if (transfer.rounds->fed() && !stores) {
      own.host = given(transfer.rounds->tiles, transfer.rounds->feeds);
      parts_.stand_for({}, {});
      return own;
    }
    Loads loads;
    if (tile_ < transfer.rounds->tiles)
      (stores ? transfer.rounds->stores : transfer.rounds->loads)(tile_, loads);
    for (const Load& load : loads) {
      if (load.row_bytes == 0) continue;
      own.outside.push_back({parts_(load.place),
                             {sample_.add_outer({"outside", load.row_bytes})},
                             load.row_bytes,
                             load.rows,
                             0,
                             {},
                             stores});
    }
    parts_.stand_for({}, {});
    return own;
  }

  void add(program::Sequence& into, const Compute& compute) {
    program::ComputeSet set{compute.name, {}};
    Calls calls;
    if (tile_ < compute.tiles) compute.calls(tile_, calls);
    for (Call& call : calls.all()) {
      argument_bytes_ += call.vertex.arguments.size() * sizeof(std::uint32_t);
      set.vertices.push_back(parts_(std::move(call.vertex)));
    }
    into.steps.push_back({std::move(set)});
  }

  void add(program::Sequence& into, const Exchange& exchange) {
    program::Exchange own{exchange.name, {}};
    const Pulls pulls = pulls_of(exchange, tile_, aliases_);
    const std::uint64_t sends =
        sent_ != nullptr ? add_sent(own, exchange) : add_share(own, exchange);
    for (const auto& [array, bytes] : destinations(pulls))
      own.copies.push_back({parts_({array}), 1, {parts_({array})}});
    if (own.copies.empty()) return into.steps.push_back({program::ComputeSet{exchange.name, {}}});
    list_bytes_.push_back((sent_ != nullptr ? list_bytes : cut_list_bytes)(sends, pulls.size()));
    into.steps.push_back({std::move(own)});
  }

  /// Adds the copies that other tiles pull from the tile. Returns the number of their streams.
  std::uint64_t add_sent(program::Exchange& own, const Exchange& exchange) {
    std::uint64_t sends = 0;
    for (const SentStreams::Sent& sent : sent_->of(exchange, tile_)) {
      sends += sent.streams;
      own.copies.push_back({parts_({sent.array}), 1, {parts_({sent.array})}});
    }
    return sends;
  }

  /// Adds the copies that others may pull from the tile. Returns roughly the number of streams.
  std::uint64_t add_share(program::Exchange& own, const Exchange& exchange) {
    std::uint64_t sends = 0;
    std::uint64_t held = 0;  ///< bytes of the arrays pulled by others
    for (const auto& [array, most] : most_taken(exchange, tiles_, aliases_)) {
      if (!holds(array)) continue;
      const std::uint64_t each = std::max<std::uint64_t>(1, most.bytes / most.pulls);
      held += parts_.bytes(array);
      sends += parts_.bytes(array) / each + 1;
      own.copies.push_back({parts_({array}), 1, {parts_({array})}});
    }
    // Assumes that it sends the same fraction of each of them.
    if (exchange.sends && held > 0)
      sends = std::min(sends, ceil_div(sends * exchange.sends(tile_), held) + own.copies.size());
    return sends;
  }

  static std::map<BufferId, std::uint64_t> destinations(const Pulls& pulls) {
    std::map<BufferId, std::uint64_t> all;
    for (const Pull& pull : pulls) all[pull.into.buffer] += pull.bytes;
    return all;
  }

  program::HostTransfer given(Tile tiles, const std::function<void(Tile, HostPieces&)>& of) {
    program::HostTransfer transfer{program::HostTransfer::Direction::read, {}};
    if (tile_ < tiles) of(tile_, transfer.pieces);
    for (program::HostPiece& piece : transfer.pieces) piece.place = parts_(piece.place);
    return transfer;
  }

  void add(program::Sequence& into, const Host& host) {
    program::HostTransfer transfer = given(host.tiles, host.pieces);
    transfer.direction = host.direction;
    list_bytes_.push_back(0);  // sized by the compiler
    into.steps.push_back(
        {program::Exchange{host.name, {}, {}, program::kEveryStart, std::move(transfer)}});
  }

  void add(program::Sequence& into, const Repeat& repeat) {
    into.steps.push_back({program::Repeat{repeat.count, reduced(repeat.body)}});
  }

  void add(program::Sequence& into, const While& loop) {
    into.steps.push_back({program::While{
        loop.name, reduced(loop.test), reduced(loop.body), {parts_(loop.decision)}}});
  }

  std::span<const Tile> tiles_;
  Tile tile_;
  const SentStreams* sent_;  ///< null: not known
  program::Program sample_{1};
  Aliases aliases_;
  TileParts parts_;
  std::vector<std::uint64_t> list_bytes_;  ///< by exchange
  std::map<std::pair<const Rounds*, Transfer::What>, program::ExchangeId> transfers_;
  std::uint64_t argument_bytes_ = 0;
};

MachineConfig Pricing::unlimited() const {
  MachineConfig alone = program::compiled_for(machine());
  alone.tiles = 1;
  alone.tile.sram_kib = UINT32_MAX / 1024;
  alone.tile.program_kib = 0;  // code and lists of any length fit in SRAM
  return alone;
}

bool Pricing::has_room(const Description& description, std::span<const Tile> tiles,
                       std::uint64_t reserved) {
  const MachineConfig alone = unlimited();
  const SentStreams sent(description);
  const auto has_room = [&](Tile tile) {
    const Sample sample(description, tiles, tile, &sent);
    const program::CategoryBytes needs =
        program::resource_usage(sample.program(), alone, sample).memory.on_max;
    return program::as_sram(needs, machine().tile) + reserved <= sram_bytes(machine().tile);
  };
  return has_room(sent.longest_lists()) && std::ranges::all_of(tiles, has_room);
}

std::optional<program::CategoryBytes> Pricing::memory(const Description& description,
                                                      std::span<const Tile> tiles) {
  constexpr std::uint64_t kAddressable = std::uint64_t{1} << 31;
  for (const Tile tile : tiles)
    for (const Array& array : description.arrays())
      if (array.bytes(tile) >= kAddressable) return std::nullopt;
  const std::uint64_t room = sram_bytes(machine().tile);
  const MachineConfig alone = unlimited();
  const auto in_sram = [&](const program::CategoryBytes& bytes) {
    return program::as_sram(bytes, machine().tile);
  };
  program::CategoryBytes most{};
  for (const Tile tile : tiles) {
    const Sample sample(description, tiles, tile);
    const bool far_over = program::total(sample.unshared()) > kFarOver * room;
    const program::CategoryBytes usage =
        far_over ? sample.unshared()
                 : program::resource_usage(sample.program(), alone, sample).memory.on_max;
    if (in_sram(usage) > in_sram(most)) most = usage;
  }
  return most;
}

}  // namespace tessera::plan
