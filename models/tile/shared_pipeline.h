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

/// One issue port that the contexts of a tile compete for. What they execute does not depend on
/// when (workers share no data until `join`), so each has run ahead and left a trace of what it
/// executed; here the traces are merged in the order of issue, no further than somebody needs.
/// Leaves out: bank contention, instruction fetch.
/// Timing: a cycle issues one instruction or pair (engine/pipeline.h), or one step of an
/// instruction of several slots: its next step waits for the context's turn as the next instruction
/// would. `revolver`: the first ready context after the one that issued last, round by round; a
/// context is ready again reissue_cycles after its last issue. `interleaved`: the context that has
/// been ready longest, of equals the one of least number. The supervisor comes after the workers.
/// Units with an initiation interval are the tile's; turns pass by who waits for one, so that
/// revolvers may form convoys (README). A context that waits for the DMA is ready again when its
/// transfer is done, and its turn has come. Source: cores.md 2 (UPMEM: 11 cycles from an issue of a
/// tasklet to its next).
class SharedPipeline {
 public:
  using Context = std::uint32_t;  ///< a worker's number; the supervisor's is that of the workers

  /// `profiled`: the workers' code, if it is told what each issue took; that is slower.
  SharedPipeline(const TileConfig& tile, std::uint32_t branch_latency,
                 const engine::Code* profiled = nullptr);

  /// A context's next action when everything in its trace has been issued.
  enum class Then : std::uint8_t {
    goes_on,  ///< it has executed more
    waits,    ///< for a transfer of the DMA
    ends
  };
  /// Called then: the last instruction has begun to issue at `at`, and ceases before `end`.
  using More = std::function<Then(Context context, Cycle at, Cycle end)>;

  /// `on`: instructions that issue from now on count in the profile.
  void profile(bool on) { profiles_ = on; }
  /// Contexts may wait for this DMA, which outlives the pipeline; null: there is none.
  void serve(WorkerDma* dma) { dma_ = dma; }
  /// Told of every transfer that has ended; null: nobody is.
  using Heard = std::function<void(const WorkerDma::Ended&)>;
  void tell(Heard heard) { heard_ = std::move(heard); }

  /// The trace for the context's execution.
  engine::IssueTrace& trace(Context context) { return lanes_[context].trace; }
  /// The context, which does not run, issues its trace from `at` on. `drained`: with nothing under
  /// way.
  void start(Context context, Cycle at, bool drained, const More& more);
  /// Merges until the context has ended; returns when it did.
  Cycle finish(Context context, const More& more);
  /// Merges all that issues before `time`; whether any worker then still runs.
  bool busy_at(Cycle time, const More& more);
  /// When the context last began to issue an instruction.
  [[nodiscard]] Cycle last_issue(Context context) const { return lanes_[context].last_issue; }
  /// Where the context's cycles went since this was last asked.
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
  const engine::Code* profiled_;  ///< null: nobody asks
  bool profiles_ = true;
  WorkerDma* dma_ = nullptr;
  Heard heard_;
  std::vector<PipelineLane> lanes_;
  ReadyOrder order_;                     ///< those that run, by when they are ready
  std::vector<engine::Unit> next_unit_;  ///< by lane: that its next issue needs
  engine::UnitTimes units_{};
  std::uint64_t port_free_ = 0;
  Context last_ = 0;  ///< that issued
  IssuePeriod period_;
};

}  // namespace tessera
