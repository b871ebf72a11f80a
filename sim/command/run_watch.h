#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "sim/base/stopwatch.h"
#include "sim/command/progress.h"
#include "sim/report/run_progress.h"

namespace tessera::command {

/// "running: about 43 %, about 5 s left": tile cycles as a share of the predicted `expected`, and
/// the remaining time at this rate, `seconds` after the run began. Other phases, and runs without a
/// prediction, show the `seconds` of the phase.
std::string run_text(RunProgress::Phase phase, std::uint64_t tile_cycles, double expected,
                     double seconds);

/// Shows a run's progress on a line of stderr, ten times a second during its lifetime, only if
/// stderr is a terminal.
class RunWatch {
 public:
  explicit RunWatch(bool quiet);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  ~RunWatch();

  /// Null if nothing is shown.
  [[nodiscard]] RunProgress* progress() { return line_.shown() ? &progress_ : nullptr; }
  /// Sets the run's predicted tile cycles; call it before the run.
  void expect(double tile_cycles) { expected_ = tile_cycles; }

 private:
  void show();

  Progress line_;
  RunProgress progress_;
  std::atomic<double> expected_{0};
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tessera::command
