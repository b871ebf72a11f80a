#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/stream/stream.h"
#include "sim/data/element.h"

namespace tessera::stream {

/// Inputs are multiples of 2^-8 below 1 and s = 1.5, so every result is exact in f16 and f32: the
/// bound is 0. i32 is exact modulo 2^32.
CheckResult Stream::check(const MemoryReader& memory, CheckMode mode) const {
  if (mode == CheckMode::off) return {true, 0, 0, "off"};
  CheckResult result{true, 0, 0, "full"};
  const std::size_t elements = std::size_t{padded_elements()} * machine_.tile.contexts;
  std::vector<std::byte> bytes(elements * data::element_bytes(options_.dtype));
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    memory.read({program::BufferId(t * arrays_of(options_.operation)), 0}, bytes);
    const double error = options_.dtype == program::Type::i32 ? integer_error(TileId(t), bytes)
                                                              : float_error(TileId(t), bytes);
    if (!(error == 0)) result.passed = false;
    result.max_error = std::max(result.max_error, error);
  }
  return result;
}

double Stream::float_error(TileId tile, std::span<const std::byte> found) const {
  double most = 0;
  for (std::size_t i = 0; i < found.size() / data::element_bytes(options_.dtype); ++i) {
    const double b = initial(tile, 1, i);
    const double c = initial(tile, 2, i);
    double expected = b;
    if (options_.operation == Operation::scale) expected = kScalar * b;
    if (options_.operation == Operation::add) expected = b + c;
    if (options_.operation == Operation::triad) expected = b + kScalar * c;
    const double error = std::abs(data::load_element(options_.dtype, found, i) - expected);
    if (std::isnan(error)) return error;
    most = std::max(most, error);
  }
  return most;
}

double Stream::integer_error(TileId tile, std::span<const std::byte> found) const {
  double most = 0;
  for (std::size_t i = 0; i < found.size() / sizeof(std::uint32_t); ++i) {
    const std::uint32_t b = initial_word(tile, 1, i);
    const std::uint32_t c = initial_word(tile, 2, i);
    std::uint32_t expected = b;
    if (options_.operation == Operation::scale) expected = kIntegerScalar * b;
    if (options_.operation == Operation::add) expected = b + c;
    if (options_.operation == Operation::triad) expected = b + kIntegerScalar * c;
    if (options_.operation == Operation::update) expected = b + options_.repeats * kIntegerScalar;
    std::uint32_t word = 0;
    std::memcpy(&word, &found[i * sizeof word], sizeof word);
    most = std::max(most, std::abs(static_cast<double>(word) - static_cast<double>(expected)));
  }
  return most;
}

}  // namespace tessera::stream
