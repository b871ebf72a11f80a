#include "tests/tools/viewer/large_run.h"

#include <array>
#include <fstream>
#include <random>

#include <fmt/format.h>

#include "sim/report/tile_steps.h"

namespace tessera::test {
namespace {

struct Totals {
  std::uint64_t cycles = 0, compute = 0, exchange = 0, sync = 0;
};

/// One superstep of each phase: its name and typical cycles.
struct Phase {
  const char* name;
  std::uint32_t compute, exchange;
};
constexpr std::array<Phase, 5> kPhases = {{{"gather", 200, 900},
                                           {"multiply", 2500, 300},
                                           {"reduce", 400, 700},
                                           {"scale", 300, 0},
                                           {"test", 40, 120}}};
constexpr std::uint64_t kSync = 90;

Totals write_steps(const std::filesystem::path& file, const LargeRun& run, std::mt19937& random) {
  std::ofstream out(file);
  out << "superstep,name,kind,start_cycle,cycles,compute_cycles,exchange_cycles,sync_cycles,"
         "link_cycles,host_cycles,wait_cycles,last_tile,least_compute_cycles,mean_compute_cycles,"
         "exchange_bytes,exchange_makespan_cycles,exchange_bound_cycles,instructions,flops,"
         "live_bytes,most_compute_cycles\n";
  Totals totals;
  for (std::uint64_t i = 0; i < run.supersteps; ++i) {
    const Phase& phase = kPhases[i % kPhases.size()];
    const std::uint64_t compute = phase.compute + random() % (phase.compute / 8 + 1);
    const std::uint64_t cycles = compute + phase.exchange + kSync;
    out << fmt::format("{},{},compute,{},{},{},{},{},0,0,0,{},{},{:.1f},{},{},{},{},{},{},{}\n", i,
                       phase.name, totals.cycles, cycles, compute, phase.exchange, kSync,
                       random() % run.tiles, phase.compute / 2, 0.95 * phase.compute,
                       phase.exchange * 3ULL * run.tiles, phase.exchange, phase.exchange,
                       compute * run.tiles, compute * 90 * run.tiles, 20000 + random() % 90000,
                       compute);
    totals.cycles += cycles;
    totals.compute += compute;
    totals.exchange += phase.exchange;
    totals.sync += kSync;
  }
  return totals;
}

void write_tiles(const std::filesystem::path& folder, const LargeRun& run, const Totals& totals,
                 std::mt19937& random) {
  std::ofstream out(folder / "tiles.csv");
  out << "tile,compute_cycles,exchange_cycles,sync_cycles,instructions,flops,sent_bytes,"
         "received_bytes,code_bytes,control_bytes,exchange_bytes,arguments_bytes,tensors_bytes,"
         "stack_bytes\n";
  for (std::uint32_t tile = 0; tile < run.tiles; ++tile) {
    const auto some = [&](std::uint64_t about) { return about - random() % (about / 6 + 1); };
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", tile, some(totals.compute),
                       some(totals.exchange), some(totals.sync), some(totals.compute),
                       some(totals.compute * 90), some(totals.exchange * 2),
                       some(totals.exchange * 3), 1616, 168, some(8000), some(700), some(90000),
                       264);
  }
  std::ofstream traffic(folder / "traffic.csv");
  traffic << "from_tile,to_tile,tiles,bytes\n";
  const std::uint32_t group = (run.tiles + 127) / 128;
  for (std::uint32_t from = 0; from < run.tiles; from += group) {
    for (std::uint32_t to = 0; to < run.tiles; to += group) {
      traffic << fmt::format("{},{},{},{}\n", from, to, group, 1 + random() % 1'000'000);
    }
  }
}

void write_tile_steps(const std::filesystem::path& file, const LargeRun& run,
                      std::mt19937& random) {
  TileSteps steps{run.tiles, 1, {}};
  while ((run.supersteps + steps.supersteps_a_row - 1) / steps.supersteps_a_row > run.rows) {
    steps.supersteps_a_row *= 2;
  }
  steps.cycles.resize(run.rows * run.tiles * TileSteps::kParts);
  for (std::uint64_t step = 0; step < run.supersteps; ++step) {
    const Phase& phase = kPhases[step % kPhases.size()];
    std::uint32_t* row =
        &steps.cycles[step / steps.supersteps_a_row * run.tiles * TileSteps::kParts];
    for (std::uint32_t tile = 0; tile < run.tiles; ++tile, row += TileSteps::kParts) {
      row[0] += phase.compute - static_cast<std::uint32_t>(random() % (phase.compute / 8 + 1));
      row[1] += phase.exchange;
    }
  }
  std::ofstream(file, std::ios::binary) << report::tile_steps_npy(steps);
}

}  // namespace

void write_large_run(const std::filesystem::path& folder, config::Json sample,
                     const LargeRun& run) {
  std::filesystem::create_directories(folder);
  std::mt19937 random(5);
  const Totals totals = write_steps(folder / "steps.csv", run, random);
  write_tiles(folder, run, totals, random);
  write_tile_steps(folder / "tile_steps.npy", run, random);
  sample["config"]["machine"]["tiles"] = run.tiles;
  sample["time"]["cycles"] = totals.cycles;
  sample["time"]["compute_cycles"] = totals.compute;
  sample["time"]["exchange_cycles"] = totals.exchange;
  sample["time"]["sync_cycles"] = totals.sync;
  sample["time"]["supersteps"] = run.supersteps;
  std::ofstream(folder / "report.json") << sample.dump(2) << '\n';
}

}  // namespace tessera::test
