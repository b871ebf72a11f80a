#include "kernels/sparse/check.h"

#include <algorithm>
#include <vector>

#include "kernels/sparse/operand/sources.h"
#include "kernels/sparse/rounding.h"
#include "kernels/sparse/row_sums.h"
#include "sim/base/parallel.h"
#include "sim/data/element.h"
#include "sim/data/random.h"

namespace tessera::sparse {

namespace {

constexpr std::uint32_t kRowStep = 64;   // of so many rows one is compared where not all are
constexpr std::uint64_t kSegment = 256;  // columns whose signed sum is checked
constexpr std::size_t kMostRows = 256;   // that are compared because something stands out
constexpr std::size_t kBatch = 1024;     // rows that all threads look at before it goes on
constexpr std::size_t kGrain = RowSums::kGrain;

/// Elements of rows one by one.
class RowComparison {
 public:
  RowComparison(const Product& product, const RowReplay& replay)
      : product_(product), replay_(replay) {}

  void compare(std::uint32_t row, std::span<const float> found, bool suspect,
               kernels::Comparison& comparison) {
    value_.assign(product_.n, 0);
    magnitude_.assign(product_.n, 0);
    square_.assign(product_.n, 0);
    std::uint64_t products = 0;
    visit_row(product_.w, row, [&](std::uint32_t column, double value) {
      add_products(value, product_.x_row(column));
      ++products;
    });
    const Rounding& rounding = product_.rounding;
    exact_.assign(product_.n, 0);
    replay_(row, product_.x, exact_);
    for (std::size_t j = 0; j < product_.n; ++j) {
      const double root = std::sqrt(square_[j]);
      kernels::Compared one{row,
                            j,
                            static_cast<double>(found[j]),
                            value_[j],
                            allowed_error(rounding, products, value_[j], magnitude_[j], root),
                            magnitude_[j]};
      one.exact = static_cast<double>(exact_[j]);
      suspect ? comparison.add_suspect(one) : comparison.add(one);
    }
  }

 private:
  void add_products(double weight, std::span<const float> x) {
    double* const value = value_.data();
    double* const magnitude = magnitude_.data();
    double* const square = square_.data();
    for (std::size_t j = 0; j < product_.n; ++j) {
      const double product = weight * static_cast<double>(x[j]);
      value[j] += product;
      magnitude[j] += std::abs(product);
      square[j] += product * product;
    }
  }

  const Product& product_;
  const RowReplay& replay_;
  std::vector<double> value_, magnitude_, square_;  // of one row
  std::vector<float> exact_;
};

/// Has rows looked at by all threads.
class ProductCheck {
 public:
  ProductCheck(const Product& product, std::span<const float> y, HostThreads& threads,
               const RowReplay& replay)
      : product_(product), y_(y), threads_(threads), replay_(replay) {}

  void compare(std::span<const std::uint32_t> rows, bool suspect) {
    std::vector<kernels::Comparison> pieces(ceil_div(rows.size(), kGrain), comparison_.fresh());
    threads_.for_ranges(rows.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      RowComparison one(product_, replay_);
      for (std::size_t i = begin; i < end; ++i)
        one.compare(rows[i], found(rows[i], 1), suspect, pieces[begin / kGrain]);
    });
    for (const kernels::Comparison& piece : pieces) comparison_.merge(piece);
  }

  void compare_sums(std::uint64_t seed) {
    const kernels::SignVectors signs(product_.n, kSegment, seed, kSignStream);
    const RowSums sums(product_, signs, threads_);
    kernels::Screen screen(signs);
    for (std::uint32_t first = 0; first < product_.w.rows; first += kBatch) {
      look(first, std::min<std::uint32_t>(kBatch, product_.w.rows - first), signs, sums, screen);
    }
    compare_suspects(screen);
  }

  [[nodiscard]] CheckResult result(std::string method) const {
    CheckResult result = comparison_.result(std::move(method));
    result.max_error = std::max(result.max_error, worst_sum_);
    result.threshold = threshold_;
    result.lone_threshold = lone_threshold_;
    if (threshold_ > 0) result.missed_probability = kernels::SignVectors::kMissed;
    return result;
  }

 private:
  [[nodiscard]] std::span<const float> found(std::size_t first, std::size_t rows) const {
    return y_.subspan(first * product_.n, rows * product_.n);
  }

  void look(std::uint32_t first, std::size_t rows, const kernels::SignVectors& signs,
            const RowSums& sums, kernels::Screen& screen) {
    const std::size_t count = ceil_div(rows, kGrain);
    std::vector<kernels::Screen> screens(count, kernels::Screen(signs));
    threads_.for_ranges(rows, kGrain, [&](std::size_t begin, std::size_t end) {
      sums.look(first + static_cast<std::uint32_t>(begin), found(first + begin, end - begin),
                screens[begin / kGrain]);
    });
    for (const kernels::Screen& one : screens) screen.merge(one);
  }

  void compare_suspects(kernels::Screen& screen) {
    threshold_ = screen.threshold.value;
    lone_threshold_ = screen.lone_threshold.value;
    worst_sum_ = screen.worst.value;
    std::vector<bool> taken(product_.w.rows);
    const auto compare_rows_of = [&](std::vector<kernels::Suspect>& suspects, double& threshold) {
      kernels::sort_suspects(suspects);
      std::vector<std::uint32_t> rows;
      for (const kernels::Suspect& one : suspects) {
        if (taken[one.row]) continue;
        if (rows.size() == kMostRows) {
          threshold *= one.ratio;
          break;
        }
        taken[one.row] = true;
        rows.push_back(static_cast<std::uint32_t>(one.row));
      }
      compare(rows, true);
    };
    compare_rows_of(screen.segments, threshold_);
    compare_rows_of(screen.elements, lone_threshold_);
  }

  const Product& product_;
  std::span<const float> y_;
  HostThreads& threads_;
  const RowReplay& replay_;
  kernels::Comparison comparison_{{"Y", product_.rounding.type, product_.rounding.partials, false}};
  double threshold_ = 0;  ///< of signed sums, as Screen's
  double lone_threshold_ = 0;
  double worst_sum_ = 0;
};

}  // namespace

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
  return sparse::likely_error(rounding, products_, value_, std::sqrt(squares_));
}

CheckResult check_product(const BlockMatrix& w, const data::DenseOperand& x,
                          std::span<const float> y, const Rounding& rounding,
                          const CheckRequest& request, const RowReplay& replay) {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  const std::uint64_t n = x.columns();
  std::vector<float> values(x.rows() * n);
  for (std::uint64_t row = 0; row < x.rows(); ++row) {
    x.read_row(row, std::span(values).subspan(row * n, n));
  }
  return check_product(w, values, static_cast<std::uint32_t>(n), y, rounding, request, replay);
}

CheckResult check_product(const BlockMatrix& w, std::span<const float> x, std::uint32_t n,
                          std::span<const float> y, const Rounding& rounding,
                          const CheckRequest& request, const RowReplay& replay) {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  const Product product{w, x, n, rounding};
  HostThreads threads(request.threads);
  ProductCheck check(product, y, threads, replay);
  const bool all = compares_all(request.mode, 2 * w.value.size() * n);
  std::vector<std::uint32_t> rows(all ? w.rows : ceil_div(w.rows, kRowStep));
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t first = w.rows * i / rows.size();
    const std::uint64_t end = w.rows * (i + 1) / rows.size();
    rows[i] = static_cast<std::uint32_t>(
        first + data::random_below(request.seed, kSampleStream, i, end - first));
  }
  check.compare(rows, false);
  if (all) return check.result("full");
  check.compare_sums(request.seed);
  return check.result("sample");
}

}  // namespace tessera::sparse
