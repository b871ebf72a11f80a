#include "tools/benchmark/loops.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/elf/elf.h"
#include "sim/engine/bare_program.h"

#include "tools/benchmark/commands.h"

extern "C" {
std::uint32_t work_saxpy();
std::uint32_t work_matmul();
std::uint32_t work_spmv();
std::uint32_t work_lif();
std::uint32_t work_crc32();
std::uint32_t work_bfs();
std::uint32_t work_fourier();
std::uint32_t work_nbody();
std::uint32_t work_sha256();
std::uint32_t work_sort();
std::uint32_t work_blur();
std::uint32_t work_nearest();
std::uint32_t work_align();
std::uint32_t work_filter();
}

namespace tessera::benchmark {
namespace {

constexpr int kRounds = 3;
constexpr std::uint32_t kMemory = 4U << 20;

/// Times `once`, which returns a checksum, over kRounds rounds.
template <class Once>
Timed best(Once once) {
  Timed timed;
  for (int round = 0; round < kRounds; ++round) {
    const std::clock_t start = std::clock();
    timed.sum = once();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    timed.seconds = round == 0 ? seconds : std::min(timed.seconds, seconds);
  }
  return timed;
}

std::optional<Timed> on_qemu(const std::string& path) {
  if (run("command -v qemu-riscv32").output.empty()) return std::nullopt;
  Timed timed;
  for (int round = 0; round < kRounds; ++round) {
    Ran ran = run("qemu-riscv32 -cpu rv32,Zfh=true " + path);
    timed.sum = std::move(ran.output);
    timed.seconds = round == 0 ? ran.user_seconds : std::min(timed.seconds, ran.user_seconds);
  }
  return timed;
}

}  // namespace

std::vector<Loop> loops() {
  return {{"saxpy", work_saxpy},     {"matmul", work_matmul}, {"spmv", work_spmv},
          {"lif", work_lif},         {"crc32", work_crc32},   {"bfs", work_bfs},
          {"fourier", work_fourier}, {"nbody", work_nbody},   {"sha256", work_sha256},
          {"sort", work_sort},       {"blur", work_blur},     {"nearest", work_nearest},
          {"align", work_align},     {"filter", work_filter}};
}

Measured measure(const Loop& loop) {
  const std::string path = fmt::format("{}/{}.elf", TESSERA_GUEST_FOLDER, loop.name);
  const elf::Program program = elf::read_file(path);
  Measured made{.name = loop.name};
  const auto on_tile = [&](engine::Engine engine) {
    std::string sum;
    engine::ExecOptions options;
    options.memory_bytes = kMemory;
    options.engine = engine;
    options.write = [&](int, std::string_view text) { sum += text; };
    const engine::ExecResult result = engine::execute_bare(program, TileConfig{}, options);
    const bool first = made.instructions == 0;
    if (first) made.instructions = result.instructions;
    if (first) made.slots = result.slots;
    check(result.instructions == made.instructions && result.slots == made.slots,
          "{}: {} instructions in {} slots, not {} in {}", loop.name, result.instructions,
          result.slots, made.instructions, made.slots);
    return sum;
  };
  made.interpreter = best([&] { return on_tile(engine::Engine::interpreter); });
  made.native = best([&] { return on_tile(engine::Engine::native); });
  // Runs once: its data is seeded once, so later rounds would start from changed data.
  const std::clock_t start = std::clock();
  made.host.sum = fmt::format("{:08x}\n", loop.on_host());
  made.host.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  made.qemu = on_qemu(path);
  for (const Timed* each : {&made.native, &made.host, made.qemu ? &*made.qemu : &made.native})
    check(each->sum == made.interpreter.sum, "{}: checksum {}not {}", loop.name, each->sum,
          made.interpreter.sum);
  return made;
}

}  // namespace tessera::benchmark
