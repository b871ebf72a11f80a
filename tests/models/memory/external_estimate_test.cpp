#include "models/memory/external_estimate.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "tests/models/memory/list_writer.h"
#include "tests/models/memory/outer_bench.h"
#include "tests/models/memory/random_scene.h"

namespace tessera::sample {
namespace {

/// Reduces each tile's script to one start of its first list; returns the entries of its turn 0.
std::vector<OuterLoad> one_turn(Scene& scene) {
  std::vector<OuterLoad> loads;
  for (std::uint32_t i = 0; i < scene.scripts.size(); ++i) {
    const Address list(RandomScene::kSram / 2);
    const program::OuterListView view(TileId{i}, scene.sram[i], list);
    const program::OuterTurn turn = program::turn_of(view.header().turns, 0);
    loads.push_back({TileId{i}, {}});
    for (std::uint32_t e = 0; turn.moves && e < view.header().entries; ++e) {
      loads.back().entries.push_back(view.entry(e));
      loads.back().entries.back().address = program::address_of(view.entry(e), turn);
    }
    scene.scripts[i] = {{list.count(), 0, false}};
  }
  return loads;
}

/// 12 channels of 24 GB/s; each tile reads and writes a part of a large matrix.
MachineConfig twelve_channels() {
  MachineConfig machine{.has_external = true};
  machine.external.channels = 12;
  machine.external.way_cycles = 50;
  machine.external.dram.clock_ghz = 1.5;
  machine.external.dram.rcd_clocks = machine.external.dram.rp_clocks = 23;
  machine.external.dram.ras_clocks = 46;
  machine.external.dram.cl_clocks = 21;
  machine.external.dram.refi_clocks = 2850;
  machine.external.dram.rfc_clocks = 180;
  return machine;
}

}  // namespace

TEST_SUITE("theory") {
  TEST_CASE("an estimate of one turn is what the memory takes") {
    std::uint64_t moving = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      CAPTURE(seed);
      Scene scene = RandomScene(seed).make();
      const std::vector<OuterLoad> loads = one_turn(scene);
      OuterBench bench(scene, 0);
      bench.run();
      std::uint64_t last = 0;
      for (const Outcome& outcome : bench.outcomes) last = std::max(last, outcome.done);
      CHECK(external_cycles(scene.machine, loads).count() == last);
      moving += last > 0;
    }
    CHECK(moving > 60);
  }

  TEST_CASE("an estimate of many requests comes near from the first of them") {
    const MachineConfig machine = twelve_channels();
    for (const std::uint32_t tiles : {4U, 100U}) {
      std::vector<OuterLoad> loads;
      for (std::uint32_t i = 0; i < tiles; ++i) {
        program::OuterEntry in = entry(i * 1'048'576ULL, 0, 2048);
        in.rows = 40'000 / tiles;
        in.pitch = 16384;
        loads.push_back({TileId{i}, {in, entry((2ULL << 30U) + i * 65536ULL, 0, 50'000, true)}});
      }
      const auto exact = static_cast<double>(external_cycles(machine, loads).count());
      const auto near = static_cast<double>(external_cycles(machine, loads, 20'000).count());
      CHECK(near == doctest::Approx(exact).epsilon(0.05));
    }
  }
}

TEST_SUITE("unit") {
  TEST_CASE("nothing takes no time, and one tile has one load") {
    const MachineConfig machine = twelve_channels();
    CHECK(external_cycles(machine, {}).count() == 0);
    CHECK(external_cycles(machine, std::vector<OuterLoad>{{TileId{7}, {}}}).count() == 0);
    CHECK_THROWS_AS(
        external_cycles(machine, std::vector<OuterLoad>{{TileId{7}, {}}, {TileId{7}, {}}}), Defect);
  }
}

}  // namespace tessera::sample
