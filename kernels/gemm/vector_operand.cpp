#include "kernels/gemm/vector_operand.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "sim/base/splitmix.h"

namespace tessera::gemm {
namespace {

/// `sum` / 2^shift to nearest, ties to even, within `most` + 1 and `most`.
template <class Sum>
std::int64_t result_of(Sum sum, std::uint32_t shift, std::int64_t most) {
  const std::int64_t unit = std::int64_t{1} << shift;
  const auto wide = static_cast<std::int64_t>(sum);
  std::int64_t whole = wide / unit;
  if (wide % unit < 0) --whole;
  const std::int64_t twice = 2 * (wide - whole * unit);
  if (twice > unit || (twice == unit && whole % 2 != 0)) ++whole;
  return std::clamp<std::int64_t>(whole, -most - 1, most);
}

std::int64_t most_of(const VectorType& type) { return type.bytes == 1 ? INT8_MAX : INT16_MAX; }

}  // namespace

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
  const auto most = static_cast<double>(most_of(type));
  // Values spread evenly deviate by their largest / sqrt(3), sums by its square and the root of the
  // depth.
  constexpr double kOften = 3;  // deviations that still fit
  const double squared =
      std::ldexp(most, static_cast<int>(shift)) * 3 / (kOften * std::sqrt(depth));
  return static_cast<std::uint32_t>(std::clamp(std::floor(std::sqrt(squared)), 1.0, most));
}

float nearest_bf16(float value) {
  const double wide = value;
  if (wide == 0 || !std::isfinite(wide)) return value;
  constexpr int kBits = 8;  // of a significand
  constexpr int kLeast = -133;
  int exponent = 0;
  std::frexp(wide, &exponent);
  const int unit = std::max(exponent - kBits, kLeast);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(wide, -unit)), unit));
}

template <class Sum>
void PlainProduct::row(std::span<const std::int16_t> a, std::span<const std::int16_t> b,
                       std::span<double> c) const {
  using Wrapping = std::make_unsigned_t<Sum>;
  const std::int64_t most = most_of(*type);
  std::vector<Sum> sums(columns);
  const auto end = [&](bool goes_on) {
    for (std::uint32_t j = 0; j < columns; ++j) {
      const std::int64_t result = result_of(sums[j], shift, most);
      c[j] = static_cast<double>(result);
      if (goes_on)
        sums[j] = static_cast<Sum>(static_cast<Wrapping>(static_cast<Sum>(result)) << shift);
    }
  };
  for (std::uint32_t i = 0; i < depth; ++i) {
    const std::int16_t* const terms = b.data() + std::size_t{i} * columns;
    const auto factor = static_cast<Sum>(a[i]);
    for (std::uint32_t j = 0; j < columns; ++j)
      sums[j] = static_cast<Sum>(static_cast<Wrapping>(sums[j]) +
                                 static_cast<Wrapping>(factor * static_cast<Sum>(terms[j])));
    if (step > 0 && (i + 1) % step == 0) end(true);
  }
  end(false);
}

template void PlainProduct::row<std::int32_t>(std::span<const std::int16_t>,
                                              std::span<const std::int16_t>,
                                              std::span<double>) const;
template void PlainProduct::row<std::int64_t>(std::span<const std::int16_t>,
                                              std::span<const std::int16_t>,
                                              std::span<double>) const;

void PlainProduct::row(std::span<const float> a, std::span<const float> b,
                       std::span<double> c) const {
  std::vector<float> sums(columns), before;
  const auto end_part = [&](std::vector<float> next) {
    for (std::size_t j = 0; j < before.size(); ++j) sums[j] = before[j] + sums[j];
    before = std::exchange(sums, std::move(next));
  };
  for (std::uint32_t i = 0; i < depth; ++i) {
    if (part > 0 && i > 0 && i % part == 0) end_part(std::vector<float>(columns));
    const float* const terms = b.data() + std::size_t{i} * columns;
    for (std::uint32_t j = 0; j < columns; ++j) sums[j] += a[i] * terms[j];
    if (step == 0 || (i + 1) % step != 0) continue;
    for (float& sum : sums) sum = nearest_bf16(sum);
  }
  end_part({});
  for (std::uint32_t j = 0; j < columns; ++j) c[j] = static_cast<double>(nearest_bf16(before[j]));
}

}  // namespace tessera::gemm
