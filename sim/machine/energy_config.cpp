#include "sim/machine/energy_config.h"

#include <algorithm>

#include "sim/config/fields.h"

namespace tessera {
namespace {

constexpr config::Range<double> kPicojoules{0, 1e6};
constexpr config::Range<double> kWatts{0, 1e3};
constexpr config::Range<double> kMicrometres2{0, 1e9};
constexpr config::Range<double> kKibibytes{1.0 / 16, 65536};
constexpr config::Range<double> kVolts{0.1, 10};

void describe_arithmetic(config::Fields& fields, EnergyConfig& energy) {
  const auto number = [&](std::string_view key, std::string_view sentence, double& value) {
    fields.field({key, sentence, "pJ", true}, value, kPicojoules);
  };
  number("instruction_pj",
         "overhead of an instruction without its fetch: decoding, registers, control",
         energy.instruction_pj);
  number("integer_pj", "an integer operation, an address or a branch", energy.integer_pj);
  number("integer_multiply_pj", "an integer multiply", energy.integer_multiply_pj);
  number("integer_divide_pj", "an integer divide or remainder, regardless of its slots",
         energy.integer_divide_pj);
  number("float_divide_pj", "a floating-point divide or square root, regardless of its slots",
         energy.float_divide_pj);
  number("activation_pj",
         "exp2, log2, tanh, sigmoid or reciprocal square root, regardless of its slots",
         energy.activation_pj);
  number("f32_add_pj", "an f32 add; a fused multiply-add is an add and a multiply",
         energy.f32_add_pj);
  number("f32_multiply_pj", "an f32 multiply", energy.f32_multiply_pj);
  number("f16_add_pj", "an f16 add", energy.f16_add_pj);
  number("f16_multiply_pj", "an f16 multiply", energy.f16_multiply_pj);
  number("matrix_f16_pj", "a multiply-add of the matrix unit in amp.h", energy.matrix_f16_pj);
  number("matrix_f16_f32_pj", "a multiply-add of the matrix unit in amp.hs",
         energy.matrix_f16_f32_pj);
  number("matrix_f32_pj", "a multiply-add of the matrix unit in amp.s", energy.matrix_f32_pj);
  number("matrix_i8_pj", "a multiply-add of the matrix unit in amp.b", energy.matrix_i8_pj);
  fields.field(
      {"matrix_i16_pj",
       "a multiply-add of the matrix unit in amp.i16; required if the unit has this type", "pJ"},
      energy.matrix_i16_pj, kPicojoules);
  fields.field(
      {"matrix_bf16_pj",
       "a multiply-add of the matrix unit in amp.bf16; required if the unit has this type", "pJ"},
      energy.matrix_bf16_pj, kPicojoules);
}

void describe_movement(config::Fields& fields, EnergyConfig& energy) {
  fields.field(
      {"fetch_bytes", "bytes of the tile's SRAM read to fetch one instruction", "bytes", true},
      energy.fetch_bytes, {0, 64});
  fields.field(
      {"sram_pj_per_byte",
       "a byte read from or written to an array of sram_array_kib; within a bank it grows with the "
       "square root of the size; the path to the bank, one side of the tile's SRAM, counts as wire",
       "pJ", true},
      energy.sram_pj_per_byte, kPicojoules);
  fields.field({"sram_array_kib", "array size for which sram_pj_per_byte holds", "KiB", true},
               energy.sram_array_kib, kKibibytes);
  fields.field({"sram_bank_kib", "size of an SRAM bank; at most the tile's SRAM", "KiB", true},
               energy.sram_bank_kib, kKibibytes);
  fields.field({"wire_pj_per_bit_mm", "energy per bit and millimetre of wire", "pJ", true},
               energy.wire_pj_per_bit_mm, kPicojoules);
  fields.field({"host_pj_per_byte", "a byte to or from the host, if host transfers are measured",
                "pJ", true},
               energy.host_pj_per_byte, kPicojoules);
  fields.field({"external_pj_per_byte",
                "a byte read from or written to external memory, including its path; required if "
                "the machine has external memory",
                "pJ"},
               energy.external_pj_per_byte, kPicojoules);
  fields.field({"external_activate_pj", "an activate of a row of external memory", "pJ"},
               energy.external_activate_pj, {0, 1e9});
}

void describe_idle(config::Fields& fields, EnergyConfig& energy) {
  fields.field({"sram_leakage_watts_per_mib", "leakage of SRAM", "W", true},
               energy.sram_leakage_watts_per_mib, kWatts);
  fields.field(
      {"logic_leakage_watts_per_mm2", "leakage of logic (everything except SRAM)", "W", true},
      energy.logic_leakage_watts_per_mm2, kWatts);
  fields.field({"leakage_exponent_per_volt",
                "leakage power goes with V exp(this x (V - nominal_volts))", "", true},
               energy.leakage_exponent_per_volt, {0, 100});
  fields.field({"clock_watts_per_ghz_mm2",
                "idle power of the clock network, per clock rate and area of logic", "W", true},
               energy.clock_watts_per_ghz_mm2, kWatts);
}

void describe_voltage(config::Fields& fields, EnergyConfig& energy) {
  fields.list({"voltage",
               "supply voltage over clock rate, interpolated; dynamic energy scales with its "
               "square; without points it is nominal at every clock"},
              energy.voltage);
  const auto no_rise = std::adjacent_find(
      energy.voltage.begin(), energy.voltage.end(),
      [](const VoltagePoint& a, const VoltagePoint& b) { return a.ghz >= b.ghz; });
  if (no_rise != energy.voltage.end())
    fields.require(false, "voltage",
                   "found {} GHz behind {} GHz, allowed clocks that rise from point to "
                   "point",
                   (no_rise + 1)->ghz, no_rise->ghz);
  const bool points = !energy.voltage.empty();
  fields.field({"nominal_volts", "supply voltage for which this table's numbers hold", "V", points,
                points ? "" : "voltage"},
               energy.nominal_volts, kVolts);
}

}  // namespace

bool has_area_model(std::string_view path) {
  constexpr std::string_view kWithout[] = {"machine.clock_ghz",
                                           "machine.tile.reissue_cycles",
                                           "machine.tile.slots.plain",
                                           "machine.tile.latency.",
                                           "machine.tile.supervisor.",
                                           "machine.fabric.fixed_cycles",
                                           "machine.fabric.cycles_per_hop",
                                           "machine.sync.",
                                           "machine.host."};
  return std::ranges::none_of(kWithout,
                              [&](std::string_view each) { return path.starts_with(each); });
}

void describe(config::Fields& fields, VoltagePoint& point) {
  fields.field({"ghz", "a clock", "GHz", true}, point.ghz, {1e-3, 1e3});
  fields.field({"volts", "supply voltage at this clock", "V", true}, point.volts, kVolts);
}

void describe(config::Fields& fields, AreaConfig& area) {
  const auto number = [&](std::string_view key, std::string_view sentence, double& value) {
    fields.field({key, sentence, "um2", true}, value, kMicrometres2);
  };
  fields.field(
      {"sram_mm2_per_mib", "area of SRAM, with decoders and sense amplifiers", "mm2", true},
      area.sram_mm2_per_mib, {1e-6, 1e3});
  number("f16_mac_um2",
         "area of one multiply-add per slot of the matrix unit, f16 (both kinds of partials)",
         area.f16_mac_um2);
  number("f32_mac_um2", "area of one multiply-add per slot of the matrix unit, f32",
         area.f32_mac_um2);
  number("i8_mac_um2", "area of one multiply-add per slot of the matrix unit, int8",
         area.i8_mac_um2);
  fields.field({"i16_mac_um2",
                "area of one multiply-add per slot of the matrix unit, int16; required if the unit "
                "has this type",
                "um2"},
               area.i16_mac_um2, kMicrometres2);
  fields.field({"bf16_mac_um2",
                "area of one multiply-add per slot of the matrix unit, bf16; required if the unit "
                "has this type",
                "um2"},
               area.bf16_mac_um2, kMicrometres2);
  number("vector_um2",
         "a tile's vector units with four f16 and two f32 multiply-adds per slot; scales with "
         "lanes and slots",
         area.vector_um2);
  number("integer_um2", "a tile's integer unit with one multiply per slot", area.integer_um2);
  number("control_um2",
         "fetch, decoding and control for one instruction per slot; counted twice with dual_issue",
         area.control_um2);
  number("register_bit_um2", "a bit of a register", area.register_bit_um2);
  number("crosspoint_um2_per_byte",
         "one source-sink pair of one byte per cycle, in the exchange and between a tile's SRAM "
         "banks and its load and store ports",
         area.crosspoint_um2_per_byte);
  fields.field(
      {"rest_mm2_per_tile", "remaining area per tile, not covered by the keys above", "mm2", true},
      area.rest_mm2_per_tile, {0, 1e3});
}

void describe(config::Fields& fields, EnergyConfig& energy) {
  fields.field({"node", "process node of these numbers", "", true}, energy.node);
  describe_voltage(fields, energy);
  describe_arithmetic(fields, energy);
  describe_movement(fields, energy);
  describe_idle(fields, energy);
  fields.group({"area", "area by part"}, energy.area);
}

}  // namespace tessera
