#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "sim/config/fields.h"
#include "sim/program/program.h"

/// Converts between numbers and the bytes of a tensor, for host code that fills and reads tiles.
namespace tessera::data {

/// The types of matrix elements and their names in configs.
constexpr config::Names<program::Type, 2> kFloatTypes{
    {{"f16", program::Type::f16}, {"f32", program::Type::f32}}};

constexpr std::uint32_t element_bytes(program::Type type) {
  switch (type) {
    case program::Type::i8:
      return 1;
    case program::Type::f16:
    case program::Type::bf16:
    case program::Type::i16:
    case program::Type::u16:
      return 2;
    default:
      return 4;
  }
}

/// Half the distance between 1 and the next number: the relative error of one rounding to f16 or
/// f32.
constexpr double unit_roundoff(program::Type type) {
  return type == program::Type::f16 ? 0x1p-11 : 0x1p-24;
}

/// The largest finite f16 or f32.
constexpr double largest_finite(program::Type type) {
  return type == program::Type::f16 ? 65504.0 : 0x1.fffffep127;
}

/// `value` rounded to f16 (through f32) or f32: the value a tile holds.
double rounded(program::Type type, double value);

/// Rounds `values` to `type`; returns how many changed.
std::uint64_t round_all(program::Type type, std::span<double> values);

/// Writes `value` as element `at` of `bytes`, rounded to f16 or f32; for i32 and u32 it must be an
/// exact value of the type.
void store_element(program::Type type, std::span<std::byte> bytes, std::size_t at, double value);

/// Returns a Tensor::given for a tensor of `type` whose element i is at(i).
template <class At>
auto elements_by(program::Type type, At at) {
  return [type, at = std::move(at)](std::uint64_t first, std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size() / element_bytes(type); ++i)
      store_element(type, into, i, static_cast<double>(at(first + i)));
  };
}

/// Element `at` of `bytes`; f16, f32, i32 and u32 only: a Defect for other types.
double load_element(program::Type type, std::span<const std::byte> bytes, std::size_t at);

/// Reads into.size() elements from number `at` on; f16 and f32 only.
void load_elements(program::Type type, std::span<const std::byte> bytes, std::size_t at,
                   std::span<float> into);

}  // namespace tessera::data
