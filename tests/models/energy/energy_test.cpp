#include "models/energy/energy.h"

#include <cmath>
#include <map>

#include <doctest/doctest.h>

#include "models/energy/area.h"
#include "models/energy/power.h"
#include "sim/config/reader.h"
#include "tests/models/fabric/bench.h"
#include "tests/sim/machine/units.h"

namespace tessera::energy {
namespace {

/// Compares relatively at any magnitude: joules here are about 1e-12.
doctest::Approx near(double value) { return doctest::Approx(value).epsilon(1e-9).scale(1e-30); }

constexpr const char* kTable = R"({"node": "paper", "instruction_pj": 3, "fetch_bytes": 4,
  "integer_pj": 5, "integer_multiply_pj": 7, "integer_divide_pj": 8, "float_divide_pj": 11,
  "activation_pj": 12, "f32_add_pj": 13, "f32_multiply_pj": 17, "f16_add_pj": 19,
  "f16_multiply_pj": 23, "matrix_f16_pj": 29, "matrix_f16_f32_pj": 31, "matrix_f32_pj": 37,
  "matrix_i8_pj": 41, "matrix_i16_pj": 47, "matrix_bf16_pj": 53, "sram_pj_per_byte": 0.2,
  "sram_array_kib": 32, "sram_bank_kib": 32, "wire_pj_per_bit_mm": 0.1, "host_pj_per_byte": 43,
  "sram_leakage_watts_per_mib": 0.5, "logic_leakage_watts_per_mm2": 0.125,
  "leakage_exponent_per_volt": 3, "clock_watts_per_ghz_mm2": 0.25,
  "area": {"sram_mm2_per_mib": 1, "f16_mac_um2": 300, "f32_mac_um2": 700, "i8_mac_um2": 20,
           "i16_mac_um2": 40, "bf16_mac_um2": 60, "vector_um2": 2000, "integer_um2": 200,
           "control_um2": 400, "register_bit_um2": 0.3, "crosspoint_um2_per_byte": 2,
           "rest_mm2_per_tile": 3}})";

/// Two tiles of 1 MiB at 1 GHz; SRAM takes 1 mm2 a MiB, so that its wires are 1 mm long.
MachineConfig machine() {
  MachineConfig config{.tiles = 2};
  config.tile.sram_kib = 1024;
  config.tile.matrix_unit = test::full_unit();
  config.tile.matrix_unit.i8.outputs = 8;
  config.tile.matrix_unit.i16.outputs = 4;
  config.tile.matrix_unit.bf16.outputs = 4;
  config.has_energy = true;
  const config::Layers layers(config::parse_json(kTable, "table"), "table");
  config::Reader(layers, layers.value(), "energy").read(config.energy);
  return config;
}

/// A machine in which only SRAM and the rest have an area, so that logic is 6 mm2.
MachineConfig plain_machine() {
  MachineConfig config = machine();
  config.energy.area = {.sram_mm2_per_mib = 1, .rest_mm2_per_tile = 3};
  return config;
}

double total(const EnergyResult::Parts& parts) {
  double sum = 0;
  for (const auto& [name, value] : parts) sum += value;
  return sum;
}

double part_of(const EnergyResult::Parts& parts, const std::string& part) {
  for (const auto& [name, value] : parts)
    if (name == part) return value;
  return NAN;
}

RunResult idle_result() {
  RunResult result;
  result.tiles.resize(2);
  result.activity.resize(2);
  return result;
}

double joules(const EnergyResult& energy, const std::string& part) {
  return part_of(energy.joules, part);
}

/// A count of 1000 for every activity, on both tiles, in a microsecond at 1 GHz.
RunResult busy_result() {
  RunResult result = idle_result();
  result.time.compute = Cycle(1000);
  for (TileActivity& tile : result.activity) {
    tile.counts.fill(1000);
    tile.byte_micrometres = 1'000'000;
  }
  for (TileRecord& tile : result.tiles) tile.sent = tile.received = Bytes(1000);
  return result;
}

EnergyResult busy(const MachineConfig& config) {
  return account(config, busy_result(), Bytes(1000));
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("an idle machine costs only leakage and clock") {
    RunResult result = idle_result();
    result.time.compute = Cycle(1000);
    const EnergyResult energy = account(plain_machine(), result);
    CHECK(joules(energy, "leakage") == near((2 * 0.5 + 6 * 0.125) * 1e-6));
    CHECK(joules(energy, "clock") == near(6 * 0.25 * 1e-6));
    CHECK(energy.total_joules() == near(joules(energy, "leakage") + joules(energy, "clock")));
  }

  TEST_CASE("each count costs what the table says") {
    RunResult result = idle_result();
    const auto only = [&](isa::Activity which) {
      for (TileActivity& tile : result.activity) tile = {};
      result.activity[1].counts[index(which)] = 10;
      return account(machine(), result);
    };
    using enum isa::Activity;
    constexpr double kSramByte = 0.2 + 8 * 0.1;  // an SRAM array, and wires of 1 mm
    const auto pj = [](double value) { return near(value * 1e-12); };
    CHECK(joules(only(integer), "integer") == pj(50));
    CHECK(joules(only(integer), "instructions") == pj(30));
    CHECK(joules(only(integer), "sram") == pj(10 * 4 * kSramByte));
    CHECK(joules(only(integer_multiply), "integer") == pj(70));
    CHECK(joules(only(floating), "integer") == pj(0));
    CHECK(joules(only(integer_divides), "integer") == pj(80));
    CHECK(joules(only(float_divides), "floating") == pj(110));
    CHECK(joules(only(activations), "floating") == pj(120));
    CHECK(joules(only(f32_adds), "floating") == pj(130));
    CHECK(joules(only(f32_multiplies), "floating") == pj(170));
    CHECK(joules(only(f16_adds), "floating") == pj(190));
    CHECK(joules(only(f16_multiplies), "floating") == pj(230));
    CHECK(joules(only(matrix_f16), "matrix") == pj(10 * 29));
    CHECK(joules(only(matrix_f16_f32), "matrix") == pj(10 * 31));
    CHECK(joules(only(matrix_f32), "matrix") == pj(10 * 37));
    CHECK(joules(only(matrix_i8), "matrix") == pj(10 * 41));
    CHECK(joules(only(matrix_i16), "matrix") == pj(10 * 47));
    CHECK(joules(only(matrix_bf16), "matrix") == pj(10 * 53));
    CHECK(joules(only(bytes_loaded), "sram") == pj(10 * kSramByte));
    CHECK(joules(only(bytes_stored), "sram") == pj(10 * kSramByte));
  }

  TEST_CASE("bytes sent are read, bytes received are written, their way costs wire") {
    RunResult result = idle_result();
    result.tiles[0].sent = Bytes(100);
    result.tiles[1].received = Bytes(100);
    result.activity[0].byte_micrometres = 250'000;  // 2.5 mm
    const EnergyResult energy = account(machine(), result);
    CHECK(joules(energy, "sram") == near(200e-12));
    CHECK(joules(energy, "exchange") == near(100 * 8 * 2.5 * 0.1e-12));
    CHECK(energy.tile_joules[0] > energy.tile_joules[1]);
  }

  TEST_CASE("tiles sum to the whole, host transfers included") {
    RunResult result = busy_result();
    for (std::size_t i = 0; i < isa::kActivities; ++i) result.activity[1].counts[i] = 3 * i;
    const EnergyResult energy = account(machine(), result, Bytes(100));
    CHECK(joules(energy, "host") == near(100 * 43e-12));
    CHECK(energy.tile_joules[0] + energy.tile_joules[1] == near(energy.total_joules()));
  }

  TEST_CASE("larger banks and larger SRAMs cost more a byte") {
    MachineConfig config = machine();
    const double array = 0.2;
    const double wire = 8 * 0.1;
    const auto sram = [&] { return joules(busy(config), "sram"); };
    const double before = sram();
    config.energy.sram_bank_kib = 128;  // the square root of four
    CHECK(sram() == near(before * (2 * array + wire) / (array + wire)));
    config.energy.sram_array_kib = 512;  // the number is for an array of four banks
    CHECK(sram() == near(before * (array / 2 + wire) / (array + wire)));
    config.energy.sram_array_kib = 32;
    config.energy.sram_bank_kib = 32;
    config.tile.sram_kib = 4096;
    CHECK(sram() == near(before * (array + 2 * wire) / (array + wire)));
    config.energy.sram_bank_kib = 8192;  // limited to the SRAM's size
    CHECK(bank_kib(config.tile, config.energy) == 4096);
  }

  TEST_CASE("sizes of the machine move the parts of its area as the hardware grows") {
    using M = MachineConfig;
    struct Growth {
      std::map<std::string, double> um2;  ///< of a tile, by part
      void (*change)(M&);
    };
    const double bit = 0.3;
    const double f16 = 3000. / 35768;  // a lane's share of the vector units
    const double f32 = 11884. / 35768;
    const Growth growths[] = {
        {{{"registers", 6 * (3072 + 2 * 16 * 32 + 14336) * bit}},
         [](M& c) { c.tile.contexts = 12; }},
        {{{"matrix_unit", 64 * 300 + (32 * 32 - 16 * 16) * 16 * bit},
          {"registers", 6 * 2 * (32 - 16) * 32 * bit}},
         [](M& c) { c.tile.matrix_unit.f16.inputs = c.tile.matrix_unit.f16.outputs = 32; }},
        {{{"matrix_unit", -8 * 700}}, [](M& c) { c.tile.matrix_unit.f32.interval = 2; }},
        {{{"matrix_unit", -256 * 20}}, [](M& c) { c.tile.matrix_unit.i8.outputs = 0; }},
        {{{"matrix_unit", -256 * 20 - 64 * 40 - 128 * 60}, {"registers", -6 * 14336 * bit}},
         [](M& c) {
           MatrixUnitConfig& unit = c.tile.matrix_unit;
           unit.i8.outputs = unit.i16.outputs = unit.bf16.outputs = 0;
         }},
        {{{"matrix_unit", 0}}, [](M& c) { c.tile.matrix_unit.f16_f32.outputs = 0; }},
        {{{"control", -400}}, [](M& c) { c.tile.dual_issue = false; }},
        {{{"memory_ports", -32 * 8 * 2}}, [](M& c) { c.tile.load_bytes_per_slot = 8; }},
        {{{"memory_ports", 32 * 8 * 2}}, [](M& c) { c.tile.store_bytes_per_slot = 16; }},
        {{{"memory_ports", 32 * 32 * 2}}, [](M& c) { c.energy.sram_bank_kib = 16; }},
        {{{"memory_ports", 32 * 8 * 2}},
         [](M& c) { c.tile.matrix_unit.weight_load_bytes_per_cycle = 16; }},
        {{{"exchange", 2 * 4 / 2 * 2 + 4 * 2}}, [](M& c) { c.fabric.receive_bytes_per_cycle = 8; }},
        {{{"exchange", -4 * 2}}, [](M& c) { c.fabric.pair_sharing = false; }},
        {{{"exchange", 2 * 1 / 2.0 * 2}}, [](M& c) { c.fabric.send_bytes_per_cycle = 5; }},
        {{{"exchange", -2 * 4 * 2 - 4 * 2}}, [](M& c) { c.fabric.kind = "ideal"; }},
        {{{"arithmetic", -2000 * 2 * f16}}, [](M& c) { c.tile.slots.float_lanes = 2; }},
        {{{"arithmetic", -2000 * (3 * f16 + f32)}}, [](M& c) { c.tile.slots.float_lanes = 1; }},
        {{{"arithmetic", -1000}}, [](M& c) { c.tile.interval.floating = 2; }},
        {{{"arithmetic", -2000 * 0.75 * (4 * 1360 + 2 * 4184) / 35768}},
         [](M& c) { c.tile.slots.float_add = c.tile.slots.float_fma = 4; }},
        {{{"arithmetic", -2000 * 0.75 * (4 * 1640 + 2 * 7700) / 35768}},
         [](M& c) { c.tile.slots.float_multiply = c.tile.slots.float_fma = 4; }},
        {{{"arithmetic", -200 * 0.5 * 3495 / 3632}},
         [](M& c) { c.tile.slots.integer_multiply = 2; }},
        {{{"arithmetic", -200 * 137 / 3632. * 16}}, [](M& c) { c.tile.slots.integer_divide = 2; }},
        {{{"arithmetic", -200 * 137 / 3632. * 26 * 26 / 32 / 2}},
         [](M& c) { c.tile.interval.float_divide = 2; }},
        {{{"arithmetic", -2000 * 1.5 * f32}}, [](M& c) { c.tile.slots.activation = 2; }},
        {{{"arithmetic", -2000 * 1.5 * f32}}, [](M& c) { c.tile.interval.activation = 2; }},
        {{{"arithmetic", -200 * 137 / 3632. * 16}},
         [](M& c) { c.tile.interval.integer_divide = 2; }}};
    const EnergyResult::Parts before = chip_area(machine());
    for (const Growth& growth : growths) {
      MachineConfig config = machine();
      growth.change(config);
      for (const auto& part : before) {
        CAPTURE(growth.um2.begin()->first);
        CAPTURE(part.first);
        const auto found = growth.um2.find(part.first);
        const double more = found == growth.um2.end() ? 0 : 2e-6 * found->second;
        CHECK(part_of(chip_area(config), part.first) == near(part.second + more));
      }
    }
    MachineConfig twice = machine();
    twice.fabric.pair_sharing = false;
    const EnergyResult::Parts once = chip_area(twice);
    twice.tiles = 4;  // the exchange grows four times, since every tile selects among all
    CHECK(total(chip_area(twice)) == near(2 * (total(once) + part_of(once, "exchange"))));
  }

  TEST_CASE("a class of nodes like the tiles adds what as many tiles would") {
    MachineConfig tiles = machine();
    tiles.tiles = 5;
    MachineConfig nodes = machine();
    nodes.nodes.push_back({"more", 5 - nodes.tiles, nodes.tile, {}});
    for (const auto& part : chip_area(tiles)) {
      CAPTURE(part.first);
      CHECK(part_of(chip_area(nodes), part.first) == near(part.second));
    }
    CHECK(Power(nodes).leakage_watts == near(Power(tiles).leakage_watts));
    CHECK(Power(nodes).clock_watts == near(Power(tiles).clock_watts));
    CHECK(floorplan(nodes).row_um == floorplan(tiles).row_um);
    nodes.nodes[0].tile.contexts = 0;
    CHECK(part_of(chip_area(nodes), "matrix_unit") ==
          near(part_of(chip_area(machine()), "matrix_unit")));
    nodes.nodes[0].ports = {{PortConfig::Direction::receive, 4, 3}};
    CHECK(part_of(chip_area(nodes), "exchange") > 0);
  }

  TEST_CASE("the exchange's area grows with each rate, whatever divides the two") {
    const auto area = [](std::uint32_t send, std::uint32_t receive) {
      MachineConfig config = machine();
      config.fabric.send_bytes_per_cycle = send;
      config.fabric.receive_bytes_per_cycle = receive;
      config.fabric.pair_sharing = false;
      return part_of(chip_area(config), "exchange");
    };
    for (std::uint32_t send = 1; send <= 20; ++send) {
      CHECK(area(send, send) == near(2 * 2 * 2e-6 * send));
      for (std::uint32_t receive = 1; receive <= 20; ++receive) {
        CHECK(area(send + 1, receive) > area(send, receive));
        CHECK(area(send, receive + 1) > area(send, receive));
      }
    }
  }

  TEST_CASE("a slower clock takes less voltage: fewer joules of work, longer leakage") {
    MachineConfig config = plain_machine();
    config.energy.voltage = {{0.5, 0.5}, {1, 0.8}, {2, 1.0}};
    config.energy.nominal_volts = 0.8;
    const EnergyResult nominal = busy(config);
    CHECK(nominal.volts == 0.8);
    MachineConfig without = config;
    without.energy.voltage = {};
    CHECK(nominal.total_joules() == busy(without).total_joules());
    config.clock_ghz = 0.75;  // 0.65 V
    const EnergyResult slow = busy(config);
    const double square = (0.65 / 0.8) * (0.65 / 0.8);
    CHECK(slow.volts == near(0.65));
    for (const char* part :
         {"instructions", "integer", "floating", "matrix", "sram", "exchange", "host"})
      CHECK(joules(slow, part) == near(square * joules(nominal, part)));
    // Clock power is proportional to f V^2, and the time to 1 / f.
    CHECK(joules(slow, "clock") == near(square * joules(nominal, "clock")));
    const double power = 0.65 / 0.8 * std::exp(3 * (0.65 - 0.8));
    CHECK(joules(slow, "leakage") == near(power / 0.75 * joules(nominal, "leakage")));
    config.clock_ghz = 2;
    CHECK(busy(config).volts == near(1.0));
    CHECK(joules(busy(config), "matrix") > joules(nominal, "matrix"));
    config.energy.leakage_exponent_per_volt = 6;
    CHECK(joules(busy(config), "leakage") ==
          near(1.0 / 0.8 * std::exp(6 * 0.2) / 2 * joules(nominal, "leakage")));
    // Without voltage points a slower clock changes only power.
    without.clock_ghz = 0.5;
    CHECK(joules(busy(without), "matrix") == joules(nominal, "matrix"));
    CHECK(joules(busy(without), "leakage") == near(2 * joules(nominal, "leakage")));
  }

  TEST_CASE("pairs of tiles stand in columns of a square chip") {
    MachineConfig config = plain_machine();
    config.tiles = 64;
    config.tile.sram_kib = 1024;
    config.fabric.columns = 8;  // so 4 rows of pairs on 16 x 16 mm
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
        FabricConfig config{.kind = kind};
        fabric::Bench bench(config, 16, 256, plan);
        bench.load(
            {{at(0, 0), 40, {at(2, 64), at(14, 64), at(8, 64)}}, {at(5, 0), 8, {at(4, 128)}}});
        const fabric::Moved outcome = bench.run(threads);
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
