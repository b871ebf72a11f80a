#pragma once

#include <cstdint>

#include "sim/isa/mnemonic.h"

/// Kind of result of an instruction, which decides latency and unit of the machine.
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

/// Class of all results that `mnemonic` computes; values that it loads are not among them.
ResultClass result_class(Mnemonic mnemonic);

/// Adds and multiplies in its lanes, as far as they are plain arithmetic: floating-point, or adds
/// of integers.
enum class Arithmetic : std::uint8_t { none, add, multiply, fused, integer_add };
Arithmetic arithmetic_of(Mnemonic mnemonic);
/// How many such lanes.
std::uint32_t arithmetic_lanes(Mnemonic mnemonic);

}  // namespace tessera::isa
