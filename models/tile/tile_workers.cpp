#include <algorithm>
#include <cstring>
#include <utility>

#include "models/tile/tile.h"
#include "models/tile/tile_fault.h"

// A tile's operations on its workers (`run`, `join`, `ldcw`), and the supervisor's own time where
// it shares their pipeline.
namespace tessera {
namespace {

constexpr std::uint32_t kAllWorkers = 0xffffffff;
constexpr std::uint32_t kWordBytes = 8;
constexpr std::size_t kNoSpan = ~std::size_t{0};

}  // namespace

/// Runs the supervisor as one more context of a shared pipeline: it executes ahead, and its issues
/// are merged with the workers' to find its time.
engine::Exit Tile::run_sharing(engine::Session& session) {
  constexpr std::uint64_t kPiece = 1U << 16;  // keeps traces short
  const SharedPipeline::Context self = settings_->tile.contexts;
  const auto more = [&](SharedPipeline::Context context, Cycle at, Cycle end) {
    return context == self ? SharedPipeline::Then::ends
                           : workers_->go_on(context, at, end, worker_host(session));
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
    else if (exit.stop != engine::Stop::limit || end > std::min(settings_->max_cycles, horizon_))
      return exit;
  }
}

void Tile::require_workers(const engine::Exit& exit) const {
  if (settings_->tile.contexts == 0) fail(exit, "there are no workers on nodes of its class");
}

void Tile::launch(const engine::Exit& exit, engine::Session& session) {
  const std::uint32_t worker = exit.operand[2];
  const std::uint32_t count = settings_->tile.contexts;
  require_workers(exit);
  make_workers();
  if (worker != kAllWorkers && worker >= count)
    fail(exit, fmt::format("run of worker {}, allowed 0 to {} or -1", worker, count - 1));
  if (program_->worker(exit.operand[3]) == nullptr)
    fail(exit,
         fmt::format("run.block {}, blocks of {} x {} that the matrix unit cannot take",
                     exit.operand[3], 2U << (exit.operand[3] & 7U), 2U << (exit.operand[3] >> 3)));
  wait_until(worker == kAllWorkers ? workers_free_at(session) : worker_free_at(worker, session));
  spend(settings_->tile.supervisor.launch_cycles);
  const Cycle start = now();
  if (worker != kAllWorkers) return start_worker(worker, exit, start, session);
  const Cycle stagger(settings_->tile.supervisor.launch_stagger_cycles);
  if (start_all(exit, stagger, session)) return;
  for (std::uint32_t i = 0; i < count; ++i) start_worker(i, exit, start + stagger * i, session);
}

/// Starts all workers at once from the script; false if their costs are unknown or needed
/// separately.
bool Tile::start_all(const engine::Exit& exit, Cycle stagger, engine::Session& session) {
  const bool each =
      (log_ != nullptr && log_->wants_workers) || settings_->tile.issue == IssueKind::single;
  if (script_ == nullptr || each) return false;
  if (!workers_->start_all(exit.operand[0], now(), stagger, worker_host(session))) return false;
  take_work();
  return true;
}

void Tile::start_worker(std::uint32_t worker, const engine::Exit& exit, Cycle at,
                        engine::Session& session) {
  workers_->start({worker, exit.operand[0], exit.operand[1], program_->worker(exit.operand[3]),
                   supervisor_.superstep, at, supervisor_.profiled},
                  worker_host(session));
  take_work();
  if (log_ != nullptr && log_->wants_workers) {
    open_spans_[worker] = log_->workers.size();
    log_->workers.push_back({at, at, worker, exit.operand[0]});
    if (!pipeline_) worker_free_at(worker, session);
  }
  if (settings_->tile.issue == IssueKind::single) wait_until(worker_free_at(worker, session));
}

/// Returns the worker's end and records it in the trace.
Cycle Tile::worker_free_at(std::uint32_t worker, engine::Session& session) {
  const Cycle end = workers_->free_at(worker, worker_host(session));
  take_work();
  if (open_spans_[worker] != kNoSpan)
    log_->workers[std::exchange(open_spans_[worker], kNoSpan)].end = end;
  return end;
}

/// A trace gets each superstep once: closes the spans of still running workers at now().
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

/// Adds the workers' work since the last call to the tile's.
void Tile::take_work() {
  const Workers::Work work = workers_->take_work();
  instructions_before_ -= work.instructions;
  flops_before_ -= work.flops;
  arrival_.span.read += work.read;
  arrival_.span.written += work.written;
  if (!work.within_limit) past_limit_ = true;
}

void Tile::join(const engine::Exit& exit, engine::Session& session) {
  require_workers(exit);
  if (workers_) wait_until(workers_free_at(session));
  if (races_) races_->end_window();
  spend(settings_->tile.supervisor.join_cycles);
}

void Tile::load_weights(const engine::Exit& exit, engine::Session& session) {
  const auto [address, first, words, unused] = exit.operand;
  require_workers(exit);
  Workers& workers = make_workers();
  if (workers.busy_at(now(), worker_host(session))) fail(exit, "ldcw while workers run");
  const std::uint64_t bytes = std::uint64_t{words} * kWordBytes;
  if (address % kWordBytes != 0)
    fail(exit, fmt::format("misaligned access at address {:#x}", address));
  if (address + bytes > memory_.size)
    fail(exit, fmt::format("access outside SRAM at address {:#x}", address));
  if (first + words > workers.weights().size()) fail(exit, "ldcw beyond the last weight word");
  if (!workers.replays()) std::memcpy(&workers.weights()[first], memory_.bytes + address, bytes);
  if (activity_ != nullptr)
    activity_->open.counts[isa::index(isa::Activity::bytes_loaded)] += bytes;
  const std::uint64_t rate = settings_->tile.matrix_unit.weight_load_bytes_per_cycle;
  spend(settings_->tile.supervisor.weight_load_cycles + ceil_div(bytes, rate));
}

Workers& Tile::make_workers() {
  if (!workers_) {
    if (!outside_.empty()) make_dma();
    workers_ = std::make_unique<Workers>(*settings_, *program_, id(), pipeline_.get(), dma_.get());
    if (script_ != nullptr) workers_->replay(script_);
    open_spans_.assign(settings_->tile.contexts, kNoSpan);
    memory_.weights = workers_->weights().data();
  }
  return *workers_;
}

void Tile::make_dma() {
  dma_ = std::make_unique<WorkerDma>(settings_->external.value(), settings_->clock_ghz, memory_,
                                     outside_);
  if (script_ != nullptr) dma_->leave_values();
  pipeline_->serve(dma_.get());
  pipeline_->tell([this](const WorkerDma::Ended& ended) {
    workers_->count(ended);
    if (log_ != nullptr)
      log_->outside.push_back(
          {ended.start, ended.begin, ended.done, ended.worker, Bytes(ended.request.bytes)});
  });
}

}  // namespace tessera
