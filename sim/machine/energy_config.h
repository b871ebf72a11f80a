#pragma once

#include <string>

namespace tessera::config {
class Fields;
}

namespace tessera {

/// What a machine's parts cost in joules and mm2; machine.energy. Every value is to be given: one
/// that is missing would count as nothing. Sentences and units stand in energy_config.cpp.
struct EnergyConfig {
  std::string node;
  double scale = 1;  ///< of everything dynamic
  double instruction_pj = 0;
  double fetch_bytes = 0;
  double integer_pj = 0;
  double integer_multiply_pj = 0;
  double iterative_slot_pj = 0;
  double f32_add_pj = 0;
  double f32_multiply_pj = 0;
  double f16_add_pj = 0;
  double f16_multiply_pj = 0;
  double matrix_f16_pj = 0;
  double matrix_f16_f32_pj = 0;
  double matrix_f32_pj = 0;
  double matrix_i8_pj = 0;
  double sram_pj_per_byte = 0;
  double wire_pj_per_bit_mm = 0;
  double idle_watts_per_tile = 0;
  double sram_mm2_per_mib = 0;
  double logic_mm2_per_tile = 0;
};

void describe(config::Fields& fields, EnergyConfig& energy);

}  // namespace tessera
