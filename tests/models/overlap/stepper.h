#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "models/chip/sram.h"
#include "models/fabric/descriptor.h"
#include "models/memory/external_memory.h"
#include "models/tile/tile.h"
#include "sim/machine/nodes.h"
#include "sim/program/transfer_list.h"
#include "tests/models/sample_machine.h"

namespace tessera::sample {

/// A machine stepped cycle by cycle: no events, no running ahead, no modules, one thread. Tiles
/// execute their own code; barriers, exchanges and ports are implemented again. External memory is
/// the machine's own model, polled in every cycle; tests/models/memory implements it again.
/// Exchanges: equal rates both ways, no distances, separate ports for each pair; nodes of other
/// classes have more ports of that rate, and may never use more streams than ports.
class Stepper {
 public:
  Stepper(const MachineConfig& config, const Program& program, const program::Images& images)
      : config_(config), sram_(config), free_(images.tiles.size()), streams_(images.host_streams) {
    arrived_.resize(program.zones());
    release_.assign(program.zones(), kNever);
    const auto nodes = static_cast<std::uint32_t>(images.tiles.size());
    wakes_.assign(nodes, Cycle(0));
    tiles_.reserve(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) load(program, images, TileId{i});
    for (std::uint32_t i = 0; i < program.tiles(); ++i) ++members(program.zone_of(TileId{i}));
    if (!config.has_external) return;
    outside_ = std::make_unique<ExternalMemory>(config, nodes);
    outside_->begin();
    if (workers_start_transfers(config))
      for (Tile& tile : tiles_) tile.reach(outside_->bytes(tile.id(), 0, config.external.bytes()));
    for (std::size_t i = 0; i < program.outers().size(); ++i)
      program.outers()[i].contents(0, outside(program, images, i));
  }

  /// The bytes of a buffer in external memory.
  [[nodiscard]] std::span<std::byte> outside(const Program& program, const program::Images& images,
                                             std::size_t buffer) const {
    const program::OuterBuffer& its = program.outers()[buffer];
    return outside_->bytes(its.tile, images.outer_address[buffer], its.bytes);
  }

  /// Runs to the end, or until no tile can continue; returns the cycle of the last tile's end.
  Cycle run() {
    for (cycle_ = Cycle(0); ended_ < tiles_.size() && !stuck(); cycle_ += Cycle(1)) {
      check(cycle_ < Cycle(kMostCycles), "stepper: stuck{}", states());
      do {
        do
          for (Tile& tile : tiles_) advance(tile);
        while (release_due());
      } while (move_ready() || end_transfers() || move_hosted() || end_hosted());
    }
    Cycle last;
    for (const Tile& tile : tiles_) last = std::max(last, tile.now());
    return last;
  }

  /// True if some tiles have not ended and no event will wake one.
  [[nodiscard]] bool stuck() const {
    return ended_ < tiles_.size() && ready_.empty() && hosted_.empty() && on_link_.empty() &&
           !(outside_ && outside_->next_event()) &&
           std::ranges::all_of(wakes_, [](Cycle at) { return at == kNever; }) &&
           std::ranges::all_of(release_, [](Cycle at) { return at == kNever; });
  }
  /// The wait reason of a stuck tile; empty if it has ended.
  [[nodiscard]] std::string waits_for(const Tile& tile) const {
    const Arrival& arrival = tile.arrival();
    if (arrival.kind == WaitReason::Kind::done) return {};
    if (arrival.kind == WaitReason::Kind::sync)
      return fmt::format("waiting at sync zone {} since cycle {} ({} of {} tiles arrived)",
                         arrival.zone, arrival.at.count(), arrived_[arrival.zone].tiles,
                         members_[arrival.zone]);
    std::string text = "in";
    for (const Address list : tile.awaited())
      for (const auto& [number, sides] : sides_)
        for (const Side& side : sides)
          if (side.tile == &tile && side.start.list == list) {
            text += text == "in" ? "" : ",";
            if (program::carrier_of(tile.sram(), list) == program::Carrier::host) {
              const std::size_t all = pieces_of(number).size();
              text += fmt::format(" transfer {} with the host, waiting for {} of {} tiles",
                                  stream(number).name, all - sides.size(), all);
              continue;
            }
            const std::uint32_t all =
                fabric::ListView(tile.id(), tile.sram(), list).header().participants;
            text += fmt::format(" exchange {}, waiting for {} of {} participants", number,
                                all - sides.size(), all);
          }
    return text + fmt::format(" since cycle {}", arrival.at.count());
  }

  /// Bytes sent to the host by transfers with that name.
  [[nodiscard]] const std::vector<std::byte>& written(const std::string& name) {
    return written_[name];
  }

  [[nodiscard]] const std::vector<Tile>& tiles() const { return tiles_; }
  [[nodiscard]] std::span<const std::byte> bytes(TileId tile) const { return sram_.tile(tile); }

 private:
  static constexpr std::uint64_t kMostCycles = 1'000'000;
  static constexpr Cycle kNever{UINT64_MAX};

  void load(const Program& program, const program::Images& images, TileId tile) {
    const program::TileImage& image = images.tiles[index(tile)];
    const std::span<std::byte> sram = sram_.tile(tile);
    std::ranges::copy(image.code->bytes, sram.begin());
    for (const program::Segment& segment : image.segments)
      std::ranges::copy(segment.bytes, sram.begin() + segment.address.count());
    for (const program::BufferId id : image.initialised) {
      const program::Buffer& buffer = program.buffer(id);
      buffer.fill(
          sram.subspan(images.buffer_address[static_cast<std::size_t>(id)].count(), buffer.bytes),
          0);
    }
    TileSettings& settings = *settings_.emplace_back(std::make_unique<TileSettings>());
    settings.tile = tile_of(config_, index(tile));
    settings.max_cycles = Cycle(kMostCycles);
    settings.sync_zones = program.zones();
    settings.clock_ghz = config_.clock_ghz;
    if (workers_start_transfers(config_)) settings.external = config_.external;
    programs_.push_back(
        std::make_unique<TileProgram>(image.code, settings.tile, engine::CodeCounts{}));
    tiles_.emplace_back(settings, *programs_.back(), tile, sram.data());
  }
  std::uint32_t& members(std::uint32_t zone) {
    members_.resize(std::max<std::size_t>(members_.size(), zone + std::size_t{1}));
    return members_[zone];
  }

  /// Advances the tile beyond this cycle unless it is blocked.
  void advance(Tile& tile) {
    Cycle& wakes = wakes_[index(tile.id())];
    while (wakes <= cycle_ && tile.now() <= cycle_) {
      engine::Session session;
      const Arrival& arrival = tile.run(session, cycle_);
      for (const Tile::Start& start : tile.started()) submit(tile, start);
      if (arrival.kind == WaitReason::Kind::horizon) continue;
      wakes = kNever;
      if (arrival.kind == WaitReason::Kind::done) ++ended_;
      if (arrival.kind == WaitReason::Kind::sync) arrive(arrival);
    }
  }

  [[nodiscard]] std::string states() const {
    std::string text;
    for (const Tile& tile : tiles_)
      text += fmt::format("\n  tile {}: state {} at {}, wakes {}, pc {}", index(tile.id()),
                          static_cast<int>(tile.arrival().kind), tile.now().count(),
                          wakes_[index(tile.id())].count(), tile.program().where(tile.pc()));
    return text;
  }

  struct Arrived {
    std::uint32_t tiles = 0;
    Cycle last;
    bool measured = false;
  };
  void arrive(const Arrival& arrival) {
    Arrived& zone = arrived_[arrival.zone];
    if (zone.tiles == members_[arrival.zone]) zone = {};
    zone.last = std::max(zone.last, arrival.at);
    zone.measured |= arrival.step != program::kNoStep;
    if (++zone.tiles == members_[arrival.zone])
      release_[arrival.zone] = zone.last + Cycle(config_.sync.chip_cycles);
  }
  /// Releases the zones that are due; false if none is due.
  bool release_due() {
    bool any = false;
    for (std::uint32_t zone = 0; zone < release_.size(); ++zone) {
      if (release_[zone] > cycle_) continue;
      any = true;
      release_[zone] = kNever;
      release(zone);
    }
    return any;
  }
  void release(std::uint32_t zone) {
    for (Tile& tile : tiles_) {
      const Arrival& arrival = tile.arrival();
      if (arrival.kind != WaitReason::Kind::sync || arrival.zone != zone) continue;
      tile.pass_barrier(cycle_, arrived_[zone].measured);
      wakes_[index(tile.id())] = cycle_;
    }
  }

  struct Side {
    Tile* tile;
    Tile::Start start;
  };
  void submit(Tile& tile, const Tile::Start& start) {
    const program::Carrier carrier = program::carrier_of(tile.sram(), start.list);
    if (carrier == program::Carrier::memory) {
      outside_->submit({tile.id(), start.at, tile.sram(), start.list});
      return;
    }
    if (carrier == program::Carrier::host) return submit_to_host(tile, start);
    const fabric::ListView list(tile.id(), tile.sram(), start.list);
    const std::uint32_t number = list.header().exchange;
    std::vector<Side>& sides = sides_[number];
    sides.push_back({&tile, start});
    if (sides.size() < list.header().participants) return;
    Cycle ready;
    for (const Side& side : sides) ready = std::max(ready, side.start.at);
    ready_.emplace(std::pair(ready, number), std::move(sides));
    sides_.erase(number);
  }

  [[nodiscard]] const program::HostStream& stream(std::uint32_t exchange) const {
    return *std::ranges::find(streams_, exchange, &program::HostStream::exchange);
  }
  /// The piece numbers of each participant.
  [[nodiscard]] std::map<TileId, std::vector<std::size_t>> pieces_of(std::uint32_t exchange) const {
    std::map<TileId, std::vector<std::size_t>> pieces;
    for (std::size_t i = 0; i < stream(exchange).tiles.size(); ++i)
      pieces[stream(exchange).tiles[i]].push_back(i);
    return pieces;
  }

  void submit_to_host(Tile& tile, const Tile::Start& start) {
    const program::TransferHeader header =
        program::read_host_list(tile.id(), tile.sram(), start.list).header;
    std::vector<Side>& sides = sides_[header.exchange];
    sides.push_back({&tile, start});
    if (sides.size() < pieces_of(header.exchange).size()) return;
    Hosted hosted{header.exchange, std::move(sides), {}, {}, {}, {}, {}};
    sides_.erase(header.exchange);
    for (const Side& side : hosted.sides) hosted.ready = std::max(hosted.ready, side.start.at);
    const std::uint64_t starts = starts_[header.exchange]++;
    const std::uint64_t turn =
        header.turns.first + header.turns.every * (starts - header.turns.skipped);
    if (starts >= header.turns.skipped && turn < header.turns.count) hosted.turn = turn;
    hosted_.emplace(std::pair(hosted.ready, header.exchange), std::move(hosted));
  }

  /// Puts ready transfers on the link, one after the other; false if none is ready.
  bool move_hosted() {
    bool any = false;
    while (!hosted_.empty() && hosted_.begin()->second.ready <= cycle_) {
      Hosted hosted = std::move(hosted_.extract(hosted_.begin()).mapped());
      const program::HostStream& its = stream(hosted.exchange);
      hosted.begin = hosted.done = hosted.ready;
      if (hosted.turn) {
        Bytes all;
        for (const program::HostPiece& piece : its.transfer.pieces) all += Bytes(piece.bytes);
        hosted.begin = std::max(hosted.ready, link_free_);
        link_free_ = hosted.done = hosted.begin + host_transfer_cycles(config_, all);
        hosted.sent = passed(hosted, false);
      }
      on_link_.push_back(std::move(hosted));
      any = true;
    }
    return any;
  }

  struct Hosted;
  /// The pieces' bytes in order: those in SRAM, or (`given`) the host's after writing them to SRAM.
  std::vector<std::byte> passed(const Hosted& hosted, bool given) {
    const program::HostStream& its = stream(hosted.exchange);
    std::vector<std::byte> all;
    std::map<TileId, std::uint32_t> entry;  // next entry in each tile's list
    for (std::size_t i = 0; i < its.tiles.size(); ++i) {
      const Side& side = *std::ranges::find_if(
          hosted.sides, [&](const Side& each) { return each.tile->id() == its.tiles[i]; });
      const program::HostList list =
          program::read_host_list(its.tiles[i], side.tile->sram(), side.start.list);
      const program::HostEntry at = list.entries[entry[its.tiles[i]]++];
      const std::span<std::byte> bytes = side.tile->sram().subspan(at.address, at.bytes);
      if (given) its.transfer.pieces[i].contents(bytes, *hosted.turn);
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }

  /// Reports host transfers that end in this cycle to their tiles; false if none does.
  bool end_hosted() {
    using Direction = program::HostTransfer::Direction;
    const auto is_done = [this](const Hosted& each) { return each.done <= cycle_; };
    const auto done = std::ranges::find_if(on_link_, is_done);
    if (done == on_link_.end()) return false;
    const Hosted hosted = *done;
    on_link_.erase(done);
    const program::HostStream& its = stream(hosted.exchange);
    if (hosted.turn && its.transfer.direction == Direction::read) passed(hosted, true);
    if (hosted.turn && its.transfer.direction == Direction::write) {
      std::vector<std::byte>& all = written_[its.name];
      all.insert(all.end(), hosted.sent.begin(), hosted.sent.end());
    }
    for (const Side& side : hosted.sides) {
      side.tile->deliver(
          side.start.list,
          {hosted.ready, hosted.begin, hosted.done, {}, {}, {}, program::Carrier::host});
      if (side.tile->arrival().kind == WaitReason::Kind::transfer && side.tile->goes_on())
        wakes_[index(side.tile->id())] = *side.tile->goes_on();
    }
    return true;
  }

  /// Reports external-memory transfers that end in this cycle to their tiles; false if none does.
  bool end_transfers() {
    if (!outside_) return false;
    HostThreads threads(1);
    const std::vector<fabric::Moved> done = outside_->advance(cycle_, threads);
    for (const fabric::Moved& moved : done) {
      const fabric::Participant& side = moved.participants.front();
      const fabric::Delivery& its = moved.tiles.front();
      check(its.done == cycle_, "stepper: a transfer that was done before");
      Tile& tile = tiles_[index(side.tile)];
      tile.deliver(
          side.list,
          {side.start, side.start, its.done, its.sent, its.received, {}, program::Carrier::memory});
      if (tile.arrival().kind == WaitReason::Kind::transfer && tile.goes_on())
        wakes_[index(tile.id())] = *tile.goes_on();
    }
    return !done.empty();
  }

  /// Moves the bytes of exchanges that are ready; false if none is.
  bool move_ready() {
    const auto end = ready_.upper_bound({cycle_, UINT32_MAX});
    const std::map<std::pair<Cycle, std::uint32_t>, std::vector<Side>> now(ready_.begin(), end);
    ready_.erase(ready_.begin(), end);
    for (const auto& [when, sides] : now) move(when.first, sides);
    return !now.empty();
  }

  void move(Cycle ready, const std::vector<Side>& sides) {
    const bool ideal = config_.fabric.kind == "ideal";
    Cycle begin = ready;
    for (const Side& side : sides)
      if (!ideal) begin = std::max(begin, free_[index(side.tile->id())]);
    std::vector<std::pair<std::byte*, std::vector<std::byte>>> writes;
    for (const Side& to : sides) {
      const fabric::ListView list(to.tile->id(), to.tile->sram(), to.start.list);
      Cycle end = begin + Cycle(config_.fabric.fixed_cycles);
      std::uint64_t sent = 0, received = 0;
      std::map<std::uint64_t, std::uint32_t> sending, receiving;  // number of streams by cycle
      const auto note = [&](std::uint32_t start, std::uint32_t bytes, auto& streams) {
        const std::uint64_t cycles = ceil_div(bytes, config_.fabric.send_bytes_per_cycle);
        const Cycle data = begin + Cycle(config_.fabric.fixed_cycles);
        if (ideal) return;
        end = std::max(end, data + Cycle(start + cycles));
        for (std::uint64_t at = start; at < start + cycles; ++at) ++streams[at];
      };
      for (std::uint32_t i = 0; i < list.header().sends; ++i) {
        note(list.send(i).start, list.send(i).length, sending);
        sent += list.send(i).length;
      }
      for (std::uint32_t i = 0; i < list.header().receives; ++i) {
        const fabric::ReceiveDescriptor receive = list.receive(i);
        note(receive.start, receive.length, receiving);
        received += receive.length;
        writes.emplace_back(to.tile->sram().data() + receive.address, sent_bytes(sides, receive));
      }
      check_ports(*to.tile, sending, PortConfig::Direction::send);
      check_ports(*to.tile, receiving, PortConfig::Direction::receive);
      free_[index(to.tile->id())] = end;
      to.tile->deliver(to.start.list, {ready, begin, end, Bytes(sent), Bytes(received)});
      if (to.tile->arrival().kind == WaitReason::Kind::transfer && to.tile->goes_on())
        wakes_[index(to.tile->id())] = *to.tile->goes_on();
    }
    for (const auto& [at, bytes] : writes) std::memcpy(at, bytes.data(), bytes.size());
  }

  void check_ports(const Tile& tile, const std::map<std::uint64_t, std::uint32_t>& streams,
                   PortConfig::Direction direction) const {
    std::uint32_t ports = 1;
    for (const NodeConfig& node : config_.nodes)
      if (&node == class_of(config_, index(tile.id())) && !node.ports.empty()) {
        ports = 0;
        for (const PortConfig& port : node.ports)
          if (port.direction == direction)
            ports += port.count * port.bytes_per_cycle / config_.fabric.send_bytes_per_cycle;
      }
    for (const auto& [cycle, count] : streams)
      check(count <= ports, "stepper: tile {}: {} streams on {} ports at cycle {}",
            index(tile.id()), count, ports, cycle);
  }

  static std::vector<std::byte> sent_bytes(const std::vector<Side>& sides,
                                           const fabric::ReceiveDescriptor& receive) {
    for (const Side& from : sides) {
      if (index(from.tile->id()) != fabric::source_of(receive)) continue;
      const fabric::ListView list(from.tile->id(), from.tile->sram(), from.start.list);
      std::uint32_t lane = 0;
      for (std::uint32_t i = 0; i < list.header().sends; ++i) {
        const fabric::SendDescriptor send = list.send(i);
        if (send.start != receive.start || lane++ != fabric::lane_of(receive)) continue;
        const auto bytes = from.tile->sram().subspan(send.address, send.length);
        return {bytes.begin(), bytes.end()};
      }
    }
    throw Defect("stepper: nothing is sent");
  }

  MachineConfig config_;
  Sram sram_;
  std::vector<std::unique_ptr<TileSettings>> settings_;
  std::vector<std::unique_ptr<TileProgram>> programs_;
  std::vector<Tile> tiles_;
  std::vector<Cycle> wakes_;  ///< by tile: the cycle in which it continues
  std::vector<std::uint32_t> members_;
  std::vector<Arrived> arrived_;
  std::vector<Cycle> release_;  ///< by zone
  std::map<std::uint32_t, std::vector<Side>> sides_;
  std::map<std::pair<Cycle, std::uint32_t>, std::vector<Side>> ready_;
  std::vector<Cycle> free_;
  std::unique_ptr<ExternalMemory> outside_;  ///< null without external memory
  struct Hosted {
    std::uint32_t exchange;
    std::vector<Side> sides;
    std::optional<std::uint64_t> turn;  ///< nothing: it moves no bytes
    Cycle ready, begin, done;
    std::vector<std::byte> sent = {};
  };
  std::vector<program::HostStream> streams_;
  std::map<std::uint32_t, std::uint64_t> starts_;  ///< by exchange
  std::map<std::pair<Cycle, std::uint32_t>, Hosted> hosted_;
  std::vector<Hosted> on_link_;
  Cycle link_free_;
  std::map<std::string, std::vector<std::byte>> written_;
  Cycle cycle_;
  std::size_t ended_ = 0;
};

}  // namespace tessera::sample
