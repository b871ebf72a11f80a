#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "sim/base/stopwatch.h"
#include "sim/command/progress.h"
#include "sim/report/run_progress.h"

namespace tessera::command {

/// "running: about 43 %, about 5 s left": the share of the predicted `expected` tile cycles, and
/// the time that the rest takes if it goes on like this, `seconds` after the run began. What no
/// plan predicts says how long it has taken: `seconds` of that phase.
std::string run_text(RunProgress::Phase phase, std::uint64_t tile_cycles, double expected,
                     double seconds);

/// Shows a run's progress on a line of stderr, ten times a second, while it lives; only where that
/// is a terminal.
class RunWatch {
 public:
  explicit RunWatch(bool quiet);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  ~RunWatch();

  /// Null where nothing is shown.
  [[nodiscard]] RunProgress* progress() { return line_.shown() ? &progress_ : nullptr; }
  /// Sets the predicted cycles of the run; before it starts.
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
