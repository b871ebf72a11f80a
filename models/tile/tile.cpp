#include "models/tile/tile.h"

#include <algorithm>

#include "models/fabric/descriptor.h"
#include "models/tile/tile_fault.h"
#include "sim/machine/nodes.h"

namespace tessera {

Tile::Tile(const TileSettings& settings, const TileProgram& program, TileId id, std::byte* sram)
    : settings_(&settings),
      program_(&program),
      memory_{sram, static_cast<std::uint32_t>(memory_bytes(settings.tile)), program.code_bytes(),
              nullptr} {
  supervisor_.tile = index(id);
  supervisor_.workers = settings.tile.contexts;
  supervisor_.pc = program.image().entry.count();
  arrival_.step = program.step_of(supervisor_.pc);
  if (shares_pipeline(settings.tile))
    pipeline_ = std::make_unique<SharedPipeline>(
        settings.tile, program.supervisor().timing().branch_latency(),
        program.worker().profiled() ? &program.worker() : nullptr);
  if (settings.check_races) races_ = std::make_unique<RaceCheck>(settings.tile.contexts);
}

void Tile::restart(Cycle at) {
  wait_until(at);
  supervisor_.pc = program_->image().entry.count();
  arrival_.step = program_->step_of(supervisor_.pc);
  span_start_ = at;
  hosted_ = Cycle(0);
  if (script_ != nullptr && workers_) workers_->replay(script_);
}

[[gnu::always_inline]] inline engine::Exit Tile::run_supervisor(engine::Session& session) {
  if (pipeline_) [[unlikely]]
    return run_sharing(session);
  const Cycle end = std::min(settings_->max_cycles, horizon_);
  const std::uint64_t limit = (now() < end ? end - now() : Cycle(0)).count() + 1;
  if (!races_) return session.run(program_->supervisor(), supervisor_, memory_, limit);
  return execute_supervisor(session, limit);
}

engine::Exit Tile::execute_supervisor(engine::Session& session, std::uint64_t limit) {
  if (!races_ || !races_->in_flight())
    return session.run(program_->supervisor(), supervisor_, memory_, limit);
  const engine::Exit exit = session.run_recording(program_->supervisor(), supervisor_, memory_,
                                                  limit, races_->supervisor_log());
  if (const auto conflict = races_->check_supervisor()) fail(exit, *conflict);
  return exit;
}

inline void Tile::arrive_at_sync(const engine::Exit& exit) {
  if (exit.operand[0] >= settings_->sync_zones)
    fail(exit, fmt::format("sync of zone {}, allowed 0 to {}", exit.operand[0],
                           settings_->sync_zones - 1));
  spend(settings_->tile.supervisor.plain_cycles);
  arrival_.kind = Arrival::Kind::sync;
  arrival_.zone = exit.operand[0];
  arrival_.sync_step = program_->step_of(exit.pc);
}

const Arrival& Tile::run(engine::Session& session, Cycle horizon) {
  horizon_ = horizon;
  arrival_.kind = Arrival::Kind::done;
  if (arrival_.started) [[unlikely]] {
    arrival_.started = false;
    started_.clear();
  }
  if (activity_ != nullptr) session.count_activity(&activity_->open.counts);
  if (waiting_for_exchange_) take_awaited();
  while (!past_limit_) {
    const engine::Exit exit = run_supervisor(session);
    if (exit.stop == engine::Stop::sync) {
      arrive_at_sync(exit);
      break;
    }
    if (!serve(exit, session)) break;
  }
  if (activity_ != nullptr) session.settle_activity();
  arrival_.at = now();
  if (log_ != nullptr && pipeline_) end_spans();
  if (arrival_.at > settings_->max_cycles) past_limit_ = true;
  if (past_limit_) arrival_.kind = Arrival::Kind::limit;
  arrival_.span.instructions = supervisor_.instructions - instructions_before_;
  arrival_.span.flops = supervisor_.flops - flops_before_;
  return arrival_;
}

/// Handles the supervisor's stop (except sync); false if the tile now needs others.
bool Tile::serve(const engine::Exit& exit, engine::Session& session) {
  using engine::Stop;
  const std::uint32_t step = program_->step_of(exit.pc);
  if (step != program::kNoStep) arrival_.step = step;
  switch (exit.stop) {
    case Stop::run:
      return launch(exit, session), true;
    case Stop::join:
      return join(exit, session), true;
    case Stop::load_weights:
      return load_weights(exit, session), true;
    case Stop::exchange_start:
      spend(settings_->tile.supervisor.plain_cycles);
      return start_exchange(exit), true;
    case Stop::exchange_wait:
      spend(settings_->tile.supervisor.plain_cycles);
      arrival_.kind = Arrival::Kind::transfer;
      return wait_for_exchange(exit);
    case Stop::end_worker:
      if (workers_) wait_until(workers_free_at(session));
      if (!flights_.empty()) fail(exit, "ends before it has waited for an exchange");
      arrival_.kind = Arrival::Kind::done;
      return false;
    case Stop::limit:
      arrival_.kind = Arrival::Kind::horizon;
      return false;
    case Stop::environment_call:
      fail(exit, "ecall, which only bare programs have");
    case Stop::read_cycle:
    case Stop::dma:
    case Stop::sync:
    case Stop::fault:
      break;
  }
  throw tile_fault(*program_, id(), context_name(engine::Role::supervisor, 0), exit);
}

void Tile::start_exchange(const engine::Exit& exit) {
  const Address list(exit.operand[0]);
  if (std::ranges::any_of(flights_,
                          [&](const Flight& flight) { return flight.start.list == list; }))
    fail(exit, "an exchange started again before it was waited for");
  started_.push_back({list, now(), span_start_, path(), hosted_});
  flights_.push_back({started_.back(), std::nullopt});
  arrival_.started = true;
  if (races_) guard_transfer(exit, list);
}

/// Adds the ranges that the streams of the list's next turn read and write.
void Tile::guard_streams(Address list, RaceCheck::Ranges& sources,
                         RaceCheck::Ranges& destinations) {
  const program::StreamList streams = program::read_stream_list(id(), sram(), list);
  const program::OuterTurn turn = program::turn_of(streams.header.turns, races_->count_start(list));
  if (!turn.moves) return;
  for (const program::StreamEntry& entry : streams.entries) {
    RaceCheck::Ranges& ranges = entry.outward != 0 ? sources : destinations;
    const auto own = [&](std::uint64_t at) {
      const auto begin = static_cast<std::uint32_t>(at);
      if (!ranges.empty() && ranges.back().end == begin)
        ranges.back().end += entry.unit;
      else
        ranges.push_back({begin, begin + entry.unit});
    };
    program::walk_units(entry.extents, program::address_of(entry, turn), own, [] {});
  }
}

/// Makes the transfer own its descriptors' bytes from now to the wait.
void Tile::guard_transfer(const engine::Exit& exit, Address list) {
  RaceCheck::Ranges sources;
  RaceCheck::Ranges destinations;
  switch (program::carrier_of(sram(), list)) {
    case program::Carrier::memory: {
      // The list owns all its ranges, whatever this turn moves.
      const program::OuterListView outer(id(), sram(), list);
      for (std::uint32_t i = 0; i < outer.header().entries; ++i) {
        const program::OuterEntry entry = outer.entry(i);
        (entry.outward != 0 ? sources : destinations)
            .push_back({entry.local, entry.local + entry.rows * entry.row_bytes});
      }
      break;
    }
    case program::Carrier::host: {
      const program::HostList host = program::read_host_list(id(), sram(), list);
      for (const program::HostEntry& entry : host.entries)
        (host.outward() ? sources : destinations)
            .push_back({entry.address, entry.address + entry.bytes});
      break;
    }
    case program::Carrier::fabric: {
      if (settings_->streams) {
        guard_streams(list, sources, destinations);
        break;
      }
      const fabric::ListView view(id(), sram(), list);
      for (std::uint32_t i = 0; i < view.header().sends; ++i) {
        const fabric::SendDescriptor send = view.send(i);
        sources.push_back({send.address, send.address + send.length});
      }
      for (std::uint32_t i = 0; i < view.header().receives; ++i) {
        const fabric::ReceiveDescriptor receive = view.receive(i);
        destinations.push_back({receive.address, receive.address + receive.length});
      }
    }
  }
  if (const auto conflict = races_->begin_transfer(list, sources, destinations))
    fail(exit, *conflict);
}

bool Tile::wait_for_exchange(const engine::Exit& exit) {
  arrival_.list = Address(exit.operand[0]);
  if (std::ranges::none_of(flights_, [this](const Flight& flight) { return awaits(flight); }))
    fail(exit, "wait without an exchange started");
  waiting_for_exchange_ = true;
  if (!goes_on()) return false;
  take_awaited();
  return true;
}

void Tile::deliver(Address list, const Delivered& delivered) {
  const auto flight = std::ranges::find_if(
      flights_, [list](const Flight& each) { return each.start.list == list; });
  check(flight != flights_.end() && !flight->delivered,
        "tile {}: a delivery that it does not wait for", index(id()));
  flight->delivered = delivered;
  exchanged_ = true;
  if (delivered.carrier == program::Carrier::memory)
    external_ += delivered.sent + delivered.received;
  if (delivered.carrier != program::Carrier::fabric) return;
  sent_ += delivered.sent;
  received_ += delivered.received;
}

std::optional<Cycle> Tile::goes_on() const {
  Cycle at = now();
  for (const Flight& flight : flights_) {
    if (!awaits(flight)) continue;
    if (!flight.delivered) return std::nullopt;
    at = std::max(at, flight.delivered->done);
  }
  return at;
}

std::vector<Address> Tile::awaited() const {
  std::vector<Address> lists;
  for (const Flight& flight : flights_)
    if (awaits(flight) && !flight.delivered) lists.push_back(flight.start.list);
  return lists;
}

/// Blocks until the awaited transfers are done, one after another: first until bytes move, then
/// until they have arrived.
void Tile::take_awaited() {
  waiting_for_exchange_ = false;
  exchanged_ = true;
  for (;;) {
    auto first = flights_.end();
    for (auto flight = flights_.begin(); flight != flights_.end(); ++flight)
      if (awaits(*flight) &&
          (first == flights_.end() || flight->delivered->done < first->delivered->done))
        first = flight;
    if (first == flights_.end()) return;
    take(*first->delivered);
    if (races_) races_->end_transfer(first->start.list);
    flights_.erase(first);
  }
}

void Tile::take(const Delivered& delivered) {
  const Cycle from = now();
  const Cycle done = std::max(from, delivered.done);
  const Cycle ready = std::clamp(delivered.ready, from, done);
  const Cycle moving = std::clamp(delivered.begin, from, done);
  wait_until(done);
  arrival_.span.wait += moving - from;
  arrival_.span.exchange += done - moving;
  const Cycle waits = from - Cycle(settings_->tile.supervisor.plain_cycles);  // before the wait
  arrival_.span.overlapped += std::clamp(waits, delivered.begin, delivered.done) - delivered.begin;
  if (ready > from && delivered.last.barrier == span_start_) {
    path_ = delivered.last.path;
  } else {
    const Cycle behind_host =
        std::min(ready - from, std::max(hosted_, delivered.last.hosted) - hosted_);
    path_.host += behind_host;
    path_.wait += ready - from - behind_host;
  }
  hosted(delivered.hosted);
  path_.ports += moving - ready;
  if (delivered.carrier == program::Carrier::host) {
    path_.host += done - moving;
    hosted_ += done - moving;
  } else {
    path_.exchange += done - moving;
  }
  if (delivered.carrier == program::Carrier::memory) path_.external += done - moving;
  if (log_ != nullptr && done > from)
    log_->blocked.push_back({from, moving, done, delivered.carrier});
}

const Tile::Start& Tile::start_of(Address list) const {
  return std::ranges::find_if(flights_,
                              [list](const Flight& each) { return each.start.list == list; })
      ->start;
}

void Tile::pass_barrier(Cycle release, bool measured) {
  const Cycle arrived = now();
  close_span(arrived, measured);
  wait_until(release);
  if (measured) record_.sync += release - arrived;
  span_start_ = release;
  supervisor_.superstep += 1;
  arrival_.step = arrival_.sync_step;
}

void Tile::profile(bool on) {
  supervisor_.profiled = on;
  if (pipeline_) pipeline_->profile(on);
}

void Tile::finish(bool measured) { close_span(now(), measured); }

void Tile::close_span(Cycle until, bool measured) {
  if (measured) {
    record_.compute += until - span_start_;
    record_.instructions += arrival_.span.instructions;
    record_.flops += arrival_.span.flops;
  }
  if (dma_) {
    if (measured) record_.external += arrival_.span.read + arrival_.span.written;
    arrival_.span.read = arrival_.span.written = Bytes(0);
  }
  if (exchanged_) close_exchanges(measured);
  if (activity_ != nullptr) activity_->close(measured);
  if (workers_) workers_->close_stalls(measured);
  instructions_before_ = supervisor_.instructions;
  flops_before_ = supervisor_.flops;
}

void Tile::close_exchanges(bool measured) {
  const Cycle blocked = arrival_.span.exchange + arrival_.span.wait;
  if (measured) {
    record_.compute -= blocked;
    record_.exchange += blocked;
    record_.sent += sent_;
    record_.received += received_;
    record_.external += external_;
  }
  arrival_.span = {};
  path_ = {};
  sent_ = received_ = external_ = Bytes(0);
  exchanged_ = false;
}

void Tile::wait_until(Cycle time) {
  if (time > now()) supervisor_.base_cycle += (time - now()).count();
}

void Tile::fail(const engine::Exit& exit, const std::string& problem) const {
  throw tile_fault(*program_, id(), context_name(engine::Role::supervisor, 0), exit.pc, problem);
}

}  // namespace tessera
