#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/config/fields.h"
#include "sim/machine/machine_config.h"
#include "sim/program/program.h"

/// What the tile code of products takes and gives at once on one machine: `depth` inputs of a
/// position and `columns` sums, past depth x columns weights. One table for all products.
namespace tessera::kernels {

using program::Type;

struct BlockShape {
  Type input;
  Type partial;
  std::uint32_t depth;          ///< inputs of a position
  std::uint32_t columns;        ///< outputs of a position
  std::uint32_t phases;         ///< matrix unit instructions of a position; 0: packed vector code
  std::uint32_t phase_slots;    ///< issue slots of one
  std::uint32_t input_bytes;    ///< of one input
  std::uint32_t partial_bytes;  ///< of one output

  [[nodiscard]] bool on_unit() const { return phases != 0; }
  [[nodiscard]] std::uint32_t x_bytes() const { return depth * input_bytes; }
  [[nodiscard]] std::uint32_t y_bytes() const { return columns * partial_bytes; }
  [[nodiscard]] std::uint32_t result_bytes() const { return columns * input_bytes; }
  [[nodiscard]] std::uint32_t w_bytes() const { return depth * columns * input_bytes; }
  /// Positions that tile code takes at a time in its steady state.
  [[nodiscard]] std::uint32_t positions_at_once() const { return on_unit() ? 1 : 4; }
  /// "f16_16x16", "vector_f16": type and shape, as codelets are named.
  [[nodiscard]] std::string name() const;
};

/// amp.h, amp.hs or amp.s; packed vector code where the unit does not have the type. f32 inputs
/// have f32 partials.
BlockShape block_shape(const MatrixUnitConfig& unit, Type input, Type partial);

/// "f16", "f16_f32", "f32": what tile code for these types, and the peak that it reaches, is called
/// after.
const char* type_name(Type input, Type partial);
inline const char* type_name(Type type) { return type_name(type, type); }

/// Types of partial sums; none: chosen.
inline constexpr config::Names<std::optional<Type>, 3> kPartials{
    {{"auto", std::nullopt}, {"f16", Type::f16}, {"f32", Type::f32}}};
/// Throws KeyError for sums of f32 in f16.
void require_partials(Type input, std::optional<Type> partials);

/// Throws KeyError where the machine has no such unit.
void require_unit(const MachineConfig& machine, Type input, Type partial);

}  // namespace tessera::kernels
