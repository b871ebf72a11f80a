#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/check/check.h"
#include "kernels/check/rounding.h"
#include "kernels/matrix_unit/matrix_unit.h"
#include "sim/data/element.h"

namespace tessera::matrix_unit {

/// Products are added one by one in f32, then rounded to the results' type: the bound of each
/// element is (inputs + 1) u32 (|y| + sum |x w|) + u |result| and half the smallest number of that
/// type, and max_error the largest error over it. All are also computed with every rounding, to the
/// bit. Inputs are multiples of 2^-10 below 1: products and what is added to them are exact in
/// double, and rounding that to f32 is the multiply-add.
class MatrixUnit::TileCheck {
 public:
  TileCheck(const MatrixUnit& unit, std::uint32_t tile) : unit_(unit), tile_(tile) {
    w_.resize(std::size_t{unit.block_.depth} * unit.block_.columns);
    for (std::size_t i = 0; i < w_.size(); ++i) w_[i] = unit.initial(Array::w, tile, i);
  }

  void compare(std::span<const std::byte> bytes, kernels::Comparison& into) {
    const std::uint64_t columns = unit_.block_.columns;
    for (std::uint64_t row = 0; row < unit_.options_.n; ++row) {
      multiply(row);
      for (std::uint64_t column = 0; column < columns; ++column)
        into.add(compared(row, column,
                          data::load_element(unit_.block_.partial, bytes, row * columns + column)));
    }
  }

 private:
  void multiply(std::uint64_t row) {
    const std::uint32_t columns = unit_.block_.columns;
    sum_.resize(columns);
    for (std::uint64_t j = 0; j < columns; ++j)
      sum_[j] = unit_.initial(Array::y, tile_, row * columns + j);
    single_.assign(sum_.begin(), sum_.end());
    size_.resize(columns);
    std::transform(sum_.begin(), sum_.end(), size_.begin(), [](double y) { return std::abs(y); });
    for (std::uint64_t i = 0; i < unit_.block_.depth; ++i) {
      const double x = unit_.initial(Array::x, tile_, row * unit_.block_.depth + i);
      for (std::uint64_t j = 0; j < columns; ++j) {
        const double product = x * w_[i * columns + j];
        sum_[j] += product;
        size_[j] += std::abs(product);
        single_[j] = static_cast<float>(static_cast<double>(single_[j]) + product);
      }
    }
  }

  [[nodiscard]] kernels::Compared compared(std::uint64_t row, std::uint64_t column,
                                           double found) const {
    const program::Type type = unit_.block_.partial;
    const double allowed =
        (unit_.block_.depth + 1) * data::unit_roundoff(program::Type::f32) * size_[column] +
        data::unit_roundoff(type) * std::abs(sum_[column]) + kernels::half_smallest(type);
    return {std::uint64_t{tile_} * unit_.options_.n + row,
            column,
            found,
            sum_[column],
            allowed,
            size_[column],
            data::rounded(type, static_cast<double>(single_[column]))};
  }

  const MatrixUnit& unit_;
  std::uint32_t tile_;
  std::vector<double> w_, sum_, size_;
  std::vector<float> single_;  ///< sums as the machine has them
};

CheckResult MatrixUnit::check(const TensorReader& tensors, const CheckRequest& request) const {
  constexpr std::uint32_t kTogether = 64;  // tiles; memory is read by this thread alone
  kernels::Comparison all({"Y", block_.partial, block_.partial});
  HostThreads threads(request.threads);
  std::vector<std::vector<std::byte>> results(kTogether);
  for (std::uint32_t first = 0; first < machine_.tiles; first += kTogether) {
    const std::uint32_t count = std::min(kTogether, machine_.tiles - first);
    for (std::uint32_t i = 0; i < count; ++i) results[i] = tensors.slice("Y", first + i);
    all.add_all(count, 1, threads, [&](std::size_t i, std::size_t, kernels::Comparison& into) {
      TileCheck(*this, first + static_cast<std::uint32_t>(i)).compare(results[i], into);
    });
  }
  return all.result("full");
}

}  // namespace tessera::matrix_unit
