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
  for (std::uint32_t i = 0; i < slices(); ++i) {
    const std::vector<std::byte> bytes = tensors.slice("a", i);
    if (options_.dtype == program::Type::i32)
      compare_integers(i, bytes, comparison);
    else
      compare_floats(i, bytes, comparison);
  }
  return comparison.result("full");
}

/// Of one for each tile, or each block that supervisors store.
std::uint32_t Stream::slices() const {
  const bool stores_blocks = in_rounds() && facts_of(options_.operation).writes > 0;
  return machine_.tiles * (stores_blocks ? rounds() : 1);
}

Stream::Element Stream::element(std::uint32_t slice, std::uint64_t at,
                                std::uint64_t elements) const {
  if (in_rounds()) return {TileId{0}, source_of(slice * elements + at)};
  return {TileId{slice}, source_of(at)};
}

void Stream::compare_floats(std::uint32_t slice, std::span<const std::byte> bytes,
                            kernels::Comparison& comparison) const {
  const std::size_t elements = bytes.size() / data::element_bytes(options_.dtype);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto [tile, at] = element(slice, i, elements);
    const double b = initial(tile, 1, at);
    const double c = initial(tile, 2, at);
    double expected = b;
    if (options_.operation == Operation::scale) expected = kScalar * b;
    if (options_.operation == Operation::add) expected = b + c;
    if (options_.operation == Operation::triad) expected = b + kScalar * c;
    const double allowed = data::unit_roundoff(options_.dtype) * std::abs(expected);
    const double found = data::load_element(options_.dtype, bytes, i);
    comparison.add_exact({slice, i, found, expected, allowed}, expected);
  }
}

void Stream::compare_integers(std::uint32_t slice, std::span<const std::byte> bytes,
                              kernels::Comparison& comparison) const {
  constexpr double kLessThanOne = 0.5;
  const std::size_t elements = bytes.size() / sizeof(std::uint32_t);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto [tile, at] = element(slice, i, elements);
    const std::uint32_t b = initial_word(tile, 1, at);
    const std::uint32_t c = initial_word(tile, 2, at);
    std::uint32_t expected = b;
    if (options_.operation == Operation::scale) expected = kIntegerScalar * b;
    if (options_.operation == Operation::add) expected = b + c;
    if (options_.operation == Operation::triad) expected = b + kIntegerScalar * c;
    if (options_.operation == Operation::update) expected = b + options_.repeats * kIntegerScalar;
    std::uint32_t found = 0;
    std::memcpy(&found, &bytes[i * sizeof found], sizeof found);
    comparison.add(
        {slice, i, static_cast<double>(found), static_cast<double>(expected), kLessThanOne});
  }
}

}  // namespace tessera::stream
