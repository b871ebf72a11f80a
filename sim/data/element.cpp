#include "sim/data/element.h"

#include <bit>
#include <cstring>
#include <utility>

#include "sim/base/errors.h"
#include "sim/isa/float/fast.h"

namespace tessera::data {

namespace {

std::uint32_t float_bits(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

double half_value(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(fp::f32_from_f16(bits)));
}

}  // namespace

double rounded(program::Type type, double value) {
  if (type == program::Type::f16) return half_value(fp::f16_from_f32(float_bits(value)));
  return static_cast<double>(static_cast<float>(value));
}

std::uint64_t round_all(program::Type type, std::span<double> values) {
  std::uint64_t changed = 0;
  for (double& value : values) {
    const double before = std::exchange(value, rounded(type, value));
    if (value != before) ++changed;
  }
  return changed;
}

void store_element(program::Type type, std::span<std::byte> bytes, std::size_t at, double value) {
  if (type == program::Type::f16) {
    const std::uint16_t half = fp::f16_from_f32(float_bits(value));
    std::memcpy(bytes.data() + at * 2, &half, 2);
  } else if (type == program::Type::i32 || type == program::Type::u32) {
    const auto integer = static_cast<std::int64_t>(value);  // the lower half is stored
    std::memcpy(bytes.data() + at * 4, &integer, 4);
  } else {
    const std::uint32_t single = float_bits(value);
    std::memcpy(bytes.data() + at * 4, &single, 4);
  }
}

double load_element(program::Type type, std::span<const std::byte> bytes, std::size_t at) {
  if (type == program::Type::f16) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes.data() + at * 2, 2);
    return half_value(half);
  }
  if (type == program::Type::i32) {
    std::int32_t integer = 0;
    std::memcpy(&integer, bytes.data() + at * 4, 4);
    return integer;
  }
  if (type == program::Type::u32) {
    std::uint32_t integer = 0;
    std::memcpy(&integer, bytes.data() + at * 4, 4);
    return integer;
  }
  check(type == program::Type::f32, "load_element: type {}", static_cast<int>(type));
  float single = 0;
  std::memcpy(&single, bytes.data() + at * 4, 4);
  return static_cast<double>(single);
}

void load_elements(program::Type type, std::span<const std::byte> bytes, std::size_t at,
                   std::span<float> into) {
  if (type != program::Type::f16) {
    std::memcpy(into.data(), bytes.data() + at * sizeof(float), into.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < into.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes.data() + (at + i) * 2, 2);
    into[i] = std::bit_cast<float>(fp::f32_from_f16(half));
  }
}

}  // namespace tessera::data
