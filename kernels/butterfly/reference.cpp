#include "kernels/butterfly/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/check/ordered_sums.h"
#include "kernels/check/register_tile.h"
#include "kernels/gemm/bit_exact.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

/// Roundings of a sum of block products, in units of the type's roundoff: the sum rounds after
/// every block of the matrix unit or after every product; f32 sums of f16 round to f16 once, at the
/// end.
double block_roundings(const Problem& problem) {
  const double all = 4.0 * problem.padded();
  if (problem.dtype != Number::f16) return all / 2;
  // The final rounding comes on top: its variance is at most a third of its square.
  if (problem.partials == program::Type::f32)
    return 1.0 / 3 +
           all * data::unit_roundoff(program::Type::f32) / data::unit_roundoff(program::Type::f16);
  if (!problem.shape.on_unit()) return all / 2;
  const std::uint32_t blocks = problem.padded() / problem.shape.depth;
  return 2.0 * (blocks + 1);
}

/// Result and error of one row of a factor, for all columns.
struct RowOf {
  using L = kernels::Lanes<double>;
  static constexpr std::size_t kRegisters = Columns::kWidth / L::kCount;
  std::array<L::Type, kRegisters> sum{}, off{};

  /// Adds weight x value, and |weight| x (the input's error + `rounding` x |value|) to the error;
  /// squares of these for independent roundings.
  template <Roundings how>
  void add(double weight, double rounding, const double* value, const double* error) {
    const double size = how == Roundings::any ? std::abs(weight) : weight * weight;
    for (std::size_t r = 0; r < kRegisters; ++r) {
      const L::Type in = L::load(value + r * L::kCount);
      const L::Type before = L::load(error + r * L::kCount);
      sum[r] = L::multiply_add(weight, in, sum[r]);
      const L::Type rounded = how == Roundings::any ? (in < 0 ? -in : in) : in * in;
      off[r] = L::multiply_add(
          size,
          L::multiply_add(rounding, rounded, how == Roundings::any ? before : before * before),
          off[r]);
    }
  }
};

template <Roundings how>
void apply_all(const Factor& factor, const Columns& x, program::Type type, Columns& y) {
  constexpr std::size_t kWidth = Columns::kWidth;
  constexpr double kDeviations = 8;
  const double roundoff = data::unit_roundoff(type);
  const double rounding = factor.roundings * roundoff *
                          (how == Roundings::any ? 1 : kDeviations * kDeviations * roundoff);
  const double half_smallest = type == program::Type::f16 ? 0x1p-25 : 0x1p-150;
  const std::size_t rows = factor.rows();
  y.value.resize(rows * kWidth);
  y.error.resize(rows * kWidth);
  const double least =
      4 * half_smallest * static_cast<double>(factor.value.size()) / static_cast<double>(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    RowOf its;
    for (std::size_t e = row * factor.width; e < (row + 1) * factor.width; ++e) {
      const std::size_t at = factor.column[e] * kWidth;
      its.add<how>(factor.value[e], rounding, &x.value[at], &x.error[at]);
    }
    std::array<double, kWidth> off;
    std::memcpy(&y.value[row * kWidth], its.sum.data(), sizeof its.sum);
    std::memcpy(off.data(), its.off.data(), sizeof its.off);
    for (std::size_t i = 0; i < kWidth; ++i) {
      y.error[row * kWidth + i] = (how == Roundings::any ? off[i] : std::sqrt(off[i])) + least +
                                  roundoff * std::abs(y.value[row * kWidth + i]);
    }
  }
}

using ColumnSums = std::array<float, Columns::kWidth>;

/// Computes a factor's row as f16 tile code does, in its order and with its roundings.
class OrderedRow {
 public:
  explicit OrderedRow(const Problem& problem)
      : block_(problem.block),
        depth_(problem.blocked() ? problem.shape.depth : 1),
        narrow_(!problem.blocked() || gemm::narrow_sums(problem.shape)),
        packs_(problem.blocked() && problem.partials == program::Type::f32) {}

  /// Row `row` of a factor times `x` ([row][column]).
  [[nodiscard]] ColumnSums operator()(const Factor& factor, std::size_t row,
                                      std::span<const float> x) const {
    ColumnSums sums{};
    const std::size_t begin = row * factor.width;
    for (std::size_t e = begin; e < begin + factor.width; ++e) {
      const auto weight = static_cast<float>(factor.value[e]);
      const float* const in = &x[factor.column[e] * Columns::kWidth];
      for (std::size_t i = 0; i < Columns::kWidth; ++i)
        sums[i] = narrow_ ? kernels::half_multiply_add(in[i], weight, sums[i])
                          : std::fma(in[i], weight, sums[i]);
      if (!packs_ && ends_depth(e - begin)) round(sums);
    }
    if (packs_) round(sums);
    return sums;
  }

 private:
  /// True if element `at` of a row ends a block of the unit's depth; each of the two feature blocks
  /// is padded to whole unit blocks.
  [[nodiscard]] bool ends_depth(std::size_t at) const {
    const std::size_t in_block = at % block_ + 1;
    return in_block == block_ || in_block % depth_ == 0;
  }
  static void round(ColumnSums& sums) {
    for (float& sum : sums) sum = kernels::to_half(sum);
  }

  std::uint32_t block_, depth_;
  bool narrow_;  ///< the f16 sum rounds after every product
  bool packs_;   ///< sums are f32 until complete, then packed to f16
};

}  // namespace

Factor factor(const Problem& problem, const Twiddles& twiddles, std::uint32_t stage, bool adjoint) {
  const std::uint32_t parts = problem.is_complex() ? 2 : 1;
  const bool is_complex = problem.complex_code();
  // Sums of a complex product round up to three times more.
  const double roundings = problem.blocked() ? block_roundings(problem) : is_complex ? 3 : 1;
  Factor matrix{2 * problem.block * (is_complex ? 2 : 1), {}, {}, roundings};
  const std::size_t rows = std::size_t{problem.features} * parts;
  matrix.column.resize(rows * matrix.width);
  matrix.value.resize(rows * matrix.width);
  std::vector<std::uint32_t> next(rows);
  const auto add = [&](std::uint32_t row, std::uint32_t column, double value) {
    const std::size_t at = std::size_t{row} * matrix.width + next[row]++;
    matrix.column[at] = column;
    matrix.value[at] = value;
  };
  for_elements(problem, stage,
               [&](std::uint32_t pair, std::uint32_t i, std::uint32_t j, std::uint32_t row,
                   std::uint32_t column) {
                 const std::complex<double> value = twiddles.element(stage, pair, i, j);
                 if (adjoint) std::swap(row, column);
                 for (std::uint32_t part = 0; part < parts; ++part)
                   add(row * parts + part, column * parts + part, value.real());
                 if (!is_complex) return;
                 const double imaginary = adjoint ? -value.imag() : value.imag();
                 add(row * 2, column * 2 + 1, -imaginary);
                 add(row * 2 + 1, column * 2, imaginary);
               });
  return matrix;
}

std::vector<Factor> factors(const Problem& problem, const Twiddles& twiddles) {
  const bool back = problem.pass == Pass::grad_input;
  std::vector<Factor> all;
  for (std::uint32_t stage = 0; stage < problem.stages(); ++stage)
    all.push_back(factor(problem, twiddles, stage, back));
  if (back) std::ranges::reverse(all);
  return all;
}

void exact_columns(const Problem& problem, const data::DenseOperand& operand,
                   std::span<const std::uint32_t> columns, Columns& into) {
  constexpr std::size_t kWidth = Columns::kWidth;
  const std::uint64_t parts = problem.is_complex() ? 2 : 1;
  into.value.assign(problem.features * parts * kWidth, 0);
  into.error.assign(problem.features * parts * kWidth, 0);
  std::array<float, 2 * kWidth> numbers;
  for (std::size_t i = 0; i < columns.size();) {
    std::size_t end = i + 1;  // end of the run of adjacent columns
    while (end < columns.size() && columns[end] == columns[end - 1] + 1) ++end;
    const auto some = std::span(numbers).first((end - i) * parts);
    for (std::uint64_t row = 0; row < problem.features; ++row) {
      operand.read_elements((row * problem.n + columns[i]) * parts, some);
      for (std::size_t k = 0; k < some.size(); ++k)
        into.value[(row * parts + k % parts) * kWidth + i + k / parts] =
            static_cast<double>(some[k]);
    }
    i = end;
  }
}

void apply(const Factor& factor, const Columns& x, program::Type type, Roundings roundings,
           Columns& y) {
  roundings == Roundings::any ? apply_all<Roundings::any>(factor, x, type, y)
                              : apply_all<Roundings::independent>(factor, x, type, y);
}

std::vector<float> exact_product(const FoundProduct& product,
                                 std::span<const std::uint32_t> columns) {
  Columns x;
  exact_columns(product.problem, product.x, columns, x);
  std::vector<float> values(x.value.begin(), x.value.end());
  std::vector<float> next(values.size());
  const OrderedRow sums(product.problem);
  for (const Factor& factor : product.factors) {
    for (std::size_t row = 0; row < factor.rows(); ++row) {
      const ColumnSums row_sums = sums(factor, row, values);
      std::copy(row_sums.begin(), row_sums.end(), &next[row * Columns::kWidth]);
    }
    values.swap(next);
  }
  return values;
}

}  // namespace tessera::butterfly
