#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/check/comparison.h"
#include "kernels/matrix_unit/matrix_unit.h"
#include "sim/base/parallel.h"
#include "sim/data/element.h"

namespace tessera::matrix_unit {

/// Products are added one by one in f32, then rounded to the results' type: the bound of each
/// element is (inputs + 1) u32 (|y| + sum |x w|) + u |result| and half the smallest number of that
/// type, and max_error the largest error over it. All are also replayed: the same with every
/// rounding, to the bit.
class MatrixUnit::TileCheck {
 public:
  TileCheck(const MatrixUnit& unit, std::uint32_t tile, kernels::Comparison& comparison)
      : unit_(unit), block_(unit.block_), tile_(tile), comparison_(comparison) {
    w_.resize(std::size_t{block_.depth} * block_.columns);
    for (std::size_t i = 0; i < w_.size(); ++i) w_[i] = unit.initial(Array::w, tile, i);
  }

  void compare(std::span<const std::byte> bytes) {
    for (std::uint64_t row = 0; row < unit_.options_.n; ++row) {
      multiply(row);
      for (std::uint64_t column = 0; column < block_.columns; ++column) {
        const double found =
            data::load_element(block_.partial, bytes, row * block_.columns + column);
        compare_element(row, column, found);
      }
    }
  }

 private:
  void multiply(std::uint64_t row) {
    const std::uint32_t columns = block_.columns;
    sum_.resize(columns);
    for (std::uint64_t j = 0; j < columns; ++j) {
      sum_[j] = unit_.initial(Array::y, tile_, row * columns + j);
    }
    single_.assign(sum_.begin(), sum_.end());
    size_.resize(columns);
    std::transform(sum_.begin(), sum_.end(), size_.begin(), [](double y) { return std::abs(y); });
    for (std::uint64_t i = 0; i < block_.depth; ++i) {
      const double x = unit_.initial(Array::x, tile_, row * block_.depth + i);
      for (std::uint64_t j = 0; j < columns; ++j) {
        const double product = x * w_[i * columns + j];
        sum_[j] += product;
        size_[j] += std::abs(product);
        single_[j] = static_cast<float>(static_cast<double>(single_[j]) + product);
      }
    }
  }

  /// Inputs are multiples of 2^-10 below 1: products and what is added to them are exact in double,
  /// and rounding that to f32 is the multiply-add.
  void compare_element(std::uint64_t row, std::uint64_t column, double found) {
    const bool half = block_.partial == program::Type::f16;
    const double u32 = data::unit_roundoff(program::Type::f32);
    const double u = data::unit_roundoff(block_.partial);
    const double allowed = (block_.depth + 1) * u32 * size_[column] + u * std::abs(sum_[column]) +
                           (half ? 0x1p-25 : 0x1p-150);
    const kernels::Compared one{std::uint64_t{tile_} * unit_.options_.n + row,
                                column,
                                found,
                                sum_[column],
                                allowed,
                                size_[column]};
    comparison_.add(one);
    if (std::abs(found - one.expected) <= allowed) {
      comparison_.add_replayed(one,
                               data::rounded(block_.partial, static_cast<double>(single_[column])));
    }
  }

  const MatrixUnit& unit_;
  const kernels::BlockShape& block_;
  std::uint32_t tile_;
  kernels::Comparison& comparison_;
  std::vector<double> w_, sum_, size_;
  std::vector<float> single_;  ///< sums as the machine has them
};

CheckResult MatrixUnit::check(const TensorReader& tensors, const CheckRequest& request) const {
  if (request.mode == CheckMode::off) return {true, 0, 1, "off"};
  constexpr std::uint32_t kTogether = 64;  // tiles; memory is read by this thread alone
  kernels::Comparison all({"Y", block_.partial, block_.partial, false});
  HostThreads threads(request.threads);
  std::vector<std::vector<std::byte>> results(kTogether);
  for (std::uint32_t first = 0; first < machine_.tiles; first += kTogether) {
    const std::uint32_t count = std::min(kTogether, machine_.tiles - first);
    std::vector<kernels::Comparison> tiles(count, all.fresh());
    for (std::uint32_t i = 0; i < count; ++i) results[i] = tensors.slice("Y", first + i);
    threads.for_ranges(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        TileCheck(*this, first + static_cast<std::uint32_t>(i), tiles[i]).compare(results[i]);
      }
    });
    for (const kernels::Comparison& tile : tiles) all.merge(tile);
  }
  return all.result("full");
}

}  // namespace tessera::matrix_unit
