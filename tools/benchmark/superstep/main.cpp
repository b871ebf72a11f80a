#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "models/fabric/fabric.h"
#include "models/simulation.h"
#include "sim/program/image.h"

/// Prints the host's cost of a barrier with an empty superstep, a machine's time from construction
/// to loaded and from its last cycle to the end of its process, and its memory, beside the design's
/// limits. Each machine runs in its own process.
namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

struct Case {
  std::uint32_t tiles;
  std::uint32_t supersteps;
  double bar_nanoseconds;  ///< limit per tile and superstep; 0: none
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Processor time of all threads of this process, independent of the host's load.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

program::Program empty_supersteps(const Case& one) {
  program::Program program(one.tiles);
  const program::Sequence body{{{program::ComputeSet{"empty", {}}, true}}};
  program.main().steps = {{program::Repeat{one.supersteps, body}, true}};
  return program;
}

std::string bar(double value) { return value == 0 ? "-" : fmt::format("{:.0f}", value); }

/// Writes its end time to `finished`, then leaves by quick_exit.
[[noreturn]] void measure(const Case& one, unsigned threads, int finished) {
  MachineConfig config;
  config.tiles = one.tiles;
  config.tile.sram_kib = one.tiles > 500'000 ? 48 : 624;
  config.clock_ghz = 1.85;
  RunOptions options;
  options.threads = threads;
  const program::Program program = empty_supersteps(one);
  const auto exchanges = fabric::make_exchange_compiler(config.fabric);
  const program::Images images = program::compile(program, config, *exchanges);
  const auto start = Clock::now();
  auto* machine = new Simulation(config, program, images, options);  // never deleted: quick_exit
  const double elaborated = seconds_since(start);
  const double loaded = processor_seconds();
  const RunResult result = machine->run();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double steps = static_cast<double>(one.tiles) * one.supersteps;
  fmt::print("{:>8} {:>7} {:>10} {:>12.1f} {:>12.1f} {:>5} {:>11.2f} {:>9.0f}", one.tiles, threads,
             result.supersteps, result.host_seconds * 1e9 / steps,
             (processor_seconds() - loaded) * 1e9 / steps, bar(one.bar_nanoseconds), elaborated,
             static_cast<double>(usage.ru_maxrss) / 1024);
  std::fflush(stdout);
  const auto now = Clock::now();
  if (write(finished, &now, sizeof now) != sizeof now) std::_Exit(1);
  std::quick_exit(0);
}

bool run_apart(const Case& one, unsigned threads) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) measure(one, threads, ends[1]);
  close(ends[1]);  // otherwise its end would not be seen below
  Clock::time_point finished;
  const bool complete = read(ends[0], &finished, sizeof finished) == sizeof finished;
  int status = 0;
  waitpid(child, &status, 0);
  close(ends[0]);
  fmt::print(" {:>6.2f}\n", complete ? seconds_since(finished) : 0.0);
  std::fflush(stdout);
  return complete && status == 0;
}

}  // namespace
}  // namespace tessera

/// SystemC's library requires it; main() is below.
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }

/// `tiles supersteps threads` runs one case; without arguments runs all cases.
int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // ends when the reader is gone
  if (argc == 4) {
    const auto number = [&](int i) {
      return static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
    };
    return tessera::run_apart({number(1), number(2), 0}, number(3)) ? 0 : 1;
  }
  const tessera::Case cases[] = {{1472, 20000, 40}, {65536, 400, 50}, {1'000'000, 10, 0}};
  fmt::print("{:>8} {:>7} {:>10} {:>12} {:>12} {:>5} {:>11} {:>9} {:>6}\n", "tiles", "threads",
             "supersteps", "ns/tile/step", "processor ns", "bar", "elaborate s", "peak MiB",
             "exit s");
  std::fflush(stdout);
  bool ok = true;
  for (const tessera::Case& one : cases) {
    for (unsigned threads = 1; threads <= std::min(2U, std::thread::hardware_concurrency());
         ++threads)
      ok = tessera::run_apart(one, threads) && ok;
  }
  return ok ? 0 : 1;
}
