#include "kernels/butterfly/replay.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/check/half.h"
#include "kernels/gemm/replay.h"

namespace tessera::butterfly {

namespace {

constexpr std::size_t kWidth = Columns::kWidth;
using Sums = std::array<float, kWidth>;

/// Sums of a factor's row in f16 tile code.
class RowSums {
 public:
  explicit RowSums(const Problem& problem)
      : block_(problem.block),
        depth_(problem.blocked() ? problem.shape.depth : 1),
        narrow_(!problem.blocked() || gemm::narrow_sums(problem.shape)),
        packs_(problem.blocked() && problem.partials == program::Type::f32) {}

  /// Row `row` of a factor times `x` ([row][column]).
  [[nodiscard]] Sums operator()(const RealFactor& factor, std::size_t row,
                                std::span<const float> x) const {
    Sums sums{};
    const std::uint32_t begin = factor.begin[row];
    for (std::uint32_t e = begin; e < factor.begin[row + 1]; ++e) {
      const auto weight = static_cast<float>(factor.value[e]);
      const float* const in = &x[factor.column[e] * kWidth];
      for (std::size_t i = 0; i < kWidth; ++i)
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
  [[nodiscard]] bool ends_depth(std::uint32_t at) const {
    const std::uint32_t in_block = at % block_ + 1;
    return in_block == block_ || in_block % depth_ == 0;
  }
  static void round(Sums& sums) {
    for (float& sum : sums) sum = kernels::to_half(sum);
  }

  std::uint32_t block_, depth_;
  bool narrow_;  ///< every product is rounded to f16 with the sum it is added to
  bool packs_;   ///< sums are f32 until they are whole
};

/// At most kWidth columns of Y: [row][column].
std::vector<float> replayed(const SignedProduct& product, std::span<const std::uint32_t> columns) {
  Columns x;
  exact_columns(product.problem, product.x, columns, x);
  std::vector<float> values(x.value.begin(), x.value.end());
  std::vector<float> next(values.size());
  const RowSums sums(product.problem);
  for (const RealFactor& factor : product.factors) {
    for (std::size_t row = 0; row + 1 < factor.begin.size(); ++row) {
      const Sums row_sums = sums(factor, row, values);
      std::copy(row_sums.begin(), row_sums.end(), &next[row * kWidth]);
    }
    values.swap(next);
  }
  return values;
}

}  // namespace

void compare_replayed(const SignedProduct& product, std::span<const std::uint32_t> columns,
                      HostThreads& threads, kernels::Comparison& into) {
  std::vector<kernels::Comparison> pieces(ceil_div(columns.size(), kWidth), into.fresh());
  const std::uint32_t n = product.problem.n;
  threads.for_ranges(pieces.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t piece = begin; piece < end; ++piece) {
      const std::size_t first = piece * kWidth;
      const auto some = columns.subspan(first, std::min(kWidth, columns.size() - first));
      const std::vector<float> values = replayed(product, some);
      for (std::size_t row = 0; row < product.problem.features; ++row)
        for (std::size_t i = 0; i < some.size(); ++i) {
          const auto exact = static_cast<double>(values[row * kWidth + i]);
          const auto found = static_cast<double>(product.found[row * n + some[i]]);
          const double roundoff = data::unit_roundoff(program::Type::f16);
          pieces[piece].add_replayed(
              {row, some[i], found, exact, roundoff * std::abs(exact) + 0x1p-25}, exact);
        }
    }
  });
  for (const kernels::Comparison& piece : pieces) into.merge(piece);
}

}  // namespace tessera::butterfly
