#pragma once

#include <cstdint>

#include "kernels/layout.h"
#include "sim/base/types.h"
#include "sim/machine/machine_config.h"
#include "sim/program/program.h"

/// The product as the matrix unit sees it: `rows` positions of the moving operand X stream past
/// 16x16 blocks of the stationary operand W, Y[rows, columns] = X[rows, depth] W[depth, columns].
namespace tessera::gemm {

using kernels::EvenSplit;
using kernels::Interval;
using kernels::Layout;
using program::Type;

/// C[m, n] = A[m, k] B[k, n].
struct Product {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
};

/// Which operand the matrix unit holds. With `a` the transposed product is computed: the positions
/// are columns of B, and Y is C transposed.
enum class Stationary : std::uint8_t { a, b };

/// Product with the roles given out.
struct Roles {
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t depth;
};
constexpr Roles roles(const Product& product, Stationary stationary) {
  if (stationary == Stationary::b) return {product.m, product.n, product.k};
  return {product.n, product.m, product.k};
}

/// What one block of the matrix unit takes and gives, by type of inputs and partials.
struct BlockShape {
  Type input;
  Type partial;
  std::uint32_t depth;          ///< inputs of a position
  std::uint32_t columns;        ///< outputs of a position
  std::uint32_t phases;         ///< matrix unit instructions of a position
  std::uint32_t input_bytes;    ///< of one input
  std::uint32_t partial_bytes;  ///< of one output

  [[nodiscard]] std::uint32_t x_bytes() const { return depth * input_bytes; }
  [[nodiscard]] std::uint32_t y_bytes() const { return columns * partial_bytes; }
  [[nodiscard]] std::uint32_t result_bytes() const { return columns * input_bytes; }
  [[nodiscard]] std::uint32_t w_bytes() const { return depth * columns * input_bytes; }
};

/// amp.h, amp.hs or amp.s; f32 inputs have f32 partials.
constexpr BlockShape block_shape(Type input, Type partial) {
  if (input == Type::f32) return {Type::f32, Type::f32, 8, 16, 8, 4, 4};
  if (partial == Type::f32) return {Type::f16, Type::f32, 16, 8, 4, 2, 4};
  return {Type::f16, Type::f16, 16, 16, 4, 2, 2};
}

/// Multiply-adds a slot of the instruction that `block` stands for; 0: the machine has none.
constexpr std::uint32_t macs_per_slot(const MatrixUnitConfig& unit, const BlockShape& block) {
  if (block.input == Type::f32) return unit.f32_macs;
  return block.partial == Type::f32 ? unit.f16_f32_macs : unit.f16_macs;
}
/// Throws KeyError where that is 0.
void require_unit(const MachineConfig& machine, const BlockShape& block);
/// Slots of one such instruction.
constexpr std::uint32_t unit_slots(const MatrixUnitConfig& unit, const BlockShape& block) {
  return ceil_div(block.depth * block.columns / block.phases, macs_per_slot(unit, block));
}

}  // namespace tessera::gemm
