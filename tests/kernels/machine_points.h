#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "sim/machine/machine_config.h"
#include "tests/sim/machine/units.h"

namespace tessera::test {

/// Draws random machines from the whole space of configs, seeded.
class MachinePoints {
 public:
  explicit MachinePoints(std::uint64_t seed) : random_(seed) {}
  /// For one problem: draws for other problems with the same seed do not change this one's.
  MachinePoints(std::uint64_t seed, std::string_view problem) {
    std::vector<std::uint64_t> all(problem.begin(), problem.end());
    all.push_back(seed);
    std::seed_seq sequence(all.begin(), all.end());
    random_.seed(sequence);
  }

  std::size_t below(std::size_t bound) { return random_() % bound; }

  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[below(values.size())];
  }

  MachineConfig machine() {
    MachineConfig machine{.name = "point", .tiles = one_of({1U, 4U, 16U, 64U})};
    machine.sync.chip_cycles = one_of({0U, 90U});
    TileConfig& tile = machine.tile;
    tile.sram_kib = 4096;
    tile.contexts = one_of({1U, 2U, 4U, 6U, 8U, 12U});
    tile.dual_issue = one_of({true, false});
    tile.load_bytes_per_slot = one_of({4U, 8U, 16U, 32U});
    tile.store_bytes_per_slot = one_of({4U, 8U});
    tile.matrix_unit = full_unit();
    tile.matrix_unit.weight_load_bytes_per_cycle = one_of({4U, 8U, 32U});
    tile.slots.plain = one_of({1U, 1U, 2U});
    issue(tile);
    latencies(tile.latency);
    if (tile.issue == IssueKind::barrel) supervisor(tile.supervisor);
    fabric(machine.fabric);
    return machine;
  }

  /// Adds external memory, which the tiles access, to a machine.
  void external(MachineConfig& machine) {
    machine.has_external = true;
    machine.tile.overlap = one_of({true, false});
    ExternalConfig& external = machine.external;
    external.channels = one_of({1U, 2U, 6U, 12U});
    external.mib_per_channel = 64;
    external.interleave_bytes = one_of({1024U, 4096U});
    external.request_bytes = one_of({64U, 256U, 1024U});
    external.outstanding = one_of({2U, 8U, 32U});
    external.dma_bytes_per_cycle = one_of({4U, 16U, 64U});
    external.setup_cycles = one_of({0U, 60U});
    external.way_cycles = one_of({0U, 50U, 300U});
    DramConfig& dram = external.dram;
    dram.clock_ghz = machine.clock_ghz * one_of({0.7, 1.0, 1.5});
    dram.bytes_per_clock = one_of({8U, 32U});
    dram.rcd_clocks = dram.rp_clocks = dram.cl_clocks = one_of({8U, 20U});
    dram.ras_clocks = 2 * dram.rcd_clocks;
    dram.cwl_clocks = dram.wtr_clocks = 6;
  }

 private:
  void issue(TileConfig& tile) {
    tile.issue =
        one_of({IssueKind::barrel, IssueKind::barrel, IssueKind::revolver, IssueKind::interleaved});
    if (tile.issue == IssueKind::revolver) tile.reissue_cycles = one_of({1U, 6U, 11U});
    if (tile.contexts == 1 && tile.issue == IssueKind::barrel)
      tile.issue = one_of({IssueKind::barrel, IssueKind::single});
  }

  void latencies(LatencyConfig& latency) {
    latency.load = one_of({1U, 6U, 11U});
    latency.integer = one_of({1U, 2U, 6U});
    latency.f32_fma = latency.f16_fma = one_of({1U, 4U, 6U, 11U});
    latency.f32_add = latency.f16_add = one_of({1U, 3U, 6U});
    latency.float_move = one_of({1U, 6U});
    latency.matrix = one_of({1U, 6U, 11U});
    latency.branch_taken = one_of({1U, 3U, 6U});
  }

  void supervisor(SupervisorCosts& costs) {
    costs.plain_cycles = one_of({1U, 4U});
    costs.branch_taken_cycles = one_of({6U, 24U});
    costs.load_use_stall_cycles = one_of({0U, 5U, 20U});
    costs.launch_cycles = one_of({6U, 24U});
    costs.launch_stagger_cycles = one_of({0U, 4U, 16U});
    costs.join_cycles = one_of({6U, 24U});
    costs.weight_load_cycles = one_of({6U, 24U});
  }

  void fabric(FabricConfig& fabric) {
    fabric.kind = one_of<const char*>({"scheduled", "scheduled", "scheduled", "ideal"});
    fabric.fixed_cycles = one_of({0U, 100U});
    fabric.send_bytes_per_cycle = one_of({2U, 4U, 9U, 16U});
    fabric.receive_bytes_per_cycle = one_of({3U, 4U, 8U, 17U});
    fabric.pair_sharing = one_of({true, false});
    fabric.cycles_per_hop = one_of({0U, 0U, 1U});
  }

  std::mt19937_64 random_;
};

}  // namespace tessera::test
