#include "kernels/sparse/row_sums.h"

#include <cmath>

namespace tessera::sparse {

RowSums::RowSums(const Product& product, const kernels::SignVectors& signs, HostThreads& threads)
    : product_(product),
      signs_(signs),
      of_rows_(signs),
      x_sums_(product.w.columns * signs.sums()),
      x_squares_(product.w.columns * signs.segments()) {
  threads.for_ranges(product.w.columns, kGrain, [&](std::size_t begin, std::size_t end) {
    of_rows_.add(view(product_.x_row(static_cast<std::uint32_t>(begin))), end - begin,
                 &x_sums_[begin * signs_.sums()], signs_.sums());
    for (std::size_t row = begin; row < end; ++row) add_squares(row);
  });
}

void RowSums::look(std::uint32_t first, std::span<const float> found,
                   kernels::Screen& screen) const {
  const std::size_t rows = found.size() / product_.n;
  std::vector<double> errors(rows * signs_.sums());
  of_rows_.add(view(found), rows, errors.data(), signs_.sums());
  for (std::size_t i = 0; i < rows; ++i) {
    look_at_row(first + static_cast<std::uint32_t>(i),
                std::span(errors).subspan(i * signs_.sums(), signs_.sums()), screen);
  }
}

void RowSums::add_squares(std::size_t row) {
  const auto values = product_.x_row(static_cast<std::uint32_t>(row));
  for (std::size_t s = 0; s < signs_.segments(); ++s) {
    for (std::uint64_t j = signs_.segment(s).begin; j < signs_.segment(s).end; ++j) {
      const auto value = static_cast<double>(values[j]);
      x_squares_[row * signs_.segments() + s] += value * value;
    }
  }
}

void RowSums::look_at_row(std::uint32_t row, std::span<double> errors,
                          kernels::Screen& screen) const {
  std::vector<double> expected(signs_.sums());
  std::vector<double> squares(signs_.segments());
  std::uint64_t products = 0;
  visit_row(product_.w, row, [&](std::uint32_t column, double value) {
    const double* const sums = &x_sums_[column * expected.size()];
    for (std::size_t q = 0; q < expected.size(); ++q) expected[q] += value * sums[q];
    for (std::size_t s = 0; s < squares.size(); ++s) {
      squares[s] += value * value * x_squares_[column * squares.size() + s];
    }
    ++products;
  });
  constexpr std::size_t kVectors = kernels::SignVectors::kVectors;
  std::vector<double> deviations(squares.size());
  for (std::size_t s = 0; s < squares.size(); ++s) {
    const auto length = static_cast<double>(signs_.segment(s).size());
    double sum_squares = 0;
    for (std::size_t q = s * kVectors; q < (s + 1) * kVectors; ++q) {
      sum_squares += expected[q] * expected[q] / kVectors;
      errors[q] -= expected[q];
    }
    deviations[s] = deviation(product_.rounding, products, std::sqrt(sum_squares / length),
                              std::sqrt(squares[s] / length), length);
  }
  screen.look(row, errors, deviations);
}

}  // namespace tessera::sparse
