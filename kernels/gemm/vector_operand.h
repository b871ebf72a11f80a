#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/gemm/core_product.h"
#include "sim/program/tensor.h"

/// Operands of the vector unit's types, and an independent product of them.
namespace tessera::gemm {

/// Writes a number that the type can represent to memory.
void store_number(const VectorType& type, float number, std::byte* at);
/// Reads a number from memory.
double number_of(const VectorType& type, const std::byte* at);

/// A seeded matrix: uniform integers from -`most` to `most`, or multiples of 1/128 in [-1, 1) as
/// bf16.
class VectorOperand {
 public:
  /// `stream` distinguishes operands of one seed.
  VectorOperand(const VectorType& type, std::uint32_t columns, std::uint32_t most,
                std::uint64_t seed, std::uint64_t stream)
      : type_(&type), columns_(columns), most_(most), seed_(seed), stream_(stream) {}

  [[nodiscard]] float value(std::uint32_t row, std::uint32_t column) const;
  [[nodiscard]] const VectorType& type() const { return *type_; }
  [[nodiscard]] std::uint32_t columns() const { return columns_; }
  void write(std::uint32_t row, std::span<std::byte> into) const;
  template <class Number>
  void read(std::uint32_t row, std::span<Number> into) const {
    for (std::uint32_t column = 0; column < into.size(); ++column)
      into[column] = static_cast<Number>(value(row, column));
  }

 private:
  const VectorType* type_;
  std::uint32_t columns_, most_;
  std::uint64_t seed_, stream_;
};

/// The operand's tensor with `rows` rows; `transposed`: the columns of the tensor are rows of the
/// operand.
program::Tensor tensor_of(std::string name, const VectorOperand& operand, std::uint32_t rows,
                          bool transposed);

/// The largest operand values for which results, after the shift, seldom saturate; at least 1.
std::uint32_t largest_for(const VectorType& type, std::uint32_t depth, std::uint32_t shift);

/// `sum` / 2^shift rounded to nearest, ties to even.
constexpr std::int64_t shifted(std::int64_t sum, std::uint32_t shift) {
  if (shift == 0) return sum;
  const std::int64_t floor = sum >> shift;
  const std::int64_t rest = sum - floor * (std::int64_t{1} << shift);
  const std::int64_t half = std::int64_t{1} << (shift - 1);
  return floor + (rest > half || (rest == half && (floor & 1) != 0) ? 1 : 0);
}
/// The nearest bf16 of a number, as f32; ties to even. Infinite beyond what rounds to the largest.
float nearest_bf16(float value);
constexpr double kLargestBf16 = 0x1.fep127;

}  // namespace tessera::gemm
