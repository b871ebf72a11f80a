#pragma once

#include <cstdint>

#include "sim/isa/mnemonic.h"

/// Kind of an instruction's result, which determines its latency and unit.
namespace tessera::isa {

enum class ResultClass : std::uint8_t {
  integer,
  integer_multiply,
  integer_divide,
  f32_add,
  f32_multiply,
  f32_fma,  ///< also f16 products summed in f32
  f16_add,
  f16_multiply,
  f16_fma,
  float_move,  ///< moves, comparisons, conversions, lane shuffles, integer lanes, random numbers
  float_divide,
  square_root,
  activation,
  matrix
};

/// Class of all results that `mnemonic` computes, without loaded values.
ResultClass result_class(Mnemonic mnemonic);

/// Plain arithmetic in an instruction's lanes: floating-point adds and multiplies, or integer adds.
enum class Arithmetic : std::uint8_t { none, add, multiply, fused, integer_add };
Arithmetic arithmetic_of(Mnemonic mnemonic);
/// The number of these lanes.
std::uint32_t arithmetic_lanes(Mnemonic mnemonic);

}  // namespace tessera::isa
