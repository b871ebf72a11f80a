#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/layout.h"
#include "sim/data/element.h"
#include "sim/machine/machine_config.h"
#include "sim/program/program.h"

/// Types and blocks of a product, and what follows from them for layouts and tile code.
namespace tessera::spmm_static {

using program::Type;

/// Which half of a 16x16 block one run of the matrix unit handles where it cannot take it whole.
enum class Halves : std::uint8_t { none, outputs, inputs };

/// How a block of W goes through the matrix unit (codelets_blocks.S).
struct Unit {
  std::string_view codelet;
  Halves halves;
  std::uint32_t phases;        ///< instructions a position
  std::uint32_t inputs;        ///< 64-bit words of X a position
  std::uint32_t outputs;       ///< 64-bit words of partials a position
  std::uint32_t unroll;        ///< positions a loop
  std::uint32_t weight_rows;   ///< ldcw instructions a run
  std::uint32_t weight_words;  ///< 64-bit words of each
};

using kernels::Layout;

/// Of W X with W in blocks.
struct Shape {
  std::uint32_t block;
  Type type;      ///< of W, X and Y
  Type partials;  ///< of sums; f16 only with f16
  Layout layout = Layout::blocked;

  [[nodiscard]] std::uint32_t bytes() const { return data::element_bytes(type); }
  [[nodiscard]] std::uint32_t partial_bytes() const { return data::element_bytes(partials); }
  /// Columns of X and Y come in whole 64-bit words of a row.
  [[nodiscard]] std::uint32_t column_grain() const { return 8 / bytes(); }
  /// Whether rows must become blocks and blocks rows; rows of single elements are both.
  [[nodiscard]] bool relayouts() const { return layout == Layout::natural && block > 1; }
  /// Consecutive elements of X and Y that stay on one tile.
  [[nodiscard]] std::uint32_t dealt_grain() const {
    if (block == 1) return column_grain();
    return column_grain() * (relayouts() ? block : column_grain());
  }
  [[nodiscard]] bool mixed() const { return type != partials; }
  /// Inputs that X holds side by side: a block's, or half of them where a run takes half.
  [[nodiscard]] std::uint32_t x_depth() const { return halves() == Halves::inputs ? 8 : block; }
  [[nodiscard]] Halves halves() const {
    if (block != 16) return Halves::none;
    return type == Type::f32 ? Halves::inputs : mixed() ? Halves::outputs : Halves::none;
  }
  /// Of a block > 1.
  [[nodiscard]] Unit unit() const;
  /// Slots of one instruction of that unit; 0: the machine has none.
  [[nodiscard]] std::uint32_t unit_slots(const MatrixUnitConfig& machine) const;
};

inline Unit Shape::unit() const {
  if (type == Type::f32) {
    if (block == 16) return {"spmm_16_f32", Halves::inputs, 8, 4, 8, 1, 1, 64};
    if (block == 8) return {"spmm_8_f32", Halves::none, 8, 4, 4, 1, 8, 4};
    return {"spmm_4_f32", Halves::none, 4, 2, 2, 1, 4, 2};
  }
  if (mixed()) {
    if (block == 16) return {"spmm_16_f16_f32", Halves::outputs, 4, 4, 4, 1, 1, 32};
    if (block == 8) return {"spmm_8_f16_f32", Halves::none, 4, 2, 4, 1, 1, 16};
    return {"spmm_4_f16_f32", Halves::none, 2, 1, 2, 1, 4, 1};
  }
  if (block == 16) return {"spmm_16_f16", Halves::none, 4, 4, 4, 1, 1, 64};
  if (block == 8) return {"spmm_8_f16", Halves::none, 2, 2, 2, 1, 8, 2};
  return {"spmm_4_f16", Halves::none, 1, 1, 1, 2, 4, 1};
}

inline std::uint32_t Shape::unit_slots(const MatrixUnitConfig& machine) const {
  // Multiply-adds of one instruction of amp.s, amp.hs and amp.h.
  const std::uint32_t macs = type == Type::f32 ? 16 : mixed() ? 32 : 64;
  const std::uint32_t slot = type == Type::f32 ? machine.f32_macs
                             : mixed()         ? machine.f16_f32_macs
                                               : machine.f16_macs;
  return slot == 0 ? 0 : ceil_div(macs, slot);
}

}  // namespace tessera::spmm_static
