#include <cmath>
#include <vector>

#include "kernels/stream/stream.h"
#include "sim/data/element.h"

namespace tessera::stream {

/// Inputs are multiples of 2^-8 below 1 and s = 1.5, so every result is exact in f16 and f32: the
/// bound is 0.
CheckResult Stream::check(const MemoryReader& memory, CheckMode mode) const {
  if (mode == CheckMode::off) return {true, 0, 0, "off"};
  CheckResult result{true, 0, 0, "full"};
  const std::size_t elements = std::size_t{padded_elements()} * machine_.tile.contexts;
  const std::uint32_t buffers =
      options_.operation == Operation::copy || options_.operation == Operation::scale ? 2 : 3;
  std::vector<std::byte> bytes(elements * data::element_bytes(options_.dtype));
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    memory.read({program::BufferId(t * buffers), 0}, bytes);
    for (std::size_t i = 0; i < elements; ++i) {
      const double b = initial(TileId(t), 1, i);
      const double c = buffers == 3 ? initial(TileId(t), 2, i) : 0;
      double expected = b;
      if (options_.operation == Operation::scale) expected = kScalar * b;
      if (options_.operation == Operation::add) expected = b + c;
      if (options_.operation == Operation::triad) expected = b + kScalar * c;
      const double error = std::abs(data::load_element(options_.dtype, bytes, i) - expected);
      if (!(error == 0)) result.passed = false;
      result.max_error = std::max(result.max_error, error);
    }
  }
  return result;
}

}  // namespace tessera::stream
