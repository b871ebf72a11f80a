#include "models/chip/chip.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "models/energy/area.h"
#include "sim/base/errors.h"

namespace tessera {
namespace {

// Large enough to hide the hand-out of pieces, small enough to level uneven tiles.
constexpr std::size_t kMostTilesAPiece = 64;
constexpr std::size_t kPiecesAThread = 32;
constexpr std::size_t kTilesAhead = 8;  // brought into the host's cache: some 150 ns before

/// Distances are asked for by the energy table alone.
fabric::Floorplan plan_of(const MachineConfig& machine) {
  return machine.has_energy ? energy::floorplan(machine) : fabric::Floorplan{};
}

}  // namespace

Chip::Chip(const sc_core::sc_module_name& name, const Config& config, const program::Images& images,
           const TileSettings& settings, HostThreads& threads)
    : sc_module(name),
      socket("socket"),
      host("host"),
      config_(config),
      settings_(settings),
      threads_(threads),
      clock_(config.machine.clock_ghz),
      sram_(config.machine.tiles, config.machine.tile.sram_kib * 1024),
      begin_("begin"),
      ended_event_("ended"),
      sync_("sync", {{config.machine.tiles, Cycle(config.machine.sync.chip_cycles)}}),
      fabric_("fabric", fabric::make_fabric(config.machine.fabric, plan_of(config.machine))),
      steps_(images.steps),
      ledger_(steps_),
      recordings_({config.tile_steps, settings.count_activity, config.trace}, config.machine.tiles),
      zones_(sync_.zones()) {
  if (!config.measure_host)
    for (program::StepInfo& step : steps_) step.measured &= step.transfer == nullptr;
  make_programs(images);
  make_tiles(images);
  socket.register_b_transport(this, &Chip::b_transport);
  socket.register_transport_dbg(this, &Chip::transport_dbg);
  socket.register_get_direct_mem_ptr(this, &Chip::get_direct_mem_ptr);
  SC_HAS_PROCESS(Chip);
  SC_METHOD(advance);
  for (std::size_t zone = 0; zone < sync_.zones(); ++zone) sensitive << sync_.released(zone);
  sensitive << begin_ << fabric_.done;
  dont_initialize();
}

void Chip::make_programs(const program::Images& images) {
  for (const program::TileImage& image : images.tiles) {
    std::unique_ptr<TileProgram>& program = programs_[image.code.get()];
    if (!program)
      program = std::make_unique<TileProgram>(
          image.code, settings_.tile,
          engine::CodeCounts{settings_.count_activity, settings_.profile});
  }
}

void Chip::make_tiles(const program::Images& images) {
  const std::uint32_t count = config_.machine.tiles;
  check(images.tiles.size() == count, "chip: {} images for {} tiles", images.tiles.size(), count);
  tiles_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const TileId tile{i};
    tiles_.emplace_back(settings_, *programs_.at(images.tiles[i].code.get()), tile,
                        sram_.tile(tile).data());
    recordings_.follow(tiles_.back());
  }
}

/// The one process. SystemC must not see our exceptions: it would wrap them in its own.
void Chip::advance() {
  if (failure_) return;
  try {
    step();
  } catch (...) {
    failure_ = std::current_exception();
    ended_event_.notify(sc_core::SC_ZERO_TIME);
  }
}

/// Releases what is due at the earliest cycle; later cycles of the same time follow apart.
void Chip::step() {
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  if (started_) {
    const std::optional<Cycle> due = next_release();
    if (!due || clock_.time(*due) > now) return;
    for (std::size_t zone = 0; zone < zones_.size(); ++zone)
      if (zones_[zone].pending && zones_[zone].at == *due) release_zone(zone);
    release_exchanges(*due);
  } else {
    clock_.start(ledger_.start(), now);
    start_tiles();
  }
  const std::optional<Cycle> next = next_release();
  if (next && clock_.time(*next) <= now) begin_.notify(sc_core::SC_ZERO_TIME);
  if (!next && ended_ < tiles_.size()) throw nothing_releases();
}

std::optional<Cycle> Chip::next_release() const {
  std::optional<Cycle> next;
  for (const ZoneRelease& zone : zones_)
    if (zone.pending && (!next || zone.at < *next)) next = zone.at;
  const auto& waiting = fabric_.waiting;
  if (!waiting.empty() && (!next || waiting.begin()->first < *next)) next = waiting.begin()->first;
  return next;
}

void Chip::start() {
  if (started_) {
    for (Tile& tile : tiles_) tile.restart(ledger_.start());
    started_ = false;
    ended_ = 0;
  }
  begin_.notify(sc_core::SC_ZERO_TIME);
}

void Chip::start_tiles() {
  started_ = true;
  all_.resize(tiles_.size());
  for (std::uint32_t i = 0; i < all_.size(); ++i) all_[i] = TileId{i};
  run_ahead(all_, [](Tile&) {});
}

void Chip::release_zone(std::size_t zone) {
  const ZoneRelease release = zones_[zone];
  zones_[zone].pending = false;
  const auto resume = [&](Tile& tile) { tile.pass_barrier(release.at, release.measured); };
  if (sync_.barrier(zone).members() == tiles_.size()) return run_ahead(all_, resume);
  std::vector<TileId> released;
  for (const TileId tile : all_)
    if (arrival(tile).kind == Standing::Kind::sync && arrival(tile).zone == zone)
      released.push_back(tile);
  run_ahead(released, resume);
}

void Chip::release_exchanges(Cycle due) {
  std::vector<TileId> released;
  auto& waiting = fabric_.waiting;
  while (!waiting.empty() && waiting.begin()->first <= due) {
    const std::vector<TileId>& tiles = waiting.begin()->second;
    released.insert(released.end(), tiles.begin(), tiles.end());
    waiting.erase(waiting.begin());
  }
  std::ranges::sort(released);
  if (!released.empty()) run_ahead(released, [](Tile&) {});
  if (!waiting.empty()) notify_at(fabric_.done, waiting.begin()->first);
}

/// Runs the tiles of the batch until each needs others; `resume` first lets each go on.
template <class Resume>
void Chip::run_ahead(std::span<const TileId> batch, Resume resume) {
  std::vector<TileId> shuffled;
  if (config_.shuffle != 0) {
    shuffled.assign(batch.begin(), batch.end());
    std::shuffle(shuffled.begin(), shuffled.end(),
                 std::mt19937_64(config_.shuffle + ledger_.supersteps()));
    batch = shuffled;
  }
  const std::size_t wanted = kPiecesAThread * threads_.count();
  const std::size_t grain = std::clamp<std::size_t>(batch.size() / wanted, 1, kMostTilesAPiece);
  pieces_.resize(ceil_div(batch.size(), grain));
  threads_.for_ranges(pieces_.size(), 1, [&](std::size_t begin, std::size_t end) {
    engine::Session session;
    for (std::size_t i = begin; i < end; ++i)
      run_piece(batch.subspan(i * grain, std::min(grain, batch.size() - i * grain)), i, session,
                resume);
  });
  settle();
}

template <class Resume>
void Chip::run_piece(std::span<const TileId> tiles, std::size_t number, engine::Session& session,
                     Resume& resume) {
  Piece& piece = pieces_[number];
  ArrivalGroup group;
  piece.apart.clear();
  const Cycle start = ledger_.start();
  std::uint64_t advanced = 0;  // cycles of all these tiles
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (i + kTilesAhead < tiles.size()) tiles_[index(tiles[i + kTilesAhead])].prefetch();
    Tile& tile = tiles_[index(tiles[i])];
    tile.expect(i + 1 < tiles.size() ? &tiles_[index(tiles[i + 1])] : nullptr);
    if (config_.progress != nullptr) advanced -= tile.now().count();
    resume(tile);
    const Arrival& arrival = tile.run(session);
    if (config_.progress != nullptr) advanced += tile.now().count();
    recordings_.arrived(tiles[i], arrival);
    if (arrival.kind == Standing::Kind::sync && !arrival.started_exchange && group.fits(arrival))
      group.add(tiles[i], arrival, start);
    else
      piece.apart.push_back(tiles[i]);
  }
  piece.group = group;
  if (config_.progress != nullptr) config_.progress->tile_cycles += advanced;
}

void Chip::notify_at(sc_core::sc_event& event, Cycle cycle) const {
  if (cycle > clock_.last())
    throw stuck(fmt::format("the run passed cycle {}, the last that simulated time can express",
                            clock_.last().count()));
  const sc_core::sc_time time = clock_.time(cycle);
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  check(time >= now, "chip: an event at cycle {} lies in the past", cycle.count());
  event.notify(time - now);
}

void Chip::add_stalls(RunResult& result) const {
  std::map<std::string, Stalls> codelets;
  result.stalls.resize(tiles_.size());
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const Workers* const workers = tiles_[i].workers();
    if (workers == nullptr) continue;
    for (const Workers::CodeletStalls& each : workers->stalls()) {
      result.stalls[i] += each.measured;
      codelets[tiles_[i].program().name_of(each.pc)] += each.measured;
    }
  }
  result.codelet_stalls.assign(codelets.begin(), codelets.end());
}

std::vector<report::ProfiledFunction> Chip::profile() const {
  std::vector<report::ProfiledFunction> functions;
  std::set<const TileProgram*> seen;
  for (const Tile& tile : tiles_)  // in their order: nobody sees that of addresses of the host
    if (seen.insert(&tile.program()).second) report::add(functions, tile.program().profile());
  return functions;
}

RunResult Chip::result() const {
  RunResult result = ledger_.totals();
  result.tiles.reserve(tiles_.size());
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const TileRecord& record = tiles_[i].statistics();
    result.max_tile_sent = std::max(result.max_tile_sent, record.sent);
    result.max_tile_received = std::max(result.max_tile_received, record.received);
    result.tiles.push_back(record);
  }
  add_stalls(result);
  recordings_.add_to(result);
  return result;
}

}  // namespace tessera
