#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/tile/call_script.h"
#include "models/tile/race_check.h"
#include "models/tile/shared_pipeline.h"
#include "models/tile/tile_program.h"
#include "models/tile/worker_contexts.h"
#include "sim/base/errors.h"
#include "sim/base/types.h"
#include "sim/engine/session.h"
#include "sim/machine/machine_config.h"
#include "sim/report/run_result.h"

namespace tessera {

/// Settings that all tiles of a class share in one run.
struct TileSettings {
  TileConfig tile;
  Cycle max_cycles;        ///< limit: code that exceeds it makes no progress
  std::uint64_t seed = 1;  ///< seeds rnd.64, mixed with tile and worker
  bool check_races = false;
  bool count_activity = false;  ///< for Tile::record(ActivityAccount*)
  bool profile = false;         ///< profiles codelets, for engine::profile
  engine::Engine engine = engine::Engine::interpreter;
  std::uint32_t sync_zones = 1;  ///< zones 0 to this - 1 exist
  /// External memory that workers access themselves (none: they do not), and the tiles' clock.
  std::optional<ExternalConfig> external = {};
  double clock_ghz = 1.0;
  bool streams = false;   ///< the fabric's lists are stream lists
  std::string kind = {};  ///< the class's name, for messages; empty: compute tiles
};

/// The worker contexts of one tile and its weight store.
/// Timing: on a barrel, and under `single`, a worker's slots are independent of the others: started
/// at t, it runs to its end at once and ends at t + slots x cycles per slot. On a shared pipeline
/// it runs ahead and leaves a trace; its end is computed on demand. Both are exact because the
/// workers of one `run` share no data until `join`; a read of the cycle counter waits until its
/// cycle is known.
class Workers {
 public:
  struct Work {
    std::uint64_t instructions = 0;
    std::uint64_t flops = 0;
    Bytes read = {}, written = {};  ///< external memory, by finished transfers
    bool within_limit = true;
  };
  /// State of the host that workers execute with.
  struct Host {
    const engine::TileMemory& memory;
    engine::Session& session;
    RaceCheck* races;  ///< records their accesses; null: not recorded
  };

  /// `pipeline`: shared by the contexts; null: each has its own slots. `dma`: for accesses to
  /// external memory; null: none.
  Workers(const TileSettings& settings, const TileProgram& program, TileId tile,
          SharedPipeline* pipeline, WorkerDma* dma);

  /// Workers with their own slots are not executed: from the program's first call on, each takes
  /// its cost from `script`, which outlives them. Call it when a run begins.
  void replay(const CallScript* script) {
    script_ = pipeline_ == nullptr ? script : nullptr;
    next_call_ = next_launch_ = 0;
  }
  [[nodiscard]] bool replays() const { return script_ != nullptr; }

  /// Where and when a worker is started.
  struct Launch {
    std::uint32_t worker;
    std::uint32_t pc;
    std::uint32_t argument;    ///< a0
    const engine::Code* code;  ///< the program's, for its matrix block shape
    std::uint32_t superstep;   ///< CSR superstep
    Cycle at;                  ///< not before free_at(worker)
    bool profiled = true;      ///< Context::profiled
  };

  /// Starts a worker. Like the next four functions it may execute workers and then throws UserError
  /// for a fault or a race.
  void start(const Launch& launch, const Host& host);
  /// Starts all workers at `pc`, each `stagger` after the previous, and adds their costs from the
  /// script at once. Starts none and returns false without a script, or if not all would end within
  /// the limit.
  bool start_all(std::uint32_t pc, Cycle at, Cycle stagger, const Host& host);
  /// The end of `worker`'s last call.
  Cycle free_at(std::uint32_t worker, const Host& host);
  Cycle all_free_at(const Host& host);
  /// True if some worker runs at `time`.
  bool busy_at(Cycle time, const Host& host);
  /// SharedPipeline::More: all of `worker`'s trace was issued; executes more.
  SharedPipeline::Then go_on(std::uint32_t worker, Cycle at, Cycle end, const Host& host);
  /// Counts a finished transfer of a worker.
  void count(const WorkerDma::Ended& ended) {
    (ended.request.outward ? work_.written : work_.read) += Bytes(ended.request.bytes);
  }

  /// Returns the work that workers have executed since the last call.
  Work take_work() { return std::exchange(work_, Work{}); }
  /// Ends a superstep; keeps its stalls if `measured`.
  void close_stalls(bool measured);
  /// Stalls of one codelet, which begins at `pc`, over all workers.
  struct CodeletStalls {
    std::uint32_t pc;
    Stalls open, measured;
  };
  [[nodiscard]] const std::vector<CodeletStalls>& stalls() const { return stalls_; }

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(free_at_.size()); }
  /// "worker 2 running ...", if a worker passed the cycle limit; else empty.
  [[nodiscard]] std::string endless() const;
  /// 64-bit words, sized for the matrix unit.
  [[nodiscard]] std::span<std::uint64_t> weights() { return own_.weights; }
  [[nodiscard]] const engine::Context& context(std::uint32_t worker) const {
    return own_.contexts[worker];
  }

 private:
  /// How far a worker of a shared pipeline has been executed.
  enum class Progress : std::uint8_t { ended, paused, reads_cycle, starts_transfer, waits };

  void run_alone(const Launch& launch, const Host& host);
  engine::Exit execute_or_replay(const Launch& launch, std::uint64_t limit, const Host& host);
  void count(const CallOutcome& known, const Host& host);
  void account(std::uint32_t pc, const CallOutcome& took);
  Progress run_piece(std::uint32_t worker, const Host& host);
  void ask_dma(std::uint32_t worker, const engine::Exit& exit, const Host& host);
  void check_races(std::uint32_t worker, const Host& host) const;
  void settle(std::uint32_t worker, const Host& host);
  engine::Exit execute(std::uint32_t worker, std::uint64_t limit, const Host& host);
  void check_end(std::uint32_t worker, const engine::Exit& exit, const Host& host) const;
  SharedPipeline::More more(const Host& host);
  Stalls& stalls_of(std::uint32_t pc);
  [[nodiscard]] UserError fault(const engine::Context& context, const engine::Exit& exit) const;

  const TileSettings& settings_;
  const TileProgram& program_;
  SharedPipeline* pipeline_;
  WorkerDma* dma_;
  const CallScript* script_ = nullptr;           ///< null: values are computed
  std::size_t next_call_ = 0, next_launch_ = 0;  ///< the next entries of script_
  std::vector<WorkerDma::Request> requests_;     ///< the last of each worker
  WorkerContexts own_;
  std::vector<const engine::Code*> codes_;  ///< by worker: its code
  std::vector<Cycle> free_at_;              ///< by worker, if it has settled
  std::vector<Progress> progress_;          ///< by worker, on a shared pipeline
  std::vector<std::uint32_t> started_;      ///< by worker: pc; kSettled: its end is known
  std::vector<CodeletStalls> stalls_;
  std::vector<std::uint32_t> endless_;  ///< workers that passed the cycle limit
  Work work_;
};

}  // namespace tessera
