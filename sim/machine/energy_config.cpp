#include "sim/machine/energy_config.h"

#include "sim/config/fields.h"

namespace tessera {
namespace {

constexpr config::Range<double> kPicojoules{0, 1e6};

void describe_arithmetic(config::Fields& fields, EnergyConfig& energy) {
  const auto number = [&](std::string_view key, std::string_view sentence, double& value) {
    fields.field({key, sentence, "pJ", true}, value, kPicojoules);
  };
  number("integer_pj", "an integer operation, an address or a branch", energy.integer_pj);
  number("integer_multiply_pj", "an integer multiply", energy.integer_multiply_pj);
  number("iterative_slot_pj", "a slot of a divide, a root or an activation",
         energy.iterative_slot_pj);
  number("f32_add_pj", "an f32 add; a fused multiply-add is an add and a multiply",
         energy.f32_add_pj);
  number("f32_multiply_pj", "an f32 multiply", energy.f32_multiply_pj);
  number("f16_add_pj", "an f16 add", energy.f16_add_pj);
  number("f16_multiply_pj", "an f16 multiply", energy.f16_multiply_pj);
  number("matrix_f16_pj", "a multiply-add of the matrix unit, amp.h", energy.matrix_f16_pj);
  number("matrix_f16_f32_pj", "the same, amp.hs", energy.matrix_f16_f32_pj);
  number("matrix_f32_pj", "the same, amp.s", energy.matrix_f32_pj);
  number("matrix_i8_pj", "the same, amp.b", energy.matrix_i8_pj);
}

}  // namespace

void describe(config::Fields& fields, EnergyConfig& energy) {
  fields.field({"node", "the process that the numbers hold for", "", true}, energy.node);
  fields.field({"scale", "what all but the idle power is multiplied by, for another voltage"},
               energy.scale, {1e-3, 1e3});
  fields.field({"instruction_pj", "an instruction, without its fetch: decoding, registers, control",
                "pJ", true},
               energy.instruction_pj, kPicojoules);
  fields.field(
      {"fetch_bytes", "what the fetch of an instruction reads of the tile's SRAM", "bytes", true},
      energy.fetch_bytes, {0, 64});
  describe_arithmetic(fields, energy);
  fields.field({"sram_pj_per_byte",
                "a byte read or written in a small array of the SRAM; the way to it, a side of the "
                "tile's SRAM, is wire",
                "pJ", true},
               energy.sram_pj_per_byte, kPicojoules);
  fields.field({"wire_pj_per_bit_mm", "a bit over a millimetre of wire", "pJ", true},
               energy.wire_pj_per_bit_mm, kPicojoules);
  fields.field({"idle_watts_per_tile",
                "the chip's power while nothing runs, leakage and clock, for each tile", "W", true},
               energy.idle_watts_per_tile, {0, 1e3});
  fields.field(
      {"sram_mm2_per_mib", "area of SRAM, with decoders and sense amplifiers", "mm2", true},
      energy.sram_mm2_per_mib, {1e-6, 1e3});
  fields.field({"logic_mm2_per_tile", "area of the chip that is no SRAM of tiles, for each tile",
                "mm2", true},
               energy.logic_mm2_per_tile, {0, 1e3});
}

}  // namespace tessera
