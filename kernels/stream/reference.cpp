#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/check/comparison.h"
#include "kernels/stream/stream.h"
#include "sim/data/element.h"

namespace tessera::stream {

/// Inputs are multiples of 2^-8 below 1 and s = 1.5, so every result is exact in f16 and f32. i32
/// is exact modulo 2^32.
CheckResult Stream::check(const TensorReader& tensors, const CheckRequest& /*request*/) const {
  // Integers are compared as numbers.
  const program::Type type =
      options_.dtype == program::Type::i32 ? program::Type::f32 : options_.dtype;
  kernels::Comparison comparison({"a", type, type});
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    const std::vector<std::byte> bytes = tensors.slice("a", t);
    if (options_.dtype == program::Type::i32)
      compare_integers(TileId(t), bytes, comparison);
    else
      compare_floats(TileId(t), bytes, comparison);
  }
  return comparison.result("full");
}

void Stream::compare_floats(TileId tile, std::span<const std::byte> bytes,
                            kernels::Comparison& comparison) const {
  for (std::size_t i = 0; i < bytes.size() / data::element_bytes(options_.dtype); ++i) {
    const double b = initial(tile, 1, i);
    const double c = initial(tile, 2, i);
    double expected = b;
    if (options_.operation == Operation::scale) expected = kScalar * b;
    if (options_.operation == Operation::add) expected = b + c;
    if (options_.operation == Operation::triad) expected = b + kScalar * c;
    const double allowed = data::unit_roundoff(options_.dtype) * std::abs(expected);
    const double found = data::load_element(options_.dtype, bytes, i);
    comparison.add_exact({index(tile), i, found, expected, allowed}, expected);
  }
}

void Stream::compare_integers(TileId tile, std::span<const std::byte> bytes,
                              kernels::Comparison& comparison) const {
  constexpr double kLessThanOne = 0.5;
  for (std::size_t i = 0; i < bytes.size() / sizeof(std::uint32_t); ++i) {
    const std::uint32_t b = initial_word(tile, 1, i);
    const std::uint32_t c = initial_word(tile, 2, i);
    std::uint32_t expected = b;
    if (options_.operation == Operation::scale) expected = kIntegerScalar * b;
    if (options_.operation == Operation::add) expected = b + c;
    if (options_.operation == Operation::triad) expected = b + kIntegerScalar * c;
    if (options_.operation == Operation::update) expected = b + options_.repeats * kIntegerScalar;
    std::uint32_t found = 0;
    std::memcpy(&found, &bytes[i * sizeof found], sizeof found);
    comparison.add(
        {index(tile), i, static_cast<double>(found), static_cast<double>(expected), kLessThanOne});
  }
}

}  // namespace tessera::stream
