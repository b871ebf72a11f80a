#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/isa/mnemonic.h"

/// Activities of an instruction, as energy and bounds count them.
namespace tessera::isa {

enum class Activity : std::uint8_t {
  // Every instruction is one of these:
  integer,  ///< divides too
  integer_multiply,
  control,  ///< branches, CSRs, run, join, sync, exchange
  memory,
  floating,  ///< moves, compares and conversions too
  // Additional activities:
  integer_divides,  ///< remainders too
  float_divides,    ///< square roots too
  activations,
  f32_adds,  ///< by lanes; a fused multiply-add is one add and one multiply
  f32_multiplies,
  f16_adds,
  f16_multiplies,
  matrix_f16,      ///< multiply-adds of the matrix unit: amp.h
  matrix_f16_f32,  ///< amp.hs
  matrix_f32,      ///< amp.s
  matrix_i8,       ///< amp.b
  matrix_i16,      ///< amp.i16
  matrix_bf16,     ///< amp.bf16
  bytes_loaded,
  bytes_stored,
  // Minimum time, whatever the energy:
  floating_slots,  ///< slots of `floating`: more than one each for lanes in turn, routines, divides
  other_slots      ///< slots of the workers' others; wide accesses take more than one each
};
constexpr std::size_t kActivities = 22;
constexpr std::size_t kInstructionClasses = 5;  ///< the first so many: every instruction is one

constexpr std::size_t index(Activity activity) { return static_cast<std::size_t>(activity); }
/// "integer", ... as the enumerator is spelled.
std::string_view name_of(Activity activity);

/// How often each happened, by index().
using ActivityCounts = std::array<std::uint64_t, kActivities>;

/// Activities of one execution of `instruction`, which takes `slots` issue slots where it stands
/// alone and, if it multiplies on the matrix unit, does `multiply_adds` there. The slots count as a
/// worker's.
std::array<std::uint32_t, kActivities> activity(const Instruction& instruction, std::uint32_t slots,
                                                std::uint32_t multiply_adds);

}  // namespace tessera::isa
