#include "kernels/sparse/check.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/sparse/operand/sources.h"
#include "sim/data/element.h"
#include "sim/data/random.h"

namespace tessera::sparse {

namespace {

constexpr double kSampleFlops = 1e9;  // of the rows that are compared where not all are
constexpr double kDeviations = 8;
constexpr double kWalk = 3;  // how many standard deviations a partial sum strays on its way

/// What `steps` roundings of relative error u may add to a sum of these products.
double drift(double u, double steps, double value, double magnitudes, double root_squares) {
  const double certain = steps * u * magnitudes;
  const double likely =
      kDeviations * u * std::sqrt(steps) * (std::abs(value) + kWalk * root_squares);
  return std::min(certain, likely);
}

double allowed_error(const Rounding& rounding, std::uint64_t products, double value,
                     double magnitudes, double root_squares) {
  const auto stored =
      static_cast<double>(ceil_div<std::uint64_t>(products, rounding.depth) + rounding.parts);
  return drift(rounding.sum, stored + 1, value, magnitudes, root_squares) +
         drift(rounding.inside, static_cast<double>(products), value, magnitudes, root_squares) +
         rounding.result * std::abs(value) + (stored + 2) * rounding.smallest;
}

/// Elements of block row `row / block` in row `row`: calls visit(column, value).
template <class Visit>
void visit_row(const BlockMatrix& w, std::uint32_t row, const Visit& visit) {
  const std::uint32_t block_row = row / w.block;
  for (std::uint64_t e = w.row_begin[block_row]; e < w.row_begin[block_row + 1]; ++e) {
    const auto values = w.values(e).subspan(std::size_t{row % w.block} * w.block, w.block);
    for (std::uint32_t i = 0; i < w.block; ++i) {
      const std::uint32_t column = w.column[e] * w.block + i;
      if (column < w.columns) visit(column, static_cast<double>(values[i]));
    }
  }
}

class ProductCheck {
 public:
  ProductCheck(const BlockMatrix& w, std::span<const float> x, std::uint32_t n, const ResultRow& y,
               const Rounding& rounding)
      : w_(w), x_(x), n_(n), y_(y), rounding_(rounding), found_(n) {}

  void compare_row(std::uint32_t row) {
    value_.assign(n_, 0);
    magnitude_.assign(n_, 0);
    square_.assign(n_, 0);
    std::uint64_t products = 0;
    visit_row(w_, row, [&](std::uint32_t column, double value) {
      add_products(value, x_row(column));
      ++products;
    });
    y_(row, found_);
    for (std::size_t j = 0; j < n_; ++j) {
      comparison_.add(
          found_[j], value_[j],
          allowed_error(rounding_, products, value_[j], magnitude_[j], std::sqrt(square_[j])));
    }
  }

  /// Y s against W (X s) for random signs s.
  void compare_sums(std::uint64_t seed) {
    std::vector<double> signs(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      signs[j] = (data::random_bits(seed, kSignStream, j) & 1) != 0 ? 1 : -1;
    }
    std::vector<double> x_sum(w_.columns);
    std::vector<double> x_square(w_.columns);  // mean over a row
    for (std::uint32_t i = 0; i < w_.columns; ++i) {
      const std::span<const float> x = x_row(i);
      for (std::size_t j = 0; j < n_; ++j) {
        const auto value = static_cast<double>(x[j]);
        x_sum[i] += signs[j] * value;
        x_square[i] += value * value / static_cast<double>(n_);
      }
    }
    for (std::uint32_t row = 0; row < w_.rows; ++row) compare_sum(row, signs, x_sum, x_square);
  }

  [[nodiscard]] CheckResult result(std::string method) const {
    return comparison_.result(std::move(method));
  }

 private:
  [[nodiscard]] std::span<const float> x_row(std::uint32_t row) const {
    return x_.subspan(std::size_t{row} * n_, n_);
  }

  void add_products(double weight, std::span<const float> x) {
    double* const value = value_.data();
    double* const magnitude = magnitude_.data();
    double* const square = square_.data();
    for (std::size_t j = 0; j < n_; ++j) {
      const double product = weight * static_cast<double>(x[j]);
      value[j] += product;
      magnitude[j] += std::abs(product);
      square[j] += product * product;
    }
  }

  void compare_sum(std::uint32_t row, const std::vector<double>& signs,
                   const std::vector<double>& x_sum, const std::vector<double>& x_square) {
    double expected = 0;
    double squares = 0;
    std::uint64_t products = 0;
    visit_row(w_, row, [&](std::uint32_t column, double value) {
      expected += value * x_sum[column];
      squares += value * value * x_square[column];
      ++products;
    });
    y_(row, found_);
    double sum = 0;
    double magnitude = 0;
    for (std::size_t j = 0; j < found_.size(); ++j) {
      sum += signs[j] * found_[j];
      magnitude += found_[j] * found_[j] / static_cast<double>(found_.size());
    }
    const double root = std::sqrt(squares);
    const double element = allowed_error(rounding_, products, std::sqrt(magnitude),
                                         std::sqrt(static_cast<double>(products)) * root, root);
    comparison_.add(sum, expected,
                    kDeviations * std::sqrt(static_cast<double>(found_.size())) * element);
  }

  const BlockMatrix& w_;
  std::span<const float> x_;
  std::size_t n_;
  const ResultRow& y_;
  Rounding rounding_;
  std::vector<double> found_, value_, magnitude_, square_;  // of one row
  Comparison comparison_;
};

}  // namespace

Rounding rounding_of(program::Type result, program::Type partials, std::uint32_t depth,
                     std::uint32_t parts) {
  const bool half = result == program::Type::f16 || partials == program::Type::f16;
  const double inside = depth == 1 ? 0 : data::unit_roundoff(program::Type::f32);
  return {
      data::unit_roundoff(partials), inside, result == partials ? 0 : data::unit_roundoff(result),
      half ? 0x1p-25 : 0x1p-150,     depth,  parts};
}

double ExactSum::allowed(const Rounding& rounding) const {
  return allowed_error(rounding, products_, value_, magnitudes_, std::sqrt(squares_));
}

void Comparison::add(double found, double expected, double allowed) {
  const double error = std::abs(found - expected);
  const double ratio = error == 0 ? 0 : error / allowed;
  if (!(ratio <= 1)) passed_ = false;
  worst_ = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(worst_, ratio);
}

CheckResult Comparison::result(std::string method) const {
  return {passed_, worst_, 1, std::move(method)};
}

void StoredRows::read(std::uint32_t row, std::span<double> into) {
  if (row / depth_ != held_) {
    held_ = row / depth_;
    bytes_.resize(depth_ * columns_ * data::element_bytes(type_));
    const std::uint64_t first = held_ * bytes_.size();
    for (const auto& piece : storage_.pieces(first, first + bytes_.size())) {
      memory_.read({program::BufferId{piece.tile}, piece.offset},
                   std::span(bytes_).subspan(piece.at, piece.bytes));
    }
  }
  for (std::size_t j = 0; j < into.size(); ++j) {
    into[j] = data::load_element(type_, bytes_, j * depth_ + row % depth_);
  }
}

CheckResult check_product(const BlockMatrix& w, const data::DenseOperand& x, const ResultRow& y,
                          const Rounding& rounding, CheckMode mode, std::uint64_t seed) {
  if (mode == CheckMode::off) return {true, 0, 0, "off"};
  const std::uint64_t n = x.columns();
  std::vector<float> values(x.rows() * n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(x.element(i / n, i % n));
  }
  return check_product(w, values, static_cast<std::uint32_t>(n), y, rounding, mode, seed);
}

CheckResult check_product(const BlockMatrix& w, std::span<const float> x, std::uint32_t n,
                          const ResultRow& y, const Rounding& rounding, CheckMode mode,
                          std::uint64_t seed) {
  if (mode == CheckMode::off) return {true, 0, 0, "off"};
  const std::uint64_t flops = 2 * w.value.size() * n;
  ProductCheck product(w, x, n, y, rounding);
  if (compares_all(mode, flops)) {
    for (std::uint32_t row = 0; row < w.rows; ++row) product.compare_row(row);
    return product.result("full");
  }
  const double share = std::min(1.0, kSampleFlops / std::max(static_cast<double>(flops), 1.0));
  const auto rows = static_cast<std::uint32_t>(std::ceil(share * w.rows));
  for (std::uint32_t i = 0; i < rows; ++i) {
    const std::uint64_t first = std::uint64_t{w.rows} * i / rows;
    const std::uint64_t end = std::uint64_t{w.rows} * (i + 1) / rows;
    product.compare_row(static_cast<std::uint32_t>(
        first + data::random_below(seed, kSampleStream, i, end - first)));
  }
  product.compare_sums(seed);
  return product.result("sample");
}

}  // namespace tessera::sparse
