#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdio>
#include <ctime>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/isa/float/format.h"

#include "tools/benchmark/guest_loop.h"

/// Prints how many guest instructions a second one host core executes, exact cycles on, for the
/// standard loops. Each loop's first call is compared with the host's own result.
namespace tessera::benchmark {
namespace {

constexpr int kA0 = 10;
constexpr int kRa = 1;

std::uint32_t address_of(const elf::Program& program, const std::string& name) {
  for (const elf::Symbol& symbol : program.symbols) {
    if (symbol.name == name) return symbol.address;
  }
  throw UserError(fmt::format("{}: no symbol {}", program.name, name));
}

/// Calls guest functions on one worker context.
class Bench {
 public:
  explicit Bench(const std::string& path)
      : program_(elf::read_file(path)),
        memory_(program_),
        loops_(standard_loops(memory_)),
        code_(engine::predecode(memory_.code(), engine::Role::worker, TileConfig{})),
        halt_(address_of(program_, "halt")) {}

  void run() {
    fmt::print("{:<10} {:>14} {:>12} {:>12}  {}\n", "loop", "instructions", "slots", "M instr/s",
               "bar");
    for (const GuestLoop& loop : loops_) measure(loop);
  }

 private:
  engine::Context call(const GuestLoop& loop) {
    engine::Context context;
    for (std::size_t i = 0; i < loop.arguments.size(); ++i) context.x[kA0 + i] = loop.arguments[i];
    for (std::size_t i = 0; i < loop.float_arguments.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(loop.float_arguments[i]);
      context.f[kA0 + i] = fp::box<fp::F32>(bits);
    }
    context.x[kRa] = halt_;
    context.pc = address_of(program_, loop.symbol);
    const engine::Exit exit = engine::run(*code_, context, memory_.view(), ~std::uint64_t{0});
    check(exit.stop == engine::Stop::environment_call, "{}: stopped with {} at {:#x}", loop.name,
          engine::describe(exit.fault), exit.pc);
    return context;
  }

  /// The best of several rounds, in processor time: what else runs on the host only adds to it.
  void measure(const GuestLoop& loop) {
    constexpr int kRounds = 7;
    constexpr double kSecondsARound = 0.1;
    const engine::Context first = call(loop);
    const std::string wrong = loop.check(memory_, first.x[kA0]);
    if (!wrong.empty()) throw Error(ExitCode::check_failed, loop.name + ": " + wrong);
    double best = 0;
    for (int round = 0; round < kRounds; ++round) {
      std::uint64_t instructions = 0;
      double seconds = 0;
      const std::clock_t start = std::clock();
      while (seconds < kSecondsARound) {
        instructions += call(loop).instructions;
        seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      }
      best = std::max(best, static_cast<double>(instructions) / seconds);
    }
    const std::string bar = loop.bar == 0 ? "-" : fmt::format("{:.0f}", loop.bar / 1e6);
    fmt::print("{:<10} {:>14} {:>12} {:>12.0f}  {}\n", loop.name, first.instructions, first.slots,
               best / 1e6, bar);
    std::fflush(stdout);
  }

  elf::Program program_;
  GuestMemory memory_;
  std::vector<GuestLoop> loops_;
  std::shared_ptr<const engine::Code> code_;
  std::uint32_t halt_;
};

}  // namespace
}  // namespace tessera::benchmark

int main() {
  std::signal(SIGPIPE, SIG_DFL);  // ends when nobody reads any more
  try {
    tessera::benchmark::Bench(TESSERA_GUEST_LOOPS).run();
    return 0;
  } catch (const tessera::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
}
