#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/tile/issue_period.h"
#include "models/tile/pipeline_lane.h"
#include "models/tile/ready_order.h"
#include "models/tile/worker_dma.h"
#include "sim/machine/machine_config.h"

namespace tessera {

/// One issue port for which a tile's contexts compete. Results do not depend on timing (workers
/// share no data until `join`), so each context runs ahead and leaves a trace of its instructions;
/// this class merges the traces in issue order, only as far as needed. Leaves out: bank contention,
/// instruction fetch.
/// Timing: a cycle issues one instruction or pair (engine/pipeline.h), or one step of a multi-slot
/// instruction, whose next step waits for the context's turn like an instruction. `revolver`: round
/// robin over ready contexts from the one after the last issuer; a context is ready again
/// reissue_cycles after its last issue. `interleaved`: the context ready longest, ties by lowest
/// number. The supervisor comes after the workers. Units with an initiation interval are shared by
/// the tile; a context that waits for one loses its turn, so revolvers may form convoys (README). A
/// context that waits for the DMA is ready again when its transfer is done and its turn has come.
/// Source: cores.md 2 (UPMEM: 11 cycles from an issue of a tasklet to its next).
class SharedPipeline {
 public:
  using Context = std::uint32_t;  ///< a worker's number; supervisor: number of workers

  /// `profiled`: the workers' code, which counts the time of each issue (slower); null: none.
  SharedPipeline(const TileConfig& tile, std::uint32_t branch_latency,
                 const engine::Code* profiled = nullptr);

  /// A context's next action when everything in its trace has been issued.
  enum class Then : std::uint8_t {
    goes_on,  ///< it has executed more
    waits,    ///< for a transfer of the DMA
    ends
  };
  /// Called when a trace has been issued: its last instruction began to issue at `at` and ends
  /// before `end`.
  using More = std::function<Then(Context context, Cycle at, Cycle end)>;

  /// Turns profiling of later issues on or off.
  void profile(bool on) { profiles_ = on; }
  /// Sets the DMA that contexts may wait for, which outlives the pipeline; null: none.
  void serve(WorkerDma* dma) { dma_ = dma; }
  /// Callback for every finished transfer; null: none.
  using Heard = std::function<void(const WorkerDma::Ended&)>;
  void tell(Heard heard) { heard_ = std::move(heard); }

  /// The trace for the context's execution.
  engine::IssueTrace& trace(Context context) { return lanes_[context].trace; }
  /// Starts an idle context: it issues its trace from `at` on. `drained`: with no results pending.
  void start(Context context, Cycle at, bool drained, const More& more);
  /// Merges until the context has ended; returns its end.
  Cycle finish(Context context, const More& more);
  /// Merges all issues before `time`; true if any worker is then still running.
  bool busy_at(Cycle time, const More& more);
  /// When the context last began to issue an instruction.
  [[nodiscard]] Cycle last_issue(Context context) const { return lanes_[context].last_issue; }
  /// The context's stalls since the last call.
  Stalls take_stalls(Context context);

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  struct Pick {
    Context context;
    std::uint64_t at;
  };

  [[nodiscard]] std::uint64_t eligible(Context context) const;
  [[nodiscard]] Pick pick() const;
  [[nodiscard]] Pick pick_in_turn() const;
  [[nodiscard]] bool runs(Context context) const {
    return lanes_[context].running || lanes_[context].waits;
  }
  bool step(std::uint64_t limit, const More& more);
  void end_transfers(std::uint64_t at, const More& more);
  void issue(const Pick& pick, const More& more);
  void profile(Context context, std::uint64_t slots, std::uint64_t arbitration,
               const engine::Scoreboard::Ready& ready) const;
  void look(Context context, const More& more);
  void leave_stretch(PipelineLane& lane);
  void merge(const Pick& pick, std::uint64_t limit, const More& more);

  bool revolver_;
  std::uint32_t distance_;
  std::uint32_t branch_latency_;
  const engine::Code* profiled_;  ///< null: no profile
  bool profiles_ = true;
  WorkerDma* dma_ = nullptr;
  Heard heard_;
  std::vector<PipelineLane> lanes_;
  ReadyOrder order_;                     ///< running contexts, by ready time
  std::vector<engine::Unit> next_unit_;  ///< by lane: unit of its next issue
  engine::UnitTimes units_{};
  std::uint64_t port_free_ = 0;
  Context last_ = 0;  ///< last issuer
  IssuePeriod period_;
};

}  // namespace tessera
