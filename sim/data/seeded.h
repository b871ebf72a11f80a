#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/data/random.h"
#include "sim/program/program.h"

namespace tessera::data {

/// Random bits below the point of seeded values, which every element of `type` holds exactly.
constexpr unsigned seeded_bits(program::Type type) { return type == program::Type::f16 ? 10 : 23; }

/// Random elements, of which any can be had at any time: of i32 all 32 bits, of f16 and f32
/// multiples of 2^-`bits` in [-1, 1). `stream` tells operands of one seed apart.
struct Seeded {
  program::Type type;
  std::uint64_t seed, stream;
  unsigned bits = seeded_bits(type);

  [[nodiscard]] double element(std::uint64_t at) const {
    if (type == program::Type::i32)
      return static_cast<std::int32_t>(random_bits(seed, stream, at) & UINT32_MAX);
    return static_cast<double>(random_signed(seed, stream, at, bits));
  }
  /// Writes elements from number `first` on.
  void write(std::uint64_t first, std::span<std::byte> into) const;
};

/// The elements as a tensor of the host's.
program::Tensor tensor_of(std::string name, const Seeded& elements,
                          std::vector<std::uint64_t> shape);

}  // namespace tessera::data
