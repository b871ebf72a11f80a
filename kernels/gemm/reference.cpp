#include "kernels/gemm/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/data/random.h"

namespace tessera::gemm {

namespace {

constexpr std::uint64_t kBlock = 16;  // side of the blocks that are sampled
constexpr double kDeviations = 8;
constexpr std::uint64_t kSampleStream = 2;
constexpr std::uint64_t kSignStream = 3;

std::vector<double> row_of(const Operand& operand, std::uint64_t row) {
  std::vector<double> values(operand.columns());
  for (std::uint64_t j = 0; j < values.size(); ++j) {
    values[j] = operand.element(row, j);
  }
  return values;
}

/// What the partial sums of one element say about its error.
struct PartialSums {
  double value = 0;
  double squares = 0;        ///< of the sums after every depth, added up
  double block_squares = 0;  ///< of those that are stored
  double largest = 0;        ///< the largest square
};

double bound(const PartialSums& sums, std::uint64_t depth, const Rounding& rounding) {
  const double blocks = static_cast<double>(ceil_div(depth, rounding.depth));
  const double stored =
      rounding.parts * sums.largest + (rounding.every_block ? sums.block_squares : 0);
  return kDeviations *
             (rounding.sum * std::sqrt(sums.squares) + rounding.partial * std::sqrt(stored)) +
         (blocks + rounding.parts) * rounding.smallest + rounding.result * std::abs(sums.value);
}

/// One row of the product.
std::vector<PartialSums> reference_row(const std::vector<double>& a, const std::vector<float>& b,
                                       std::uint64_t columns, const Rounding& rounding) {
  std::vector<PartialSums> row(columns);
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    const float* b_row = &b[i * columns];
    const bool block_ends = (i + 1) % rounding.depth == 0 || i + 1 == a.size();
    for (std::uint64_t j = 0; j < columns; ++j) {
      PartialSums& sums = row[j];
      sums.value += a[i] * static_cast<double>(b_row[j]);
      const double square = sums.value * sums.value;
      sums.squares += square;
      sums.largest = std::max(sums.largest, square);
      if (block_ends) sums.block_squares += square;
    }
  }
  return row;
}

/// Compares, keeping the worst ratio of error to bound.
class Comparison {
 public:
  void add(double error, double allowed) {
    const double ratio = error == 0 ? 0 : error / allowed;
    if (!(ratio <= 1)) passed_ = false;
    worst_ = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(worst_, ratio);
  }
  [[nodiscard]] CheckResult result(std::string method) const {
    return {passed_, worst_, 1, std::move(method)};
  }

 private:
  bool passed_ = true;
  double worst_ = 0;
};

CheckResult compare_all(const Matrix& c, const Operand& a, const Operand& b,
                        const Rounding& rounding) {
  std::vector<float> b_values(b.rows() * b.columns());
  for (std::uint64_t i = 0; i < b_values.size(); ++i) {
    b_values[i] = static_cast<float>(b.element(i / b.columns(), i % b.columns()));
  }
  Comparison comparison;
  for (std::uint64_t i = 0; i < c.rows; ++i) {
    const std::vector<PartialSums> row = reference_row(row_of(a, i), b_values, c.columns, rounding);
    for (std::uint64_t j = 0; j < c.columns; ++j) {
      const double found = static_cast<double>(c.values[i * c.columns + j]);
      comparison.add(std::abs(found - row[j].value), bound(row[j], a.columns(), rounding));
    }
  }
  return comparison.result("full");
}

/// A random element of each block of C; returns the root mean square of their bounds.
double compare_sample(const Matrix& c, const Operand& a, const std::vector<float>& b_columns,
                      const Rounding& rounding, std::uint64_t seed, Comparison& comparison) {
  double squares = 0;
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < c.rows; i += kBlock) {
    const std::uint64_t rows = std::min(kBlock, c.rows - i);
    const std::uint64_t row = i + data::random_below(seed, kSampleStream, 2 * i, rows);
    const std::vector<double> a_row = row_of(a, row);
    for (std::uint64_t j = 0; j < c.columns; j += kBlock) {
      const std::uint64_t columns = std::min(kBlock, c.columns - j);
      const std::uint64_t key = 2 * (i * c.columns + j) + 1;
      const std::uint64_t column = j + data::random_below(seed, kSampleStream, key, columns);
      const auto first = b_columns.begin() + static_cast<std::ptrdiff_t>(column * a.columns());
      const std::vector<float> b_column(first, first + static_cast<std::ptrdiff_t>(a.columns()));
      const PartialSums one = reference_row(a_row, b_column, 1, rounding).front();
      const double allowed = bound(one, a.columns(), rounding);
      const double found = static_cast<double>(c.values[row * c.columns + column]);
      comparison.add(std::abs(found - one.value), allowed);
      squares += allowed * allowed;
      ++count;
    }
  }
  return std::sqrt(squares / static_cast<double>(count));
}

/// C r against A (B r) for random signs r.
void compare_row_sums(const Matrix& c, const Operand& a, const std::vector<float>& b_columns,
                      double allowed, std::uint64_t seed, Comparison& comparison) {
  std::vector<double> signs(c.columns);
  std::vector<double> b_sum(a.columns());
  for (std::uint64_t j = 0; j < c.columns; ++j) {
    signs[j] = (data::random_bits(seed, kSignStream, j) & 1) != 0 ? 1 : -1;
    const float* column = &b_columns[j * a.columns()];
    for (std::uint64_t k = 0; k < a.columns(); ++k) {
      b_sum[k] += signs[j] * static_cast<double>(column[k]);
    }
  }
  for (std::uint64_t i = 0; i < c.rows; ++i) {
    double expected = 0;
    double found = 0;
    for (std::uint64_t k = 0; k < a.columns(); ++k) {
      expected += a.element(i, k) * b_sum[k];
    }
    for (std::uint64_t j = 0; j < c.columns; ++j) {
      found += signs[j] * static_cast<double>(c.values[i * c.columns + j]);
    }
    comparison.add(std::abs(found - expected), allowed);
  }
}

}  // namespace

CheckResult compare(const Matrix& c, const Operand& a, const Operand& b, const Rounding& rounding,
                    std::uint64_t seed, bool full) {
  if (full) return compare_all(c, a, b, rounding);
  std::vector<float> b_columns(b.rows() * b.columns());
  for (std::uint64_t i = 0; i < b_columns.size(); ++i) {
    b_columns[i] = static_cast<float>(b.element(i % b.rows(), i / b.rows()));
  }
  Comparison comparison;
  const double element = compare_sample(c, a, b_columns, rounding, seed, comparison);
  const double row = kDeviations * std::sqrt(static_cast<double>(c.columns)) * element;
  compare_row_sums(c, a, b_columns, row, seed, comparison);
  return comparison.result("sample");
}

}  // namespace tessera::gemm
