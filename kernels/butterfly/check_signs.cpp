#include "kernels/butterfly/check_signs.h"

#include <algorithm>
#include <cmath>

namespace tessera::butterfly {

namespace {

constexpr std::size_t kVectors = kernels::SignVectors::kVectors;
constexpr std::size_t kRows = 32;  // that are summed at a time

/// One segment: its sums by row and vector.
class SegmentSums {
 public:
  SegmentSums(const SignedProduct& product, const kernels::SignVectors& signs, Interval columns)
      : product_(product),
        parts_(product.problem.is_complex() ? 2 : 1),
        rows_(std::size_t{product.problem.features} * parts_),
        columns_(columns),
        sums_(signs) {}

  void look(kernels::Screen& screen) const {
    const std::vector<double> expected = of_x();
    const std::vector<double> found = of_found();
    std::vector<double> value(expected.size()), squares(rows_);
    for (std::size_t first = 0; first < kVectors; first += Columns::kWidth)
      apply_all(expected, first, value, squares);
    std::vector<double> errors(kVectors);
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t v = 0; v < kVectors; ++v)
        errors[v] = found[row * kVectors + v] - value[row * kVectors + v];
      const double deviation = std::sqrt(squares[row] / kVectors) / kDeviations;
      screen.look(row, errors, {&deviation, 1});
    }
  }

 private:
  static constexpr double kDeviations = 8;  // that the error of a column stands for

  [[nodiscard]] std::vector<double> of_x() const {
    std::vector<double> sums(rows_ * kVectors);
    const std::size_t length = columns_.size();
    std::vector<float> values(kRows * length), numbers(length * parts_);
    for (std::size_t first = 0; first < rows_; first += kRows) {
      const std::size_t count = std::min(kRows, rows_ - first);
      for (std::size_t i = 0; i < count; i += parts_) {
        const std::uint64_t row = (first + i) / parts_;
        product_.x.read_elements((row * product_.problem.n + columns_.begin) * parts_, numbers);
        for (std::size_t j = 0; j < numbers.size(); ++j)
          values[(i + j % parts_) * length + j / parts_] = numbers[j];
      }
      sums_.add({values.data(), length, 1}, count, &sums[first * kVectors], kVectors);
    }
    return sums;
  }

  [[nodiscard]] std::vector<double> of_found() const {
    std::vector<double> sums(rows_ * kVectors);
    const std::size_t n = product_.problem.n;
    if (parts_ == 1) {
      sums_.add({&product_.found[columns_.begin], n, 1}, rows_, sums.data(), kVectors);
      return sums;
    }
    for (std::size_t row = 0; row < rows_; row += parts_)
      sums_.add({&product_.found[row * n + columns_.begin * parts_], 1, parts_}, parts_,
                &sums[row * kVectors], kVectors);
    return sums;
  }

  /// The factors of some vectors' sums; squares of their errors are added to their row's.
  void apply_all(const std::vector<double>& sums, std::size_t first, std::vector<double>& value,
                 std::vector<double>& squares) const {
    constexpr std::size_t kWidth = Columns::kWidth;
    const std::size_t width = std::min(kWidth, kVectors - first);
    Columns x{std::vector<double>(rows_ * kWidth), std::vector<double>(rows_ * kWidth)};
    for (std::size_t row = 0; row < rows_; ++row)
      std::copy_n(&sums[row * kVectors + first], width, &x.value[row * kWidth]);
    Columns y;
    for (const RealFactor& each : product_.factors) {
      apply(each, x, product_.problem.type(), product_.roundings, y);
      std::swap(x, y);
    }
    for (std::size_t row = 0; row < rows_; ++row) {
      std::copy_n(&x.value[row * kWidth], width, &value[row * kVectors + first]);
      for (std::size_t i = 0; i < width; ++i)
        squares[row] += x.error[row * kWidth + i] * x.error[row * kWidth + i];
    }
  }

  const SignedProduct& product_;
  std::size_t parts_;
  std::size_t rows_;
  Interval columns_;
  kernels::SignedSums<double> sums_;
};

}  // namespace

kernels::Screen screen_columns(const SignedProduct& product, const kernels::SignVectors& signs,
                               HostThreads& threads) {
  std::vector<kernels::Screen> screens(signs.segments(), kernels::Screen(signs));
  threads.for_ranges(signs.segments(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) {
      const kernels::SignVectors its = signs.only(s);
      const Interval columns = signs.segment(s);
      kernels::Screen screen(its);
      SegmentSums(product, its, columns).look(screen);
      for (auto* suspects : {&screen.elements, &screen.segments})
        for (kernels::Suspect& one : *suspects) {
          one.columns.begin += columns.begin;
          one.columns.end += columns.begin;
        }
      screens[s].merge(screen);
    }
  });
  kernels::Screen all(signs);
  for (const kernels::Screen& each : screens) all.merge(each);
  return all;
}

}  // namespace tessera::butterfly
