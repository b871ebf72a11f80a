#include "kernels/gemm/bit_exact.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/butterfly/reference.h"
#include "kernels/check/ordered_sums.h"

namespace tessera::butterfly {

namespace {

using ColumnSums = std::array<float, Columns::kWidth>;

/// ColumnSums of a factor's row in f16 tile code.
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
  /// Whether a block of the unit's depth ends with element `at` of a row; that of each of the two
  /// blocks of features is padded to whole ones.
  [[nodiscard]] bool ends_depth(std::size_t at) const {
    const std::size_t in_block = at % block_ + 1;
    return in_block == block_ || in_block % depth_ == 0;
  }
  static void round(ColumnSums& sums) {
    for (float& sum : sums) sum = kernels::to_half(sum);
  }

  std::uint32_t block_, depth_;
  bool narrow_;  ///< every product is rounded to f16 with the sum it is added to
  bool packs_;   ///< sums are f32 until they are whole
};

}  // namespace

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
