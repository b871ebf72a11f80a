#include "models/chip/tile_array.h"

#include <algorithm>
#include <random>
#include <set>

#include "sim/base/errors.h"
#include "sim/program/transfer_list.h"

namespace tessera {
namespace {

// Pieces large enough to amortise their dispatch, small enough to balance uneven tiles.
constexpr std::size_t kMostTilesAPiece = 64;
constexpr std::size_t kPiecesAThread = 32;
constexpr std::size_t kTilesAhead = 8;  // prefetched into the host's cache, about 150 ns ahead

}  // namespace

TileArray::TileArray(const sc_core::sc_module_name& name, const Config& config,
                     const program::Images& images, const NodeSettings& settings, const Sram& sram,
                     Agenda& agenda, Accounts& accounts, HostThreads& threads)
    : sc_module(name),
      barriers("barriers"),
      transfers("transfers"),
      outside("outside"),
      host("host"),
      config_(config),
      settings_(settings),
      accounts_(accounts),
      threads_(threads),
      agenda_(agenda),
      alarm_(agenda, Agenda::tiles, "runs"),
      ended_of_zone_(accounts.zones().size()) {
  make_tiles(images, sram);
  SC_HAS_PROCESS(TileArray);
  SC_METHOD(go_on);
  sensitive << alarm_.event();
  dont_initialize();
}

void TileArray::make_tiles(const program::Images& images, const Sram& sram) {
  const std::uint32_t count = sram.tiles();
  check(images.tiles.size() == count, "chip: {} images for {} tiles", images.tiles.size(), count);
  tiles_.reserve(count);
  all_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::shared_ptr<const program::CodeImage>& code = images.tiles[i].code;
    const TileSettings& settings = settings_.of(TileId{i});
    std::unique_ptr<TileProgram>& program = programs_[{code.get(), &settings}];
    if (!program)
      program = std::make_unique<TileProgram>(
          code, settings.tile,
          engine::CodeCounts{settings.count_activity, settings.profile, settings.engine},
          settings.kind);
    tiles_.emplace_back(settings, *program, TileId{i}, sram.tile(TileId{i}).data());
    accounts_.recordings().follow(tiles_.back());
    all_.push_back(TileId{i});
  }
}

void TileArray::replay(const TimingProof& proof) {
  check(proof.kind_of.size() == tiles_.size(), "chip: a proof of another program");
  for (std::size_t i = 0; i < tiles_.size(); ++i)
    tiles_[i].replay(&proof.scripts[proof.kind_of[i]]);
}

void TileArray::begin(Cycle at) {
  if (begun_) {
    accounts_.begin_again();
    for (Tile& tile : tiles_) tile.restart(at);
    ended_ = 0;
    std::ranges::fill(ended_of_zone_, 0U);
  }
  begun_ = true;
  agenda_.begin();
  transfers->begin();
  host->begin();
  if (outside.size() > 0) outside->begin();
  batches_[at].begins = true;
  ring();
}

void TileArray::ring() {
  if (batches_.empty())
    alarm_.clear();
  else if (alarm_.cycle() != batches_.begin()->first)
    alarm_.set(batches_.begin()->first);
}

void TileArray::release(const Release& release) {
  batches_[release.at].releases.push_back(release);
  ring();
}

void TileArray::deliver(const fabric::Moved& moved) {
  const auto last = std::ranges::find(moved.participants, moved.ready, &fabric::Participant::start);
  const Tile::Start start = tiles_[index(last->tile)].start_of(last->list);
  Cycle hosted;
  if (accounts_.zones().size() > 1)  // a single zone has no others to wait for
    for (const fabric::Participant& side : moved.participants)
      hosted = std::max(hosted, tiles_[index(side.tile)].start_of(side.list).hosted);
  std::vector<TileId> waiting;
  std::optional<Cycle> first;
  for (std::size_t i = 0; i < moved.participants.size(); ++i) {
    const fabric::Participant& side = moved.participants[i];
    const fabric::Delivery& delivery = moved.tiles[i];
    Tile& tile = tiles_[index(side.tile)];
    const bool blocked = tile.arrival().kind == WaitReason::Kind::transfer && !tile.goes_on();
    // A transfer with external memory waits for no other participant: it begins when it is ready.
    const bool own = moved.carrier == program::Carrier::memory;
    tile.deliver(side.list, {moved.ready, own ? moved.ready : moved.begin, delivery.done,
                             delivery.sent, delivery.received, start, moved.carrier, hosted});
    const std::optional<Cycle> goes_on = blocked ? tile.goes_on() : std::nullopt;
    if (!goes_on) continue;
    waiting.push_back(side.tile);
    first = first ? std::min(*first, *goes_on) : *goes_on;
  }
  if (!first) return;
  std::vector<TileId>& tiles = batches_[*first].tiles;
  tiles.insert(tiles.end(), waiting.begin(), waiting.end());
  ring();
}

void TileArray::go_on() {
  agenda_.run([this] {
    while (alarm_.rings()) run_next();
  });
}

void TileArray::run_next() {
  auto next = batches_.extract(batches_.begin());
  const Cycle at = next.key();
  Batch& batch = next.mapped();
  const auto unchanged = [](Tile&) {};
  if (batch.begins) run_ahead(all_, at, unchanged);
  for (const Release& release : batch.releases) {
    share_hosted(release.zone);
    run_ahead(accounts_.zones()[release.zone], at, [&](Tile& tile) {
      tile.pass_barrier(release.at, release.measured);
      const std::uint32_t step = tile.arrival().step;
      if (tile.program().worker().profiled() && step < accounts_.steps().size())
        tile.profile(accounts_.steps()[step].measured);
    });
  }
  std::ranges::sort(batch.tiles);
  if (!batch.tiles.empty()) run_ahead(batch.tiles, at, unchanged);
  ring();
}

/// At a release every tile takes the zone's largest hosted time. Not needed with a single zone.
void TileArray::share_hosted(std::uint32_t zone) {
  const std::vector<TileId>& members = accounts_.zones()[zone];
  if (accounts_.zones().size() == 1 || members.size() == 1) return;
  Cycle most;
  for (const TileId member : members) most = std::max(most, tiles_[index(member)].hosted());
  for (const TileId member : members) tiles_[index(member)].hosted(most);
}

/// Runs each tile of the batch to its next interaction, after `resume` lets it continue.
template <class Resume>
void TileArray::run_ahead(std::span<const TileId> batch, Cycle at, Resume resume) {
  std::vector<TileId> shuffled;
  if (config_.shuffle != 0) {
    shuffled.assign(batch.begin(), batch.end());
    std::shuffle(shuffled.begin(), shuffled.end(),
                 std::mt19937_64(config_.shuffle + accounts_.supersteps()));
    batch = shuffled;
  }
  Cycle ahead = std::min(transfers->lookahead(), host->lookahead());
  if (outside.size() > 0) ahead = std::min(ahead, outside->lookahead());
  const Cycle horizon = ahead < Cycle(UINT64_MAX) - at ? at + ahead : Cycle(UINT64_MAX);
  const std::size_t wanted = kPiecesAThread * threads_.count();
  const std::size_t grain = std::clamp<std::size_t>(batch.size() / wanted, 1, kMostTilesAPiece);
  pieces_.resize(ceil_div(batch.size(), grain));
  threads_.for_ranges(pieces_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      run_piece(batch.subspan(i * grain, std::min(grain, batch.size() - i * grain)), horizon,
                pieces_[i], resume);
  });
  settle();
}

template <class Resume>
void TileArray::run_piece(std::span<const TileId> tiles, Cycle horizon, Piece& piece,
                          Resume& resume) {
  engine::Session session;
  ArrivalGroup group;
  piece.apart.clear();
  std::uint64_t advanced = 0;  // cycles of all these tiles
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (i + kTilesAhead < tiles.size()) tiles_[index(tiles[i + kTilesAhead])].prefetch();
    Tile& tile = tiles_[index(tiles[i])];
    tile.expect(i + 1 < tiles.size() ? &tiles_[index(tiles[i + 1])] : nullptr);
    if (config_.progress != nullptr) advanced -= tile.now().count();
    resume(tile);
    const Arrival& arrival = tile.run(session, horizon);
    if (config_.progress != nullptr) advanced += tile.now().count();
    accounts_.recordings().arrived(tiles[i], arrival);
    if (arrival.kind == WaitReason::Kind::sync && !arrival.started && group.fits(arrival) &&
        arrival.zone == accounts_.zone_of(tiles[i]))
      group.add(tiles[i], arrival, tile.path(), accounts_.start(arrival.zone));
    else
      piece.apart.push_back(tiles[i]);
  }
  piece.group = group;
  if (config_.progress != nullptr) config_.progress->tile_cycles += advanced;
}

/// Collects the batch's arrivals in an order that makes error messages independent of the pieces.
void TileArray::settle() {
  bool past_limit = false;
  for (const Piece& piece : pieces_)
    for (const TileId tile : piece.apart) {
      settle_apart(tile);
      past_limit |= arrival(tile).kind == WaitReason::Kind::limit;
    }
  if (past_limit) throw PastLimit{};
  for (const Piece& piece : pieces_) {
    if (piece.group.arrivals.tiles != 0) barriers->arrive(piece.group);
    for (const TileId tile : piece.apart)
      if (arrival(tile).kind == WaitReason::Kind::sync) barriers->arrive(alone(tile));
  }
}

void TileArray::settle_apart(TileId id) {
  const Tile& tile = tiles_[index(id)];
  if (tile.arrival().started)
    for (const Tile::Start& start : tile.started()) submit({id, start.at, tile.sram(), start.list});
  if (tile.arrival().kind == WaitReason::Kind::horizon)
    batches_[tile.arrival().at].tiles.push_back(id);
  if (tile.arrival().kind == WaitReason::Kind::done) end(id);
}

/// The transfer's list names its carrier.
void TileArray::submit(const fabric::Participant& side) {
  const program::Carrier carrier = program::carrier_of(side.sram, side.list);
  accounts_.recordings().submitted(side, carrier);
  if (carrier == program::Carrier::fabric) return transfers->submit(side);
  if (carrier == program::Carrier::host) return host->submit(side);
  if (outside.size() == 0)
    throw UserError(
        "tile {}: the list at {:#x} is of a transfer with external memory, the machine has none",
        index(side.tile), side.list.count());
  if (settings_.common().external)
    throw UserError(
        "tile {}: the list at {:#x} is of a transfer with external memory, which workers "
        "reach by themselves (machine.external.worker_dma)",
        index(side.tile), side.list.count());
  outside->submit(side);
}

/// Throws UserError if the tile waits at the barrier of another zone.
ArrivalGroup TileArray::alone(TileId tile) const {
  const std::uint32_t zone = accounts_.zone_of(tile);
  if (arrival(tile).kind == WaitReason::Kind::sync && arrival(tile).zone != zone)
    throw UserError("tile {}: sync of zone {}, it belongs to zone {}", index(tile),
                    arrival(tile).zone, zone);
  ArrivalGroup group;
  group.add(tile, arrival(tile), tiles_[index(tile)].path(), accounts_.start(zone));
  return group;
}

void TileArray::end(TileId tile) {
  const std::uint32_t zone = accounts_.zone_of(tile);
  ArrivalGroup group = alone(tile);
  group.zone = zone;
  accounts_.arrive(group);
  ++ended_;
  const std::vector<TileId>& members = accounts_.zones()[zone];
  if (++ended_of_zone_[zone] != members.size()) return;
  Cycle last;
  for (const TileId member : members) last = std::max(last, arrival(member).at);
  const bool measured = accounts_.close(zone, tiles_, last);
  for (const TileId member : members) tiles_[index(member)].finish(measured);
  if (ended_ == tiles_.size()) agenda_.end(accounts_.end());
}

std::vector<report::ProfiledFunction> TileArray::profile() const {
  std::vector<report::ProfiledFunction> functions;
  std::set<const TileProgram*> seen;
  for (const Tile& tile : tiles_)  // by tile: not in the order of host addresses
    if (seen.insert(&tile.program()).second) report::add(functions, tile.program().profile());
  return functions;
}

void TileArray::add_to(RunResult& result) const {
  std::map<std::string, Stalls> codelets;
  result.stalls.resize(tiles_.size());
  result.tiles.reserve(tiles_.size());
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const TileRecord& record = tiles_[i].statistics();
    result.max_tile_sent = std::max(result.max_tile_sent, record.sent);
    result.max_tile_received = std::max(result.max_tile_received, record.received);
    result.tiles.push_back(record);
    const Workers* const workers = tiles_[i].workers();
    if (workers == nullptr) continue;
    for (const Workers::CodeletStalls& each : workers->stalls()) {
      result.stalls[i] += each.measured;
      codelets[tiles_[i].program().name_of(each.pc)] += each.measured;
    }
  }
  result.codelet_stalls.assign(codelets.begin(), codelets.end());
}

}  // namespace tessera
