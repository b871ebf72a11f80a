#include "models/energy/energy.h"

#include <cmath>

#include <doctest/doctest.h>

#include "models/energy/area.h"
#include "tests/models/fabric/bench.h"

namespace tessera::energy {
namespace {

/// Two tiles of 1 MiB at 1 GHz; SRAM 1 mm2 a MiB, so that its wires are 1 mm long.
MachineConfig machine() {
  MachineConfig config;
  config.tiles = 2;
  config.tile.sram_kib = 1024;
  config.has_energy = true;
  EnergyConfig& table = config.energy;
  table = {.node = "paper",
           .instruction_pj = 3,
           .fetch_bytes = 4,
           .integer_pj = 5,
           .integer_multiply_pj = 7,
           .iterative_slot_pj = 11,
           .f32_add_pj = 13,
           .f32_multiply_pj = 17,
           .f16_add_pj = 19,
           .f16_multiply_pj = 23,
           .matrix_f16_pj = 29,
           .matrix_f16_f32_pj = 31,
           .matrix_f32_pj = 37,
           .matrix_i8_pj = 41,
           .sram_pj_per_byte = 0.2,
           .wire_pj_per_bit_mm = 0.1,
           .idle_watts_per_tile = 2,
           .sram_mm2_per_mib = 1,
           .logic_mm2_per_tile = 3};
  return config;
}

RunResult idle_result() {
  RunResult result;
  result.tiles.resize(2);
  result.activity.resize(2);
  return result;
}

double joules(const EnergyResult& energy, const std::string& part) {
  for (const auto& [name, value] : energy.joules)
    if (name == part) return value;
  return NAN;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("what nobody does costs nothing but the idle power") {
    RunResult result = idle_result();
    result.time.compute = Cycle(1000);
    const EnergyResult energy = account(machine(), result);
    CHECK(energy.total_joules() == doctest::Approx(2 * 2 * 1e-6));
    CHECK(joules(energy, "idle") == energy.total_joules());
  }

  TEST_CASE("each count costs what the table says") {
    RunResult result = idle_result();
    const auto only = [&](isa::Activity which) {
      for (TileActivity& tile : result.activity) tile = {};
      result.activity[1].counts[index(which)] = 10;
      return account(machine(), result);
    };
    using enum isa::Activity;
    constexpr double kSramByte = 0.2 + 8 * 0.1;  // an array, and a side of 1 mm
    const auto pj = [](double value) { return doctest::Approx(value * 1e-12); };
    CHECK(joules(only(integer), "integer") == pj(50));
    CHECK(joules(only(integer), "instructions") == pj(30));
    CHECK(joules(only(integer), "sram") == pj(10 * 4 * kSramByte));
    CHECK(joules(only(integer_multiply), "integer") == pj(70));
    CHECK(joules(only(floating), "integer") == pj(0));
    CHECK(joules(only(iterative_slots), "floating") == pj(110));
    CHECK(joules(only(f32_adds), "floating") == pj(130));
    CHECK(joules(only(f32_multiplies), "floating") == pj(170));
    CHECK(joules(only(f16_adds), "floating") == pj(190));
    CHECK(joules(only(f16_multiplies), "floating") == pj(230));
    CHECK(joules(only(matrix_f16), "matrix") == pj(10 * 64 * 29));
    CHECK(joules(only(matrix_f16_f32), "matrix") == pj(10 * 32 * 31));
    CHECK(joules(only(matrix_f32), "matrix") == pj(10 * 16 * 37));
    CHECK(joules(only(matrix_i8), "matrix") == pj(10 * 256 * 41));
    CHECK(joules(only(bytes_loaded), "sram") == pj(10 * kSramByte));
    CHECK(joules(only(bytes_stored), "sram") == pj(10 * kSramByte));
  }

  TEST_CASE("bytes sent are read, bytes received are written, their way costs wire") {
    RunResult result = idle_result();
    result.tiles[0].sent = Bytes(100);
    result.tiles[1].received = Bytes(100);
    result.activity[0].byte_micrometres = 250'000;  // 2.5 mm
    const EnergyResult energy = account(machine(), result);
    CHECK(joules(energy, "sram") == doctest::Approx(200e-12));
    CHECK(joules(energy, "exchange") == doctest::Approx(100 * 8 * 2.5 * 0.1e-12));
    CHECK(energy.tile_joules[0] > energy.tile_joules[1]);
  }

  TEST_CASE("tiles sum to the whole, and the scale leaves the idle power") {
    RunResult result = idle_result();
    result.time.compute = Cycle(500);
    for (std::size_t i = 0; i < isa::kActivities; ++i) {
      result.activity[0].counts[i] = 1000 + i;
      result.activity[1].counts[i] = 3 * i;
    }
    MachineConfig config = machine();
    const EnergyResult energy = account(config, result);
    CHECK(energy.tile_joules[0] + energy.tile_joules[1] == doctest::Approx(energy.total_joules()));
    config.energy.scale = 0.5;
    const EnergyResult scaled = account(config, result);
    const double idle = joules(energy, "idle");
    CHECK(joules(scaled, "idle") == idle);
    CHECK(scaled.total_joules() - idle == doctest::Approx((energy.total_joules() - idle) / 2));
  }

  TEST_CASE("larger SRAMs have longer wires and more area") {
    MachineConfig config = machine();
    CHECK(sram_side_mm(config) == doctest::Approx(1));
    CHECK(chip_area(config).total_mm2() == doctest::Approx(8));
    config.tile.sram_kib = 4096;
    CHECK(sram_side_mm(config) == doctest::Approx(2));
    CHECK(chip_area(config).sram_mm2 == doctest::Approx(8));
    CHECK(chip_area(config).logic_mm2 == doctest::Approx(6));
  }

  TEST_CASE("pairs of tiles stand in columns of a square chip") {
    MachineConfig config = machine();
    config.tiles = 64;
    config.tile.sram_kib = 1024;
    config.fabric.columns = 8;  // and 4 rows of pairs on 16 x 16 mm
    const fabric::Floorplan plan = floorplan(config);
    CHECK(plan.column_um == 2000);
    CHECK(plan.row_um == 4000);
    CHECK(plan.distance_um(0, 1) == 0);
    CHECK(plan.distance_um(0, 3) == 2000);
    CHECK(plan.distance_um(17, 2) == 6000);
    CHECK(plan.distance_um(2, 17) == 6000);
    config.fabric.columns = 1000;  // more than there are pairs
    CHECK(floorplan(config).row_um == 16000);
  }

  TEST_CASE("a multicast goes as far as its farthest receiver, once") {
    const fabric::Floorplan plan{4, 100, 1000};
    const auto at = [](std::uint32_t tile, std::uint32_t address) {
      return program::Port{TileId(tile), Address(address)};
    };
    for (const char* kind : {"scheduled", "ideal"}) {
      for (const unsigned threads : {1U, 2U, 3U}) {
        FabricConfig config;
        config.kind = kind;
        fabric::Bench bench(config, 16, 256, plan);
        bench.load(
            {{at(0, 0), 40, {at(2, 64), at(14, 64), at(8, 64)}}, {at(5, 0), 8, {at(4, 128)}}});
        const fabric::Outcome outcome = bench.run(threads);
        std::uint64_t far = 0;
        for (std::size_t i = 0; i < outcome.tiles.size(); ++i) {
          const std::uint64_t way = outcome.tiles[i].byte_micrometres;
          if (bench.participants()[i].tile == TileId(0)) CHECK(way == 40 * (300 + 1000));
          far += way;
        }
        CHECK(far == 40 * 1300);
      }
    }
  }
}

}  // namespace tessera::energy
