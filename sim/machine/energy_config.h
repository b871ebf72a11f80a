#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::config {
class Fields;
}

namespace tessera {

/// Area of a machine's parts; machine.energy.area. The number of arithmetic units follows from the
/// matrix unit's shape and the instruction set.
struct AreaConfig {
  double sram_mm2_per_mib = 0;
  double f16_mac_um2 = 0;  ///< matrix unit; this one with f16 partials, the next with f32
  double f32_mac_um2 = 0;
  double i8_mac_um2 = 0;
  double i16_mac_um2 = 0;  ///< required with the type
  double bf16_mac_um2 = 0;
  double vector_um2 = 0;  ///< f16x4 and f32x2
  double integer_um2 = 0;
  double control_um2 = 0;  ///< per issued instruction; twice with dual issue
  double register_bit_um2 = 0;
  double crosspoint_um2_per_byte = 0;  ///< exchange, and between memory banks and ports
  double rest_mm2_per_tile = 0;
};

/// A clock and the voltage at which the chip reaches it.
struct VoltagePoint {
  double ghz = 0;
  double volts = 0;
};

/// Energy in joules and area in mm2 of a machine's parts; machine.energy. Every value must be
/// given: a missing one would count as zero. Sentences and units are in energy_config.cpp.
struct EnergyConfig {
  std::string node;
  std::vector<VoltagePoint> voltage;  ///< sorted by clock, ascending; empty: nominal
  double nominal_volts = 0;           ///< voltage that the table holds for; only with `voltage`
  double instruction_pj = 0;
  double fetch_bytes = 0;
  double integer_pj = 0;
  double integer_multiply_pj = 0;
  double integer_divide_pj = 0;
  double float_divide_pj = 0;
  double activation_pj = 0;
  double f32_add_pj = 0;
  double f32_multiply_pj = 0;
  double f16_add_pj = 0;
  double f16_multiply_pj = 0;
  double matrix_f16_pj = 0;
  double matrix_f16_f32_pj = 0;
  double matrix_f32_pj = 0;
  double matrix_i8_pj = 0;
  double matrix_i16_pj = 0;  ///< required with the type
  double matrix_bf16_pj = 0;
  double sram_pj_per_byte = 0;
  double sram_array_kib = 0;  ///< array size that sram_pj_per_byte holds for
  double sram_bank_kib = 0;
  double wire_pj_per_bit_mm = 0;
  double host_pj_per_byte = 0;
  std::optional<double> external_pj_per_byte;  ///< required with external memory
  double external_activate_pj = 0;
  double sram_leakage_watts_per_mib = 0;
  double logic_leakage_watts_per_mm2 = 0;
  double leakage_exponent_per_volt = 0;
  double clock_watts_per_ghz_mm2 = 0;
  AreaConfig area;

  /// True if `voltage` is empty or its points span this clock.
  [[nodiscard]] bool reaches(double ghz) const {
    return voltage.empty() || (ghz >= voltage.front().ghz && ghz <= voltage.back().ghz);
  }
};

/// True if the area model depends on the number at `path`; false for numbers, such as
/// "machine.tile.latency.load", whose area no public source gives.
bool has_area_model(std::string_view path);

void describe(config::Fields& fields, AreaConfig& area);
void describe(config::Fields& fields, VoltagePoint& point);
void describe(config::Fields& fields, EnergyConfig& energy);

}  // namespace tessera
