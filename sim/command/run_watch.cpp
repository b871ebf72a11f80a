#include "sim/command/run_watch.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "sim/command/progress.h"

namespace tessera::command {

std::string run_text(RunProgress::Phase phase, std::uint64_t tile_cycles, double expected,
                     double seconds) {
  const auto since = [&](const char* what) {
    return seconds < 1 ? std::string(what) : fmt::format("{}: {:.0f} s so far", what, seconds);
  };
  switch (phase) {
    case RunProgress::Phase::building:
      return since("planning and building");
    case RunProgress::Phase::loading:
      return since("loading");
    case RunProgress::Phase::checking:
      return since("checking");
    case RunProgress::Phase::running:
      break;
  }
  constexpr double kMost = 0.99;  // a run in progress never shows 100 %
  constexpr double kLeast = 0.01;
  const double share =
      expected > 0 ? std::min(static_cast<double>(tile_cycles) / expected, kMost) : 0;
  if (share < kLeast) return since("running");
  return fmt::format("running: about {:.0f} %, about {} left", 100 * share,
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
  Stopwatch running, in_phase;
  auto before = RunProgress::Phase::building;
  std::unique_lock lock(mutex_);
  while (!ended_) {
    const RunProgress::Phase phase = progress_.phase;
    if (phase == RunProgress::Phase::running && before != phase && progress_.tile_cycles == 0)
      running = Stopwatch();
    if (phase != before) in_phase = Stopwatch();
    before = phase;
    const bool runs = phase == RunProgress::Phase::running;
    line_.show(run_text(phase, progress_.tile_cycles, expected_,
                        runs ? running.seconds() : in_phase.seconds()));
    ending_.wait_for(lock, 100ms);
  }
}

}  // namespace tessera::command
