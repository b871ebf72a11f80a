#pragma once

#include <doctest/doctest.h>

#include "tests/models/in_child.h"
#include "tests/models/overlap/random_overlap.h"
#include "tests/models/overlap/stepper.h"

/// Random programs on a machine and on the stepper.
namespace tessera::sample {

inline MachineConfig random_machine(std::uint32_t tiles, std::mt19937& random) {
  const auto one_of = [&](std::initializer_list<std::uint32_t> values) {
    return values.begin()[random() % values.size()];
  };
  MachineConfig config = machine(tiles);
  config.tile.sram_kib = 32;
  config.tile.issue = random() % 3 == 0 ? IssueKind::revolver : IssueKind::barrel;
  config.sync.chip_cycles = one_of({0, 1, 90});
  config.fabric.kind = random() % 4 == 0 ? "ideal" : "scheduled";
  config.fabric.fixed_cycles = one_of({0, 7, 100});
  config.fabric.send_bytes_per_cycle = config.fabric.receive_bytes_per_cycle = one_of({1, 4, 16});
  config.fabric.pair_sharing = false;
  return config;
}

/// All that a tile has done.
inline std::string text(const TileRecord& tile) {
  return fmt::format("{} {} {} {} {} {}\n", tile.compute.count(), tile.exchange.count(),
                     tile.sync.count(), tile.instructions, tile.sent.count(),
                     tile.received.count());
}

/// Where a machine and the stepper differ in the program of that seed; "" if nowhere.
inline std::string difference(std::uint32_t seed) {
  std::mt19937 random(seed);
  const program::Program program = OverlapMaker(seed).make();
  const MachineConfig config = random_machine(program.tiles(), random);
  const program::Images images = compile(program, config);
  Stepper stepper(config, program, images);
  const Cycle end = stepper.run();
  Simulation machine(config, program, images,
                     {.threads = 1 + seed % 3, .check_races = seed % 2 == 0, .shuffle = seed % 5});
  const RunResult result = machine.run();
  std::string expected;
  std::string found;
  Cycle last;
  for (const SuperstepRecord& step : result.steps)
    last = std::max(last, step.start + step.time.total());
  for (std::uint32_t i = 0; i < program.tiles(); ++i) {
    expected += text(stepper.tiles()[i].statistics());
    found += text(result.tiles[i]);
  }
  if (expected != found) return fmt::format("tiles:\n{}instead of\n{}", found, expected);
  if (!result.steps.empty() && last > end) return fmt::format("{} > {}", last.count(), end.count());
  for (std::uint32_t id = 0; id < program.buffers().size(); ++id) {
    const program::Buffer& buffer = program.buffers()[id];
    std::vector<std::byte> bytes(buffer.bytes);
    machine.memory().read({program::BufferId{id}}, bytes);
    const auto stepped =
        stepper.bytes(buffer.tile).subspan(images.buffer_address[id].count(), buffer.bytes);
    if (!std::ranges::equal(bytes, stepped)) return fmt::format("bytes of buffer {}", id);
  }
  return {};
}

inline void check_seeds(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    CHECK(in_child([&] { return difference(seed); }) == "");
  }
}

}  // namespace tessera::sample
