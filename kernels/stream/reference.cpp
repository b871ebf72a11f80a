#include <cmath>
#include <vector>

#include "kernels/check/comparison.h"
#include "kernels/stream/stream.h"
#include "sim/data/element.h"

namespace tessera::stream {

namespace {

/// An element of a.
template <class Number>
Number made(Operation operation, Number b, Number c, Number scalar) {
  switch (operation) {
    case Operation::scale:
      return scalar * b;
    case Operation::add:
      return b + c;
    case Operation::triad:
      return b + scalar * c;
    case Operation::update:
      return b + scalar;
    default:
      return b;
  }
}

/// An i32 modulo 2^32.
std::uint32_t modulo(double value) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
}

}  // namespace

/// Inputs are multiples of 2^-8 below 1 and s = 1.5, so every result is exact in f16 and f32. i32
/// is exact modulo 2^32, and compared as numbers.
CheckResult Stream::check(const TensorReader& tensors, const CheckRequest& /*request*/) const {
  constexpr double kLessThanOne = 0.5;
  const bool integer = options_.dtype == program::Type::i32;
  const program::Type type = integer ? program::Type::f32 : options_.dtype;
  const Operation operation = options_.operation;
  const std::uint32_t added = operation == Operation::update ? options_.repeats : 1;
  kernels::Comparison comparison({"a", type, type});
  for (std::uint32_t slice = 0; slice < slices(); ++slice) {
    const std::vector<std::byte> bytes = tensors.slice("a", slice);
    const std::size_t elements = bytes.size() / element_bytes();
    for (std::size_t i = 0; i < elements; ++i) {
      const auto [tile, at] = element(slice, i, elements);
      const double b = initial(tile, 1, at), c = initial(tile, 2, at);
      const double found = data::load_element(options_.dtype, bytes, i);
      if (integer) {
        const auto expected = static_cast<std::int32_t>(
            made(operation, modulo(b), modulo(c), added * kIntegerScalar));
        comparison.add({slice, i, found, static_cast<double>(expected), kLessThanOne});
      } else {
        comparison.add_exact(slice, i, found, made(operation, b, c, kScalar));
      }
    }
  }
  return comparison.result("full");
}

std::uint32_t Stream::slices() const {
  const bool stores_blocks = in_rounds() && facts_of(options_.operation).writes > 0;
  return machine_.tiles * (stores_blocks ? rounds() : 1);
}

Stream::Element Stream::element(std::uint32_t slice, std::uint64_t at,
                                std::uint64_t elements) const {
  if (in_rounds()) return {TileId{0}, source_of(slice * elements + at)};
  return {TileId{slice}, source_of(at)};
}

}  // namespace tessera::stream
