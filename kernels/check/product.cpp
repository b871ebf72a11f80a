#include "kernels/check/product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "kernels/check/freivalds.h"
#include "sim/data/element.h"

namespace tessera::kernels {

namespace {

/// Signed sums of the rows of a dense matrix product, and sums of squares of the products, computed
/// in `Number`.
template <class Number>
class DenseSums {
 public:
  /// The product is left[.., depth] times right[depth, signs.length()].
  DenseSums(const MatrixView& left, const MatrixView& right, std::uint64_t depth,
            const SignVectors& signs, HostThreads& threads)
      : left_(left),
        depth_(depth),
        sums_(signs.sums()),
        segments_(signs.segments()),
        of_right_(panels() * depth * kColumns) {
    const RowSums right_sums = row_sums(right, depth, signs, threads);
    threads.for_ranges(depth, kStretch, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        for (std::size_t i = 0; i < sums_; ++i)
          at(0, k, i) = number(right_sums.sums[k * sums_ + i]);
        for (std::size_t s = 0; s < segments_; ++s)
          at(sum_panels(), k, s) = number(right_sums.squares[k * segments_ + s]);
      }
    });
  }

  /// Computes sums[row][sum] and squares[row][segment] of `rows`.
  void find(Interval rows, std::span<double> sums, std::span<double> squares) const {
    const std::uint64_t quads = ceil_div<std::uint64_t>(rows.size(), kTileRows);
    const std::size_t step = panels() * kColumns;
    std::vector<Number> totals(quads * kTileRows * step);
    std::vector<Number> left(quads * kTileRows * kStretch);
    for (std::uint64_t k = 0; k < depth_; k += kStretch) {
      const std::uint64_t depth = std::min(kStretch, depth_ - k);
      pack_rows(left_.from(rows.begin, k), rows.size(), depth, left.data());
      for (std::size_t panel = 0; panel < panels(); ++panel) {
        if (panel == sum_panels())
          for (Number& one : left) one *= one;
        for (std::uint64_t q = 0; q < quads; ++q)
          multiply_add_tile(&left[q * kTileRows * depth],
                            &of_right_[(panel * depth_ + k) * kColumns], depth,
                            &totals[q * kTileRows * step + panel * kColumns], step);
      }
    }
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      const Number* const its = &totals[row * step];
      std::copy_n(its, sums_, &sums[row * sums_]);
      std::copy_n(its + sum_panels() * kColumns, segments_, &squares[row * segments_]);
    }
  }

 private:
  static constexpr std::size_t kColumns = kTileColumns<Number>;
  static constexpr std::uint64_t kStretch = 128;  // depth of panels that stay in a host's cache

  static Number number(double value) { return static_cast<Number>(value); }
  [[nodiscard]] std::size_t sum_panels() const { return ceil_div(sums_, kColumns); }
  [[nodiscard]] std::size_t panels() const { return sum_panels() + ceil_div(segments_, kColumns); }
  [[nodiscard]] Number& at(std::size_t panel, std::uint64_t k, std::size_t column) {
    return of_right_[((panel + column / kColumns) * depth_ + k) * kColumns + column % kColumns];
  }

  MatrixView left_;
  std::uint64_t depth_;
  std::size_t sums_, segments_;
  std::vector<Number>
      of_right_;  ///< [panel][depth][kColumns]; behind panels of sums those of squares
};

/// Reference for a few rows, by chunks of columns so that all rows reuse a chunk of X.
class RowReference {
 public:
  RowReference(const Product& product, std::span<const Strip> strips)
      : product_(product), strips_(strips), terms_(strips.size()) {
    for (std::size_t i = 0; i < strips.size(); ++i) product.row(strips[i].line, terms_[i]);
  }

  void compare(Comparison& into) const {
    std::uint64_t end = 0;
    for (const Strip& strip : strips_) end = std::max(end, strip.along.end);
    for (std::uint64_t first = 0; first < end; first += kChunk) {
      for (std::size_t i = 0; i < strips_.size(); ++i) {
        const Interval along = strips_[i].along;
        const Interval columns{std::max(first, along.begin), std::min(first + kChunk, along.end)};
        if (columns.begin < columns.end) compare_chunk(i, columns, into);
      }
    }
  }

 private:
  static constexpr std::uint64_t kChunk = 256;

  [[nodiscard]] const float* numbers_of(const Term& term, Interval columns) const {
    return &product_.x[term.column * product_.n + columns.begin];
  }

  void compare_chunk(std::size_t strip, Interval columns, Comparison& into) const {
    const std::uint64_t row = strips_[strip].line;
    std::vector<float> exact(columns.size());
    product_.exact(row, columns, exact);
    ProductSums sums(columns.size());
    constexpr std::size_t kTogether = 4;
    std::span<const Term> terms = terms_[strip];
    for (; terms.size() >= kTogether; terms = terms.subspan(kTogether)) {
      std::array<double, kTogether> weights{};
      std::array<const float*, kTogether> numbers{};
      for (std::size_t i = 0; i < kTogether; ++i) {
        weights[i] = static_cast<double>(terms[i].weight);
        numbers[i] = numbers_of(terms[i], columns);
      }
      sums.add_all(weights, numbers);
    }
    for (const Term& term : terms)
      sums.add(static_cast<double>(term.weight), numbers_of(term, columns));
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const std::uint64_t column = columns.begin + j;
      const auto found = static_cast<double>(product_.y[row * product_.n + column]);
      Compared one = sums[j].compared(row, column, found, product_.rounding);
      one.exact = static_cast<double>(exact[j]);
      into.add(one);
    }
  }

  const Product& product_;
  std::span<const Strip> strips_;
  std::vector<std::vector<Term>> terms_;
};

/// Computes signed sums and sums of squares of some rows of W X from those of X.
void add_terms(const Product& product, Interval rows, const RowSums& x, std::span<double> sums,
               std::span<double> squares, std::span<std::size_t> products) {
  const std::size_t width = x.sums.size() / product.depth;
  const std::size_t segments = x.squares.size() / product.depth;
  std::vector<Term> terms;
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    product.row(row, terms);
    products[row - rows.begin] = terms.size();
    double* const its = &sums[(row - rows.begin) * width];
    double* const its_squares = &squares[(row - rows.begin) * segments];
    for (const Term& term : terms) {
      const auto weight = static_cast<double>(term.weight);
      const double* const of_x = &x.sums[term.column * width];
      for (std::size_t q = 0; q < width; ++q) its[q] += weight * of_x[q];
      for (std::size_t s = 0; s < segments; ++s)
        its_squares[s] += weight * weight * x.squares[term.column * segments + s];
    }
  }
}

/// Replaces sums of squares of products with standard deviations of signed sums.
void to_deviations(const Rounding& rounding, const SignVectors& signs,
                   std::span<const std::size_t> products, std::span<const double> sums,
                   std::span<double> squares) {
  constexpr std::size_t kVectors = SignVectors::kVectors;
  for (std::size_t i = 0; i < squares.size(); ++i) {
    const std::size_t segment = i % signs.segments();
    const auto length = static_cast<double>(signs.segment(segment).size());
    double of_sums = 0;
    for (const double sum : sums.subspan(i * kVectors, kVectors)) of_sums += sum * sum / kVectors;
    const ProductSum mean{std::sqrt(of_sums / length), 0, squares[i] / length,
                          products[i / signs.segments()]};
    squares[i] = deviation(rounding, mean, length);
  }
}

SignedRows sparse_side(const Product& product, const SignStream& from, HostThreads& threads) {
  const SignVectors signs(product.n, from.longest, from.seed, from.stream);
  const auto x = std::make_shared<const RowSums>(
      row_sums({product.x.data(), product.n, 1}, product.depth, signs, threads));
  return {signs,
          {product.y.data(), product.n, 1},
          product.rows,
          [&product, signs, x](Interval rows, std::span<double> sums, std::span<double> squares) {
            std::vector<std::size_t> products(rows.size());
            add_terms(product, rows, *x, sums, squares, products);
            to_deviations(product.rounding, signs, products, sums, squares);
          }};
}

/// Rows of Y = W X, or of Y^T = X^T W^T (`across`). If partials are f16, `Number` may be float:
/// single precision resolves their roundings.
template <class Number>
SignedRows dense_side(const Product& product, const SignStream& from, bool across,
                      HostThreads& threads) {
  const auto view = [&](std::span<const float> matrix, std::uint64_t columns) {
    return across ? MatrixView{matrix.data(), 1, columns} : MatrixView{matrix.data(), columns, 1};
  };
  const MatrixView w = view(product.dense, product.depth);
  const MatrixView x = view(product.x, product.n);
  const SignVectors signs(across ? product.rows : product.n, from.longest, from.seed,
                          from.stream + (across ? 1 : 0));
  const auto product_sums = std::make_shared<const DenseSums<Number>>(
      across ? x : w, across ? w : x, product.depth, signs, threads);
  return {signs, view(product.y, product.n), across ? product.n : product.rows,
          [&product, signs, product_sums](Interval rows, std::span<double> sums,
                                          std::span<double> squares) {
            product_sums->find(rows, sums, squares);
            const std::vector<std::size_t> products(rows.size(), product.depth);
            to_deviations(product.rounding, signs, products, sums, squares);
          },
          across};
}

}  // namespace

Checked row_check(const Product& product, Comparison::Result result, const SignStream& signs) {
  Checked checked{std::move(result)};
  checked.lines = product.rows;
  checked.length = product.n;
  checked.grain = 4;
  checked.compare = [&product](std::span<const Strip> strips, Comparison& into) {
    RowReference(product, strips).compare(into);
  };
  checked.sides = product.dense.empty() ? 1 : 2;
  checked.side = [&product, signs](unsigned side, HostThreads& threads) {
    if (product.dense.empty()) return sparse_side(product, signs, threads);
    return product.rounding.partials == program::Type::f16
               ? dense_side<float>(product, signs, side == 1, threads)
               : dense_side<double>(product, signs, side == 1, threads);
  };
  return checked;
}

ProductSum dot(std::span<const float> left, const float* right) {
  ProductSum sum;
  for (std::size_t i = 0; i < left.size(); ++i)
    sum.add(static_cast<double>(left[i]) * static_cast<double>(right[i]));
  return sum;
}

std::vector<float> rows_of(const data::DenseOperand& operand, HostThreads& threads, bool across) {
  const std::uint64_t rows = across ? operand.columns() : operand.rows();
  const std::uint64_t columns = across ? operand.rows() : operand.columns();
  std::vector<float> values(rows * columns);
  threads.for_ranges(rows, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const auto into = std::span(values).subspan(row * columns, columns);
      across ? operand.read_column(row, into) : operand.read_row(row, into);
    }
  });
  return values;
}

std::uint64_t segment_length(const Rounding& rounding, std::uint64_t depth) {
  constexpr double kShare = 0.5;
  constexpr std::uint64_t kShortest = 256, kLongest = 1024;
  const double one = deviation(rounding, {1, 0, 1, depth}, 1);  // for results around 1
  const double most = kShare / (Screen::kDeviations * one);
  return static_cast<std::uint64_t>(
      std::clamp(most * most, static_cast<double>(kShortest), static_cast<double>(kLongest)));
}

}  // namespace tessera::kernels
