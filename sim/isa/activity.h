#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/isa/mnemonic.h"

/// Activities of instructions, counted for energy and bounds.
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
  // For bounds on time, not for energy:
  floating_slots,  ///< slots of `floating`: several each for lane groups, software, divides
  other_slots      ///< slots of workers' other instructions; several for wide accesses
};
constexpr std::size_t kActivities = 22;
constexpr std::size_t kInstructionClasses = 5;  ///< the first enumerators: every instruction is one

constexpr std::size_t index(Activity activity) { return static_cast<std::size_t>(activity); }
/// "integer", ... as the enumerator is spelled.
std::string_view name_of(Activity activity);

/// Counts of each activity, by index().
using ActivityCounts = std::array<std::uint64_t, kActivities>;

/// Activities of one execution of `instruction`, which takes `slots` issue slots unpaired and does
/// `multiply_adds` on the matrix unit if it uses that. The slots count as a worker's.
std::array<std::uint32_t, kActivities> activity(const Instruction& instruction, std::uint32_t slots,
                                                std::uint32_t multiply_adds);

}  // namespace tessera::isa
