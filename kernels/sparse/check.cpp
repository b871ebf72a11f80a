#include "kernels/sparse/check.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/check/signs.h"
#include "kernels/sparse/operand/sources.h"
#include "sim/data/element.h"
#include "sim/data/random.h"

namespace tessera::sparse {

namespace {

constexpr std::uint32_t kRowStep = 64;  // of so many rows one is compared where not all are
constexpr double kDeviations = 8;
constexpr std::uint64_t kSegment = 512;  // columns whose signed sum is checked
constexpr std::size_t kMostRows = 256;   // that are compared because something stands out
constexpr double kWalk = 3;  // how many standard deviations a partial sum strays on its way

/// Eight standard deviations of what `steps` roundings of relative error u add to a sum of such
/// products.
double likely_drift(double u, double steps, double value, double root_squares) {
  return kDeviations * u * std::sqrt(steps) * (std::abs(value) + kWalk * root_squares);
}

/// What they may add.
double drift(double u, double steps, double value, double magnitudes, double root_squares) {
  return std::min(steps * u * magnitudes, likely_drift(u, steps, value, root_squares));
}

double half_smallest(program::Type type) { return type == program::Type::f16 ? 0x1p-25 : 0x1p-150; }

double stored_sums(const Rounding& rounding, std::uint64_t products) {
  return static_cast<double>(ceil_div<std::uint64_t>(products, rounding.depth) + rounding.parts);
}

double below_normal(const Rounding& rounding, double stored) {
  return (stored + 2) * half_smallest(rounding.partials) + half_smallest(rounding.type);
}

double allowed_error(const Rounding& rounding, std::uint64_t products, double value,
                     double magnitudes, double root_squares) {
  if (products == 0) return 0;
  const double stored = stored_sums(rounding, products);
  return drift(rounding.sum, stored + 1, value, magnitudes, root_squares) +
         drift(rounding.inside, static_cast<double>(products), value, magnitudes, root_squares) +
         rounding.result * std::abs(value) + below_normal(rounding, stored);
}

/// The standard deviation that roundings give to a sum with random signs of `length` such elements,
/// of which value and root_squares are root mean squares.
double deviation(const Rounding& rounding, std::uint64_t products, double value,
                 double root_squares, double length) {
  if (products == 0) return 0;
  const double stored = stored_sums(rounding, products);
  const double partial = value + root_squares;  // a partial sum on its walk
  const double squares =
      rounding.sum * rounding.sum * (stored + 1) * partial * partial +
      rounding.inside * rounding.inside * static_cast<double>(products) * partial * partial +
      rounding.result * rounding.result * value * value;
  const double small = below_normal(rounding, stored);
  return std::sqrt(length * (squares / 3 + small * small));
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

  void compare_row(std::uint32_t row, bool suspect = false) {
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
      const kernels::Compared one{
          row,
          j,
          found_[j],
          value_[j],
          allowed_error(rounding_, products, value_[j], magnitude_[j], std::sqrt(square_[j])),
          magnitude_[j]};
      suspect ? comparison_.add_suspect(one) : comparison_.add(one);
    }
  }

  /// Y s against W (X s) for random signs s.
  void compare_sums(std::uint64_t seed) {
    const kernels::SignVectors signs(n_, kSegment, seed, kSignStream);
    const std::size_t segments = signs.segments();
    std::vector<double> x_sums(w_.columns * signs.sums());
    std::vector<double> x_squares(w_.columns * segments);
    for (std::uint32_t i = 0; i < w_.columns; ++i) {
      signs.add(x_row(i), 1, std::span(x_sums).subspan(i * signs.sums(), signs.sums()));
      for (std::size_t s = 0; s < segments; ++s) {
        for (std::uint64_t j = signs.segment(s).begin; j < signs.segment(s).end; ++j) {
          const auto value = static_cast<double>(x_row(i)[j]);
          x_squares[i * segments + s] += value * value;
        }
      }
    }
    kernels::Screen screen(signs);
    for (std::uint32_t row = 0; row < w_.rows; ++row) {
      look_at_sums(row, signs, x_sums, x_squares, screen);
    }
    compare_suspects(screen);
  }

  [[nodiscard]] kernels::Comparison& comparison() { return comparison_; }
  [[nodiscard]] CheckResult result(std::string method) const {
    CheckResult result = comparison_.result(std::move(method));
    result.max_error = std::max(result.max_error, worst_sum_);
    result.threshold = threshold_;
    result.lone_threshold = lone_threshold_;
    if (threshold_ > 0) result.missed_probability = kernels::SignVectors::kMissed;
    return result;
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

  void look_at_sums(std::uint32_t row, const kernels::SignVectors& signs,
                    const std::vector<double>& x_sums, const std::vector<double>& x_squares,
                    kernels::Screen& screen) {
    constexpr std::size_t kVectors = kernels::SignVectors::kVectors;
    const std::size_t segments = signs.segments();
    std::vector<double> expected(signs.sums());
    std::vector<double> squares(segments);
    std::uint64_t products = 0;
    visit_row(w_, row, [&](std::uint32_t column, double value) {
      const double* const sums = &x_sums[column * expected.size()];
      for (std::size_t q = 0; q < expected.size(); ++q) expected[q] += value * sums[q];
      for (std::size_t s = 0; s < segments; ++s) {
        squares[s] += value * value * x_squares[column * segments + s];
      }
      ++products;
    });
    y_(row, found_);
    std::vector<double> errors(signs.sums());
    signs.add(std::span<const double>(found_), 1, errors);
    std::vector<double> deviations(segments);
    for (std::size_t s = 0; s < segments; ++s) {
      const auto length = static_cast<double>(signs.segment(s).size());
      double sum_squares = 0;
      for (std::size_t q = s * kVectors; q < (s + 1) * kVectors; ++q) {
        sum_squares += expected[q] * expected[q] / kVectors;
        errors[q] -= expected[q];
      }
      deviations[s] = deviation(rounding_, products, std::sqrt(sum_squares / length),
                                std::sqrt(squares[s] / length), length);
    }
    screen.look(row, errors, deviations);
  }

  void compare_suspects(kernels::Screen& screen) {
    threshold_ = screen.threshold;
    lone_threshold_ = screen.lone_threshold;
    worst_sum_ = screen.worst;
    std::vector<bool> compared(w_.rows);
    const auto compare = [&](std::vector<kernels::Suspect>& suspects, double& threshold) {
      kernels::sort_suspects(suspects);
      std::size_t rows = 0;
      for (const kernels::Suspect& one : suspects) {
        if (compared[one.row]) continue;
        if (++rows > kMostRows) {
          threshold *= one.ratio;
          return;
        }
        compared[one.row] = true;
        compare_row(static_cast<std::uint32_t>(one.row), true);
      }
    };
    compare(screen.segments, threshold_);
    compare(screen.elements, lone_threshold_);
  }

  const BlockMatrix& w_;
  std::span<const float> x_;
  std::size_t n_;
  const ResultRow& y_;
  Rounding rounding_;
  std::vector<double> found_, value_, magnitude_, square_;  // of one row
  kernels::Comparison comparison_{{"Y", rounding_.type, rounding_.partials, false}};
  double threshold_ = 0;  ///< of signed sums, as Screen's
  double lone_threshold_ = 0;
  double worst_sum_ = 0;
};

}  // namespace

Rounding rounding_of(program::Type result, program::Type partials, std::uint32_t depth,
                     std::uint32_t parts) {
  const double inside = depth == 1 ? 0 : data::unit_roundoff(program::Type::f32);
  return {data::unit_roundoff(partials),
          inside,
          result == partials ? 0 : data::unit_roundoff(result),
          result,
          partials,
          depth,
          parts};
}

kernels::Compared ExactSum::compared(std::uint64_t row, std::uint64_t column, double found,
                                     const Rounding& rounding) const {
  return {row,
          column,
          found,
          value_,
          allowed_error(rounding, products_, value_, magnitudes_, std::sqrt(squares_)),
          magnitudes_};
}

double ExactSum::likely_error(const Rounding& rounding) const {
  const double stored = stored_sums(rounding, products_);
  const double root_squares = std::sqrt(squares_);
  return likely_drift(rounding.sum, stored + 1, value_, root_squares) +
         likely_drift(rounding.inside, static_cast<double>(products_), value_, root_squares) +
         kDeviations * rounding.result * std::abs(value_) + below_normal(rounding, stored);
}

void StoredRows::read(std::uint32_t row, std::span<double> into) {
  if (row / depth_ != held_) {
    held_ = row / depth_;
    bytes_.resize(depth_ * columns_ * data::element_bytes(type_));
    const std::uint64_t first = held_ * bytes_.size();
    for (const auto& piece : storage_.pieces(first, first + bytes_.size())) {
      memory_.read({program::BufferId{first_ + piece.tile}, piece.offset},
                   std::span(bytes_).subspan(piece.at, piece.bytes));
    }
  }
  for (std::size_t j = 0; j < into.size(); ++j) {
    into[j] = data::load_element(type_, bytes_, j * depth_ + row % depth_);
  }
}

CheckResult check_product(const BlockMatrix& w, const data::DenseOperand& x, const ResultRow& y,
                          const Rounding& rounding, const CheckRequest& request) {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  const std::uint64_t n = x.columns();
  std::vector<float> values(x.rows() * n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(x.element(i / n, i % n));
  }
  return check_product(w, values, static_cast<std::uint32_t>(n), y, rounding, request,
                       values.size());
}

CheckResult check_product(const BlockMatrix& w, std::span<const float> x, std::uint32_t n,
                          const ResultRow& y, const Rounding& rounding, const CheckRequest& request,
                          std::uint64_t independent) {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  const std::uint64_t flops = 2 * w.value.size() * n;
  ProductCheck product(w, x, n, y, rounding);
  if (compares_all(request.mode, flops)) {
    for (std::uint32_t row = 0; row < w.rows; ++row) product.compare_row(row);
    if (product.comparison().biased(independent)) product.comparison().blame_bias();
    return product.result("full");
  }
  const std::uint32_t rows = ceil_div(w.rows, kRowStep);
  for (std::uint32_t i = 0; i < rows; ++i) {
    const std::uint64_t first = std::uint64_t{w.rows} * i / rows;
    const std::uint64_t end = std::uint64_t{w.rows} * (i + 1) / rows;
    product.compare_row(static_cast<std::uint32_t>(
        first + data::random_below(request.seed, kSampleStream, i, end - first)));
  }
  if (product.comparison().biased(independent)) product.comparison().blame_bias();
  product.compare_sums(request.seed);
  return product.result("sample");
}

}  // namespace tessera::sparse
