#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.h"
#include "sim/machine/machine_config.h"
#include "sim/program/program.h"

/// Block shapes of the products' tile code: one step multiplies `depth` inputs of one activation
/// row by depth x columns weights and adds to `columns` sums. A matrix unit also multiplies blocks
/// smaller than its own (run.block), as fast as a unit of that shape.
namespace tessera::kernels {

using program::Type;

/// The code that computes a product, as plans name it: blocks of the matrix unit, or packed vector
/// code.
struct Form {
  std::uint32_t inputs = 0;  ///< per block; 0: the unit's own, or vector code if it has none
  std::uint32_t outputs = 0;

  auto operator<=>(const Form&) const = default;
};
inline constexpr Form kVector{1, 1};
/// "auto", "vector", then powers of two from "4x4" to "128x128".
inline constexpr std::array<std::string_view, 38> kFormNames = {
    "auto",  "vector", "4x4",   "4x8",   "4x16",   "4x32",   "4x64",   "4x128",  "8x4",   "8x8",
    "8x16",  "8x32",   "8x64",  "8x128", "16x4",   "16x8",   "16x16",  "16x32",  "16x64", "16x128",
    "32x4",  "32x8",   "32x16", "32x32", "32x64",  "32x128", "64x4",   "64x8",   "64x16", "64x32",
    "64x64", "64x128", "128x4", "128x8", "128x16", "128x32", "128x64", "128x128"};
inline constexpr auto kForms = [] {
  config::Names<Form, kFormNames.size()> forms{{{kFormNames[0], Form()}, {kFormNames[1], kVector}}};
  for (std::uint32_t i = 2; i < forms.size(); ++i)
    forms[i] = {kFormNames[i], {4U << (i - 2) / 6, 4U << (i - 2) % 6}};
  return forms;
}();

struct BlockShape {
  Type input;
  Type partial;
  std::uint32_t depth;          ///< inputs per activation row
  std::uint32_t columns;        ///< outputs per activation row
  std::uint32_t phases;         ///< matrix unit instructions per row; 0: packed vector code
  std::uint32_t input_bytes;    ///< bytes per input
  std::uint32_t partial_bytes;  ///< bytes per output

  [[nodiscard]] bool on_unit() const { return phases != 0; }
  [[nodiscard]] Form form() const { return on_unit() ? Form{depth, columns} : kVector; }
  [[nodiscard]] std::uint32_t x_bytes() const { return depth * input_bytes; }
  [[nodiscard]] std::uint32_t y_bytes() const { return columns * partial_bytes; }
  [[nodiscard]] std::uint32_t result_bytes() const { return columns * input_bytes; }
  [[nodiscard]] std::uint32_t w_bytes() const { return depth * columns * input_bytes; }
  /// Activation rows that tile code processes together in its steady state.
  [[nodiscard]] std::uint32_t positions_at_once() const { return on_unit() ? 1 : 4; }
  /// Type and shape as in codelet names: "f16_16x16", "vector_f16".
  [[nodiscard]] std::string name() const;
};

/// The unit's own blocks (amp.h, amp.hs or amp.s); packed vector code where the unit does not have
/// the type. f32 inputs have f32 partials.
BlockShape block_shape(const MatrixUnitConfig& unit, Type input, Type partial);
/// The unit's blocks for a form. Throws KeyError naming `key` and what is allowed if the unit
/// cannot take such blocks.
BlockShape block_shape(const MatrixUnitConfig& unit, Type input, Type partial, const Form& form,
                       const char* key);
/// All forms of a product that a planner may choose: the unit's own blocks first, vector code last.
std::vector<BlockShape> block_shapes(const MatrixUnitConfig& unit, Type input, Type partial);
/// Forms for a product of blocks of `side` rows and columns: the unit's largest blocks within
/// `side` (8 x 8 of f16 partials always count as within), else its own, and vector code. With
/// `pinned` that form alone; throws KeyError as block_shape().
std::vector<BlockShape> block_shapes_within(std::uint32_t side, const MatrixUnitConfig& unit,
                                            Type input, Type partial, const Form& pinned,
                                            const char* key);

/// The types as in names of codelets and peaks: "f16", "f16_f32" or "f32".
const char* type_name(Type input, Type partial);
inline const char* type_name(Type type) { return type_name(type, type); }

/// Types of partial sums; nullopt: the planner chooses.
inline constexpr config::Names<std::optional<Type>, 3> kPartials{
    {{"auto", std::nullopt}, {"f16", Type::f16}, {"f32", Type::f32}}};
/// Throws KeyError if f32 products are summed in f16.
void require_partials(Type input, std::optional<Type> partials);

/// Throws KeyError if the machine has no matrix unit for these types.
void require_unit(const MachineConfig& machine, Type input, Type partial);

}  // namespace tessera::kernels
