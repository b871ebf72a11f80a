#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "models/fabric/fabric.h"
#include "models/simulation.h"
#include "sim/program/assembler.h"
#include "sim/program/image.h"
#include "sim/trace/run_trace.h"

/// Prints the host's cost of a run of 1000 supersteps on 1472 tiles, in which all workers compute
/// for some thousand cycles and each tile passes 64 bytes on: without a trace, with a trace of the
/// machine's phases, of all tiles, and of all tiles and workers.
namespace tessera {
namespace {

constexpr std::uint32_t kTiles = 1472;
constexpr std::uint32_t kSupersteps = 1000;

/// Processor time of all threads of this process.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Every worker executes 8 additions per iteration, `rounds` times.
program::Codelet adding(std::uint32_t rounds) {
  using program::Reg;
  program::Assembler code;
  code.load_immediate(Reg::t2, rounds);
  for (int i = 0; i < 8; ++i) code.add_immediate(Reg::t0, Reg::t0, i);
  code.emit({.mnemonic = isa::Mnemonic::bdnz, .rs1 = 7, .imm = -32});
  code.control(0);
  return {fmt::format("adding_{}", rounds), code.take()};
}

program::Program program_of(std::uint32_t supersteps, std::uint32_t rounds) {
  program::Program program(kTiles);
  std::vector<std::uint32_t> codelets;
  for (std::uint32_t i = 0; i < 4; ++i)
    codelets.push_back(program.add_codelet(adding(rounds + rounds * i / 8)));
  program::ComputeSet add{"add", {}};
  program::Exchange pass{"pass", {}};
  std::vector<program::BufferId> buffers;
  for (std::uint32_t i = 0; i < 2 * kTiles; ++i) {
    program::Buffer buffer{};
    buffer.tile = TileId{i / 2};
    buffer.bytes = 64;
    buffer.name = "passed on";
    buffers.push_back(program.add_buffer(buffer));
  }
  for (std::size_t i = 0; i < kTiles; ++i) {
    program::Vertex vertex{};
    vertex.tile = TileId{static_cast<std::uint32_t>(i)};
    vertex.codelet = codelets[i % codelets.size()];
    add.vertices.push_back(vertex);
    pass.copies.push_back({{buffers[2 * i]}, 64, {{buffers[(2 * i + 3) % buffers.size()]}}});
  }
  const program::Sequence body{{{pass, true}, {add, true}}};
  program.main().steps = {{program::Repeat{supersteps, body}, true}};
  return program;
}

struct Case {
  const char* name;
  bool traced, tiles, workers;
};

/// Prints processor seconds and the trace's size; leaves by quick_exit.
[[noreturn]] void measure(const Case& one, std::uint32_t rounds, unsigned threads) {
  MachineConfig config;
  config.tiles = kTiles;
  config.clock_ghz = 1.85;
  RunOptions options;
  options.threads = threads;
  const program::Program program = program_of(kSupersteps, rounds);
  const auto exchanges = fabric::make_exchange_compiler(config.fabric);
  const program::Images images = program::compile(program, config, *exchanges);
  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("tessera-trace-{}", getpid())).string();
  trace::Settings settings;
  if (one.tiles) settings.tiles = trace::tiles_of("all", kTiles);
  settings.workers = one.workers;
  settings.most_bytes = std::uint64_t{4} << 30;
  settings.machine_tiles = kTiles;
  settings.contexts = config.tile.contexts;
  settings.cycle_femtoseconds = 540541;
  std::unique_ptr<trace::RunTrace> trace;
  if (one.traced) trace = std::make_unique<trace::RunTrace>(settings, images, folder);
  options.trace = trace.get();
  auto* machine = new Simulation(config, program, images, options);  // never deleted: quick_exit
  const double before = processor_seconds();
  const RunResult result = machine->run();
  check(result.supersteps == kSupersteps, "trace bench: {} supersteps", result.supersteps);
  if (trace) trace->commit();
  fmt::print("{:<18} {:>8.2f} s\n{}", one.name, processor_seconds() - before,
             trace ? trace->summary() : "");
  std::fflush(stdout);
  std::filesystem::remove_all(folder);
  std::quick_exit(0);
}

}  // namespace
}  // namespace tessera

/// SystemC's library requires it; main() is below.
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }

/// `[rounds [threads [case]]]`: iterations of the workers' loop of 9 instructions; host threads;
/// index of a single case of the four.
// NOLINTNEXTLINE(bugprone-exception-escape): a benchmark that throws may end so
int main(int argc, char** argv) {
  const auto rounds = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 60);
  const auto threads = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  constexpr tessera::Case kCases[] = {{"no trace", false, false, false},
                                      {"phases", true, false, false},
                                      {"all tiles", true, true, false},
                                      {"all tiles, workers", true, true, true}};
  if (argc > 3) tessera::measure(kCases[std::atoi(argv[3]) & 3], rounds, threads);
  bool ok = true;
  for (const tessera::Case& one : kCases) {
    const pid_t child = fork();  // SystemC elaborates once per process
    if (child == 0) tessera::measure(one, rounds, threads);
    int status = 0;
    ok = waitpid(child, &status, 0) == child && status == 0 && ok;
  }
  return ok ? 0 : 1;
}
