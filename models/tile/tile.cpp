#include "models/tile/tile.h"

#include <algorithm>
#include <cstring>

#include "models/fabric/descriptor.h"
#include "models/tile/tile_fault.h"

namespace tessera {
namespace {

constexpr std::uint32_t kAllWorkers = 0xffffffff;
constexpr std::uint32_t kWordBytes = 8;
constexpr std::size_t kNoSpan = ~std::size_t{0};

}  // namespace

Tile::Tile(const TileSettings& settings, const TileProgram& program, TileId id, std::byte* sram)
    : settings_(&settings),
      program_(&program),
      memory_{sram, settings.tile.sram_kib * 1024, program.code_bytes(), nullptr} {
  supervisor_.tile = index(id);
  supervisor_.workers = settings.tile.contexts;
  supervisor_.pc = program.image().entry.count();
  arrival_.step = program.step_of(supervisor_.pc);
  if (shares_pipeline(settings.tile))
    pipeline_ = std::make_unique<SharedPipeline>(settings.tile,
                                                 program.supervisor().timing().branch_latency());
  if (settings.check_races) races_ = std::make_unique<RaceCheck>(settings.tile.contexts);
}

void Tile::restart(Cycle at) {
  wait_until(at);
  supervisor_.pc = program_->image().entry.count();
  arrival_.step = program_->step_of(supervisor_.pc);
  span_start_ = at;
}

[[gnu::always_inline]] inline engine::Exit Tile::run_supervisor(engine::Session& session) {
  if (pipeline_) [[unlikely]]
    return run_sharing(session);
  const Cycle left = now() < settings_->max_cycles ? settings_->max_cycles - now() : Cycle(0);
  const std::uint64_t limit = left.count() + 1;
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

/// As one more context of a shared pipeline: it executes ahead, and its issues are merged with the
/// workers' to know when it got there.
engine::Exit Tile::run_sharing(engine::Session& session) {
  constexpr std::uint64_t kPiece = 1U << 16;  // keeps traces short
  const SharedPipeline::Context self = settings_->tile.contexts;
  const auto more = [&](SharedPipeline::Context context, Cycle at) {
    return context != self && workers_->go_on(context, at, worker_host(session));
  };
  for (;;) {
    const Cycle from = now();
    session.trace_issues(&pipeline_->trace(self));
    const engine::Exit exit = execute_supervisor(session, kPiece);
    pipeline_->start(self, from, false, more);
    const Cycle end = pipeline_->finish(self, more);
    supervisor_.base_cycle = end.count() - supervisor_.slots;
    if (workers_) take_work();
    if (exit.stop == engine::Stop::read_cycle)
      engine::Session::finish_cycle_read(program_->supervisor(), supervisor_,
                                         pipeline_->last_issue(self).count());
    else if (exit.stop != engine::Stop::limit || end > settings_->max_cycles)
      return exit;
  }
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

const Arrival& Tile::run(engine::Session& session) {
  arrival_.kind = Arrival::Kind::done;
  arrival_.started_exchange = false;
  if (activity_ != nullptr) session.count_activity(&activity_->open.counts);
  if (waiting_for_exchange_) take_exchange();
  while (!past_limit_) {
    const engine::Exit exit = run_supervisor(session);
    if (exit.stop == engine::Stop::sync) {
      arrive_at_sync(exit);
      break;
    }
    if (!serve(exit, session)) break;
  }
  arrival_.at = now();
  if (log_ != nullptr && pipeline_) end_spans();
  if (arrival_.at > settings_->max_cycles) past_limit_ = true;
  if (past_limit_) arrival_.kind = Arrival::Kind::limit;
  arrival_.span.instructions = supervisor_.instructions - instructions_before_;
  arrival_.span.flops = supervisor_.flops - flops_before_;
  return arrival_;
}

/// Does what the supervisor stopped for (but sync); false if the tile now needs others.
bool Tile::serve(const engine::Exit& exit, engine::Session& session) {
  using engine::Stop;
  const std::uint32_t step = program_->step_of(exit.pc);
  if (step != program::kNoStep) arrival_.step = step;
  switch (exit.stop) {
    case Stop::run:
      return launch(exit, session), true;
    case Stop::join:
      return join(session), true;
    case Stop::load_weights:
      return load_weights(exit, session), true;
    case Stop::exchange_start:
      spend(settings_->tile.supervisor.plain_cycles);
      return start_exchange(exit), true;
    case Stop::exchange_wait:
      spend(settings_->tile.supervisor.plain_cycles);
      arrival_.kind = Arrival::Kind::exchange_wait;
      return wait_for_exchange(exit);
    case Stop::end_worker:
      if (workers_) wait_until(workers_free_at(session));
      arrival_.kind = Arrival::Kind::done;
      return false;
    case Stop::limit:
      past_limit_ = true;
      return false;
    case Stop::environment_call:
      fail(exit, "ecall, which only bare programs have");
    case Stop::read_cycle:
    case Stop::sync:
    case Stop::fault:
      break;
  }
  throw tile_fault(*program_, id(), context_name(engine::Role::supervisor, 0), exit);
}

void Tile::launch(const engine::Exit& exit, engine::Session& session) {
  const std::uint32_t worker = exit.operand[2];
  const std::uint32_t count = settings_->tile.contexts;
  make_workers();
  if (worker != kAllWorkers && worker >= count)
    fail(exit, fmt::format("run of worker {}, allowed 0 to {} or -1", worker, count - 1));
  wait_until(worker == kAllWorkers ? workers_free_at(session) : worker_free_at(worker, session));
  spend(settings_->tile.supervisor.launch_cycles);
  const Cycle start = now();
  if (worker != kAllWorkers) return start_worker(worker, exit, start, session);
  const Cycle stagger(settings_->tile.supervisor.launch_stagger_cycles);
  for (std::uint32_t i = 0; i < count; ++i) start_worker(i, exit, start + stagger * i, session);
}

void Tile::start_worker(std::uint32_t worker, const engine::Exit& exit, Cycle at,
                        engine::Session& session) {
  workers_->start({worker, exit.operand[0], exit.operand[1], supervisor_.superstep, at},
                  worker_host(session));
  take_work();
  if (log_ != nullptr && log_->wants_workers) {
    open_spans_[worker] = log_->workers.size();
    log_->workers.push_back({at, at, worker, exit.operand[0]});
    if (!pipeline_) worker_free_at(worker, session);
  }
  if (settings_->tile.issue == "single") wait_until(worker_free_at(worker, session));
}

/// When the worker has ended; the trace hears of it.
Cycle Tile::worker_free_at(std::uint32_t worker, engine::Session& session) {
  const Cycle end = workers_->free_at(worker, worker_host(session));
  take_work();
  if (open_spans_[worker] != kNoSpan)
    log_->workers[std::exchange(open_spans_[worker], kNoSpan)].end = end;
  return end;
}

/// A trace hears of a superstep once: of workers that go on beyond it, until now.
void Tile::end_spans() {
  for (std::size_t& span : open_spans_)
    if (span != kNoSpan) log_->workers[std::exchange(span, kNoSpan)].end = now();
}

Cycle Tile::workers_free_at(engine::Session& session) {
  if (!pipeline_) return workers_->all_free_at(worker_host(session));
  Cycle end;
  for (std::uint32_t worker = 0; worker < workers_->count(); ++worker)
    end = std::max(end, worker_free_at(worker, session));
  return end;
}

/// What workers have executed since is the tile's.
void Tile::take_work() {
  const Workers::Work work = workers_->take_work();
  instructions_before_ -= work.instructions;
  flops_before_ -= work.flops;
  if (!work.within_limit) past_limit_ = true;
}

void Tile::join(engine::Session& session) {
  if (workers_) wait_until(workers_free_at(session));
  if (races_) races_->end_window();
  spend(settings_->tile.supervisor.join_cycles);
}

void Tile::load_weights(const engine::Exit& exit, engine::Session& session) {
  const auto [address, first, words] = exit.operand;
  Workers& workers = make_workers();
  if (workers.busy_at(now(), worker_host(session))) fail(exit, "ldcw while workers run");
  const std::uint64_t bytes = std::uint64_t{words} * kWordBytes;
  if (address % kWordBytes != 0)
    fail(exit, fmt::format("misaligned access at address {:#x}", address));
  if (address + bytes > memory_.size)
    fail(exit, fmt::format("access outside SRAM at address {:#x}", address));
  if (first + words > workers.weights().size()) fail(exit, "ldcw beyond the last weight word");
  std::memcpy(&workers.weights()[first], memory_.bytes + address, bytes);
  if (activity_ != nullptr)
    activity_->open.counts[isa::index(isa::Activity::bytes_loaded)] += bytes;
  const std::uint64_t rate = settings_->tile.matrix_unit.weight_load_bytes_per_cycle;
  spend(settings_->tile.supervisor.weight_load_cycles + ceil_div(bytes, rate));
}

void Tile::start_exchange(const engine::Exit& exit) {
  if (exchange_ != ExchangeState::none)
    fail(exit, "exchange started before the one before was waited for");
  exchange_ = ExchangeState::started;
  arrival_.started_exchange = true;
  arrival_.list = exit.operand[0];
  arrival_.list_start = now();
  if (races_) guard_transfer(exit, arrival_.list);
}

/// From now to the wait, the transfer owns the bytes that its descriptors name.
void Tile::guard_transfer(const engine::Exit& exit, std::uint32_t list) {
  const fabric::ListView view(id(), {memory_.bytes, memory_.size}, Address(list));
  RaceCheck::Ranges sources;
  RaceCheck::Ranges destinations;
  for (std::uint32_t i = 0; i < view.header().sends; ++i) {
    const fabric::SendDescriptor send = view.send(i);
    sources.push_back({send.address, send.address + send.length});
  }
  for (std::uint32_t i = 0; i < view.header().receives; ++i) {
    const fabric::ReceiveDescriptor receive = view.receive(i);
    destinations.push_back({receive.address, receive.address + receive.length});
  }
  if (const auto conflict = races_->begin_transfer(sources, destinations)) fail(exit, *conflict);
}

bool Tile::wait_for_exchange(const engine::Exit& exit) {
  if (exchange_ == ExchangeState::none) fail(exit, "wait without an exchange started");
  waiting_for_exchange_ = true;
  if (exchange_ == ExchangeState::started) return false;
  take_exchange();
  return true;
}

void Tile::complete_exchange(Cycle begin, Cycle done, Bytes sent, Bytes received) {
  exchange_ = ExchangeState::complete;
  exchange_begin_ = begin;
  exchange_done_ = done;
  exchanged_ = true;
  sent_ += sent;
  received_ += received;
}

/// Blocks until the exchange is done: first for the other ends to start, then for the bytes.
void Tile::take_exchange() {
  const Cycle from = now();
  const Cycle moving = std::clamp(exchange_begin_, from, std::max(from, exchange_done_));
  wait_until(exchange_done_);
  exchanged_ = true;
  arrival_.span.wait += moving - from;
  arrival_.span.exchange += now() - moving;
  exchange_ = ExchangeState::none;
  if (log_ != nullptr && now() > from) log_->blocked.push_back({from, moving, now()});
  if (races_) races_->end_transfer();
  waiting_for_exchange_ = false;
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

void Tile::finish(bool measured) { close_span(now(), measured); }

void Tile::close_span(Cycle until, bool measured) {
  if (measured) {
    record_.compute += until - span_start_;
    record_.instructions += arrival_.span.instructions;
    record_.flops += arrival_.span.flops;
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
  }
  arrival_.span = {};
  sent_ = received_ = Bytes(0);
  exchanged_ = false;
}

void Tile::wait_until(Cycle time) {
  if (time > now()) supervisor_.base_cycle += (time - now()).count();
}

Workers& Tile::make_workers() {
  if (!workers_) {
    workers_ = std::make_unique<Workers>(*settings_, *program_, id(), pipeline_.get());
    open_spans_.assign(settings_->tile.contexts, kNoSpan);
    memory_.weights = workers_->weights().data();
  }
  return *workers_;
}

void Tile::fail(const engine::Exit& exit, const std::string& problem) const {
  throw tile_fault(*program_, id(), context_name(engine::Role::supervisor, 0), exit.pc, problem);
}

}  // namespace tessera
