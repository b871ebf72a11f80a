#include "kernels/gemm/vector_operand.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "sim/base/splitmix.h"

namespace tessera::gemm {

float VectorOperand::value(std::uint32_t row, std::uint32_t column) const {
  const std::uint64_t at = std::uint64_t{row} * columns_ + column;
  const std::uint64_t bits = splitmix64(splitmix64(seed_, stream_), at);
  if (type_->is_float()) return static_cast<float>(static_cast<std::int8_t>(bits)) / 128;
  const auto drawn = static_cast<std::int32_t>((bits >> 32) % (2 * most_ + 1));
  return static_cast<float>(drawn - static_cast<std::int32_t>(most_));
}

void store_number(const VectorType& type, float number, std::byte* at) {
  const auto bits = type.is_float()
                        ? static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16)
                        : static_cast<std::uint16_t>(static_cast<std::int16_t>(number));
  std::memcpy(at, &bits, type.bytes);
}

double number_of(const VectorType& type, const std::byte* at) {
  std::int16_t bits = 0;
  std::memcpy(&bits, at, type.bytes);
  if (type.is_float())
    return static_cast<double>(
        std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<std::uint16_t>(bits)) << 16));
  return type.bytes == 1 ? static_cast<std::int8_t>(bits) : bits;
}

void VectorOperand::write(std::uint32_t row, std::span<std::byte> into) const {
  for (std::uint32_t column = 0; column < columns_; ++column)
    store_number(*type_, value(row, column), into.data() + std::size_t{column} * type_->bytes);
}

program::Tensor tensor_of(std::string name, const VectorOperand& operand, std::uint32_t rows,
                          bool transposed) {
  program::Tensor tensor{
      std::move(name), program::Role::input, operand.type().type, {rows, operand.columns()}};
  if (transposed) std::swap(tensor.shape[0], tensor.shape[1]);
  tensor.given = [=, across = tensor.shape[1]](std::uint64_t first, std::span<std::byte> into) {
    const std::size_t bytes = operand.type().bytes;
    for (std::size_t i = 0; i < into.size() / bytes; ++i) {
      const auto at = static_cast<std::uint32_t>((first + i) / across);
      const auto along = static_cast<std::uint32_t>((first + i) % across);
      const float value = transposed ? operand.value(along, at) : operand.value(at, along);
      store_number(operand.type(), value, into.data() + i * bytes);
    }
  };
  return tensor;
}

std::uint32_t largest_for(const VectorType& type, std::uint32_t depth, std::uint32_t shift) {
  const auto most = static_cast<double>(type.most());
  // Uniform values have a standard deviation of largest / sqrt(3); sums of products have its square
  // times the root of the depth.
  constexpr double kOften = 3;  // standard deviations that still fit
  const double squared =
      std::ldexp(most, static_cast<int>(shift)) * 3 / (kOften * std::sqrt(depth));
  return static_cast<std::uint32_t>(std::clamp(std::floor(std::sqrt(squared)), 1.0, most));
}

float nearest_bf16(float value) {
  const double wide = value;
  if (wide == 0 || !std::isfinite(wide)) return value;
  constexpr int kBits = 8;  // bits of a significand
  constexpr int kLeast = -133;
  int exponent = 0;
  std::frexp(wide, &exponent);
  const int unit = std::max(exponent - kBits, kLeast);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(wide, -unit)), unit));
}

}  // namespace tessera::gemm
