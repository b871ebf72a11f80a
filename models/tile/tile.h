#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/tile/arrival.h"
#include "models/tile/tile_program.h"
#include "models/tile/workers.h"
#include "sim/engine/session.h"
#include "sim/program/transfer_list.h"
#include "sim/report/run_result.h"
#include "sim/trace/tile_log.h"

namespace tessera {

/// Activity of one tile, for energy and bounds: since its last barrier, and measured in total.
struct ActivityAccount {
  TileActivity open;
  TileActivity measured;

  /// Ends a span; adds it to `measured` if `keep`.
  void close(bool keep) {
    if (keep) measured.add(open);
    open = {};
  }
};

/// One core with its SRAM: a supervisor and its workers, run ahead alone between interactions. The
/// supervisor of a barrel has its own issue port; on a shared pipeline it is one more context;
/// under `single` there is one context, and `run` is a call. Leaves out: bank contention,
/// instruction fetch, slots of a shared pipeline for `run`, `join`, `sync`, `exch` and `ldcw`:
/// their cycles delay only the supervisor. Timing: `run` waits for a busy worker, takes
/// launch_cycles, and starts worker i then, or i x stagger later; `join` waits for the last worker
/// and takes join_cycles; `ldcw` takes bytes / load rate; `sync` and `exch` take only the engine's
/// cycles. Source: machines.md 1.2 (isa.md: run, join, ldcw).
class Tile {
 public:
  /// `sram` outlives the tile and holds the loaded image.
  Tile(const TileSettings& settings, const TileProgram& program, TileId id, std::byte* sram);

  /// Gives its workers access to these bytes, which outlive it, by its DMA; needs
  /// TileSettings::external.
  void reach(std::span<std::byte> outside) { outside_ = outside; }

  /// No values are computed: worker calls take their cost from `script`, which outlives the tile.
  void replay(const CallScript* script) { script_ = script; }

  /// Begins the program again at `at`, after its supervisor has ended.
  void restart(Cycle at);
  /// Prefetches the fields that a short run-ahead uses.
  void prefetch() const {
    constexpr std::size_t kLine = 64;  // bytes, a line of the host's cache
    const auto bring = [](const void* line) { __builtin_prefetch(line, 1); };
    bring(&supervisor_.x[0]);
    bring(&supervisor_.x[kLine / sizeof(supervisor_.x[0])]);
    bring(&supervisor_.pc);
    bring(&settings_);
    bring(&instructions_before_);
    bring(&record_.instructions);
    bring(&arrival_);
    bring(&arrival_.span.flops);  // on the next line
  }
  /// Its host thread runs `next` (if not null) afterwards: with the same code, its reads prefetch
  /// the same addresses of `next`.
  void expect(const Tile* next) {
    memory_.next = next != nullptr && next->program_ == program_ ? next->memory_.bytes : nullptr;
  }
  /// Runs ahead from now() to the next interaction, or past `horizon` (contexts that execute in
  /// pieces finish the piece). Throws UserError for a fault.
  const Arrival& run(engine::Session& session, Cycle horizon = Cycle(UINT64_MAX));

  /// Leaves the barrier it arrived at; keeps its activity since the previous barrier if `measured`.
  void pass_barrier(Cycle release, bool measured);
  /// Turns profiling of later worker calls on or off.
  void profile(bool on);
  /// Ends the last superstep of a tile whose supervisor has ended.
  void finish(bool measured);
  /// A side of a transfer that the tile has started.
  struct Start {
    Address list;
    Cycle at;
    Cycle barrier;  ///< release of the last barrier it left
    Path path;      ///< from that barrier to this start
    Cycle hosted;   ///< Tile::hosted()
  };
  /// A transfer's end: all sides have started at `ready`, with `last` the last one; its bytes move
  /// from `begin` on and have arrived at `done`.
  struct Delivered {
    Cycle ready, begin, done;
    Bytes sent, received;
    Start last = {};
    program::Carrier carrier = program::Carrier::fabric;
    Cycle hosted = {};  ///< maximum over all sides at their starts
  };
  void deliver(Address list, const Delivered& delivered);
  /// When a tile that waits for transfers continues; nothing until all of them are delivered.
  [[nodiscard]] std::optional<Cycle> goes_on() const;
  /// The lists of the transfers that it waits for.
  [[nodiscard]] std::vector<Address> awaited() const;
  /// The starts of the last run().
  [[nodiscard]] const std::vector<Start>& started() const { return started_; }
  /// The start of a transfer that it has not yet waited for.
  [[nodiscard]] const Start& start_of(Address list) const;
  /// From the last barrier to now.
  [[nodiscard]] Path path() const { return exchanged_ ? path_ : Path{}; }
  /// Cycles of host transfers so far in this run, its own or of tiles it has exchanged with: other
  /// tiles may not have waited for them yet.
  [[nodiscard]] Cycle hosted() const { return hosted_; }
  /// Raises hosted() to that of another tile of its zone.
  void hosted(Cycle cycles) { hosted_ = std::max(hosted_, cycles); }

  /// Records its waits for exchanges and its workers in `log`, which outlives the tile.
  void record(trace::TileLog* log) { log_ = log; }

  /// Counts its activity in `account`, which outlives the tile; needs TileSettings::count_activity.
  void record(ActivityAccount* account) { activity_ = account; }

  /// How run() ended.
  [[nodiscard]] const Arrival& arrival() const { return arrival_; }
  [[nodiscard]] Cycle now() const { return Cycle(supervisor_.base_cycle + supervisor_.slots); }
  [[nodiscard]] std::span<std::byte> sram() const { return {memory_.bytes, memory_.size}; }
  [[nodiscard]] TileId id() const { return TileId{supervisor_.tile}; }
  [[nodiscard]] const TileRecord& statistics() const { return record_; }
  [[nodiscard]] const TileProgram& program() const { return *program_; }
  /// The supervisor's pc, for messages.
  [[nodiscard]] std::uint32_t pc() const { return supervisor_.pc; }
  [[nodiscard]] const engine::Context& supervisor() const { return supervisor_; }
  /// Channels of its workers' DMA; empty until workers can first start a transfer.
  [[nodiscard]] std::span<const DramChannel> channels() const {
    return dma_ ? dma_->channels() : std::span<const DramChannel>{};
  }
  [[nodiscard]] const Workers* workers() const { return workers_.get(); }  ///< null: none ever ran

 private:
  void require_workers(const engine::Exit& exit) const;
  Workers& make_workers();
  void make_dma();
  bool serve(const engine::Exit& exit, engine::Session& session);
  inline void arrive_at_sync(const engine::Exit& exit);
  void launch(const engine::Exit& exit, engine::Session& session);
  bool start_all(const engine::Exit& exit, Cycle stagger, engine::Session& session);
  void start_worker(std::uint32_t worker, const engine::Exit& exit, Cycle at,
                    engine::Session& session);
  void join(const engine::Exit& exit, engine::Session& session);
  void load_weights(const engine::Exit& exit, engine::Session& session);
  void start_exchange(const engine::Exit& exit);
  bool wait_for_exchange(const engine::Exit& exit);
  void take_awaited();
  void close_span(Cycle until, bool measured);
  void close_exchanges(bool measured);
  inline engine::Exit run_supervisor(engine::Session& session);
  engine::Exit run_sharing(engine::Session& session);
  engine::Exit execute_supervisor(engine::Session& session, std::uint64_t limit);
  Workers::Host worker_host(engine::Session& session) { return {memory_, session, races_.get()}; }
  Cycle worker_free_at(std::uint32_t worker, engine::Session& session);
  Cycle workers_free_at(engine::Session& session);
  void take_work();
  void end_spans();
  void guard_transfer(const engine::Exit& exit, Address list);
  void guard_streams(Address list, RaceCheck::Ranges& sources, RaceCheck::Ranges& destinations);
  [[noreturn]] void fail(const engine::Exit& exit, const std::string& problem) const;

  void wait_until(Cycle time);
  void spend(std::uint64_t cycles) { supervisor_.slots += cycles; }

  // Fields of supersteps without exchange and workers share few lines of the host's cache;
  // prefetch() depends on this order.
  engine::Context supervisor_;
  const TileSettings* settings_;
  const TileProgram* program_;
  engine::TileMemory memory_;
  std::unique_ptr<RaceCheck> races_;  ///< null unless races are checked
  Cycle span_start_;
  Cycle horizon_;  ///< this run()'s
  bool waiting_for_exchange_ = false;
  bool past_limit_ = false;
  bool exchanged_ = false;  ///< the span has exchanged something
  // The supervisor's own counts at the span's start, minus its workers' since.
  std::uint64_t instructions_before_ = 0;
  std::uint64_t flops_before_ = 0;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<WorkerDma> dma_;            ///< null: workers access no external memory
  std::unique_ptr<SharedPipeline> pipeline_;  ///< null: a worker's slots are its own
  trace::TileLog* log_ = nullptr;             ///< null: no trace
  ActivityAccount* activity_ = nullptr;       ///< null: not counted
  const CallScript* script_ = nullptr;        ///< null: values are computed
  TileRecord record_;
  alignas(64) Arrival arrival_;  ///< its step and span are kept from run to run
  // For exchanges and traces:
  struct Flight {
    Start start;
    std::optional<Delivered> delivered;
  };
  [[nodiscard]] bool awaits(const Flight& flight) const {
    return arrival_.list == Address(0) || arrival_.list == flight.start.list;
  }
  void take(const Delivered& delivered);
  Bytes sent_, received_;         ///< in this span, by exchanges
  Bytes external_;                ///< in this span: external memory, by its supervisor
  std::span<std::byte> outside_;  ///< accessible to its workers
  Path path_;
  Cycle hosted_;
  std::vector<Flight> flights_;  ///< started, not yet waited for
  std::vector<Start> started_;
  std::vector<std::size_t> open_spans_;  ///< in log_, by worker: open; kNoSpan: none
};

}  // namespace tessera
