#include "sim/command/run_watch.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "sim/command/sweep_progress.h"

namespace tessera::command {

std::string run_text(RunProgress::Phase phase, std::uint64_t tile_cycles, double expected,
                     double seconds) {
  switch (phase) {
    case RunProgress::Phase::building:
      return "planning and building";
    case RunProgress::Phase::loading:
      return "loading";
    case RunProgress::Phase::checking:
      return "checking";
    case RunProgress::Phase::running:
      break;
  }
  constexpr double kMost = 0.99;  // what is done is no longer running
  constexpr double kLeast = 0.01;
  const double share =
      expected > 0 ? std::min(static_cast<double>(tile_cycles) / expected, kMost) : 0;
  if (share < kLeast) return "running";
  return fmt::format("running: {:.0f} %, {} left", 100 * share,
                     time_left(seconds * (1 - share) / share));
}

RunWatch::RunWatch(bool quiet) : line_(quiet) {
  if (line_.shown()) thread_ = std::thread([this] { show(); });
}

RunWatch::~RunWatch() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RunWatch::show() {
  using namespace std::chrono_literals;
  Stopwatch running;
  auto before = RunProgress::Phase::building;
  std::unique_lock lock(mutex_);
  while (!ended_) {
    const RunProgress::Phase phase = progress_.phase;
    if (phase == RunProgress::Phase::running && before != phase && progress_.tile_cycles == 0)
      running = Stopwatch();
    before = phase;
    line_.show(run_text(phase, progress_.tile_cycles, expected_, running.seconds()));
    ending_.wait_for(lock, 100ms);
  }
}

}  // namespace tessera::command
