#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/gemm/core_product.h"
#include "sim/program/tensor.h"

/// Operands of the vector unit's types and an independent product of them.
namespace tessera::gemm {

/// Writes a number that the type has as it lies in memory.
void store_number(const VectorType& type, float number, std::byte* at);
/// And reads one.
double number_of(const VectorType& type, const std::byte* at);

/// A seeded matrix: integers from -`most` to `most`, or multiples of 1/128 in [-1, 1) as bf16,
/// evenly drawn.
class VectorOperand {
 public:
  /// `stream` tells operands of one seed apart.
  VectorOperand(const VectorType& type, std::uint32_t columns, std::uint32_t most,
                std::uint64_t seed, std::uint64_t stream)
      : type_(&type), columns_(columns), most_(most), seed_(seed), stream_(stream) {}

  [[nodiscard]] float value(std::uint32_t row, std::uint32_t column) const;
  [[nodiscard]] const VectorType& type() const { return *type_; }
  [[nodiscard]] std::uint32_t columns() const { return columns_; }
  /// A row as bytes, and as numbers.
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

/// As users know it, `rows` of them; `transposed`: each of its columns is a row.
program::Tensor tensor_of(std::string name, const VectorOperand& operand, std::uint32_t rows,
                          bool transposed);

/// The largest integers of operands so that results, after that shift, seldom saturate; 1 at least.
std::uint32_t largest_for(const VectorType& type, std::uint32_t depth, std::uint32_t shift);

/// What a row of C has to be, from a row of A and all of B, row after row, in plain loops.
struct PlainProduct {
  const VectorType* type;
  std::uint32_t depth, columns;
  std::uint32_t shift;
  std::uint32_t step;      ///< sums are rounded to results after so many terms; 0: at the end alone
  std::uint32_t part = 0;  ///< of bf16: so many terms are added up, then these sums; 0: all

  /// Of integers; Sum: i32 wraps, i64.
  template <class Sum>
  void row(std::span<const std::int16_t> a, std::span<const std::int16_t> b,
           std::span<double> c) const;
  /// Of bf16: each product is rounded to f32, and each sum.
  void row(std::span<const float> a, std::span<const float> b, std::span<double> c) const;
};

/// A bf16 nearest to a number, as f32; ties to even. Infinite beyond what rounds to the largest.
float nearest_bf16(float value);
constexpr double kLargestBf16 = 0x1.fep127;

}  // namespace tessera::gemm
