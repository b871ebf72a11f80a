#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/matrix_unit/matrix_unit.h"
#include "sim/data/element.h"

namespace tessera::matrix_unit {

namespace {

constexpr std::uint32_t kSampleStep = 61;  // a prime: samples tiles of every column

}  // namespace

/// Products are added one by one in f32, then rounded to the results' type: the bound of each
/// element is (inputs + 1) u32 (|y| + sum |x w|) + u |result|, and max_error the largest error over
/// it.
void MatrixUnit::check_tile(const MemoryReader& memory, std::uint32_t tile,
                            CheckResult& result) const {
  const double u32 = data::unit_roundoff(program::Type::f32);
  const double u = data::unit_roundoff(block_.partial);
  std::vector<std::byte> bytes(std::size_t{options_.n} * block_.y_bytes());
  memory.read({program::BufferId(tile)}, bytes);
  std::vector<double> w(std::size_t{block_.depth} * block_.columns);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = initial(Array::w, tile, i);
  std::vector<double> x(block_.depth);
  for (std::uint64_t row = 0; row < options_.n; ++row) {
    for (std::uint64_t i = 0; i < x.size(); ++i) {
      x[i] = initial(Array::x, tile, row * block_.depth + i);
    }
    for (std::uint64_t column = 0; column < block_.columns; ++column) {
      const std::uint64_t at = row * block_.columns + column;
      double sum = initial(Array::y, tile, at);
      double size = std::abs(sum);
      for (std::uint64_t i = 0; i < x.size(); ++i) {
        const double product = x[i] * w[i * block_.columns + column];
        sum += product;
        size += std::abs(product);
      }
      const double allowed = (block_.depth + 1) * u32 * size + u * std::abs(sum);
      const double error = std::abs(data::load_element(block_.partial, bytes, at) - sum);
      const double ratio = error == 0 ? 0 : error / allowed;
      if (!(ratio <= 1)) result.passed = false;
      result.max_error = std::isnan(ratio) ? std::numeric_limits<double>::infinity()
                                           : std::max(result.max_error, ratio);
    }
  }
}

CheckResult MatrixUnit::check(const MemoryReader& memory, CheckMode mode) const {
  if (mode == CheckMode::off) return {true, 0, 1, "off"};
  const bool sample = !compares_all(mode, useful_flops());
  CheckResult result{true, 0, 1, sample ? "sample" : "full"};
  for (std::uint32_t t = 0; t < machine_.tiles; t += sample ? kSampleStep : 1) {
    check_tile(memory, t, result);
  }
  return result;
}

}  // namespace tessera::matrix_unit
