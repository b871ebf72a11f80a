#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/data/random.h"
#include "sim/program/program.h"

namespace tessera::data {

/// Fraction bits of seeded values; every element of `type` holds them exactly.
constexpr unsigned seeded_bits(program::Type type) { return type == program::Type::f16 ? 10 : 23; }

/// Random elements with random access: i32 uses all 32 bits, f16 and f32 are multiples of 2^-`bits`
/// in [-1, 1). `stream` distinguishes operands of one seed.
struct Seeded {
  program::Type type;
  std::uint64_t seed, stream;
  unsigned bits = seeded_bits(type);

  [[nodiscard]] double element(std::uint64_t at) const {
    if (type == program::Type::i32)
      return static_cast<std::int32_t>(random_bits(seed, stream, at) & UINT32_MAX);
    return static_cast<double>(random_signed(seed, stream, at, bits));
  }
  /// Writes the elements from number `first` on.
  void write(std::uint64_t first, std::span<std::byte> into) const;
};

/// The elements as a host tensor.
program::Tensor tensor_of(std::string name, const Seeded& elements,
                          std::vector<std::uint64_t> shape);

}  // namespace tessera::data
