#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/sparse/code/statement.h"
#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/sparse/operand/weights.h"
#include "sim/data/dense_operand.h"

/// Operands of a pixelfly layer W = S + U V^T, and the two products that compute W X. With W =
/// gamma S + (1 - gamma) U V^T (arXiv 2112.00029) tiles multiply the stored values of S and U by
/// their factor, in f32 with one rounding, before products use them, and gradients likewise. Gamma
/// and 1 - gamma are f32.
namespace tessera::pixelfly {

/// The factor of an element, numbered as in the tile code.
enum class Factor : std::uint8_t {
  of_s,   ///< gamma
  of_uv,  ///< 1 - gamma
  none    ///< 1: biases, padding
};
[[nodiscard]] float factor_of(Factor factor, double gamma);
/// Product of a value of `type` and a factor, as the machine computes it.
[[nodiscard]] double scaled(double value, float factor, program::Type type);

/// Consecutive elements with the same factor.
struct FactorRun {
  std::uint64_t count;
  Factor factor;
};
/// Runs of the elements numbered `elements` among those of `blocks` blocks: block e begins at
/// begin(e), the last ends at begin(blocks), and has the factor factor(e); elements beyond have
/// none.
template <class Begin, class Of>
std::vector<FactorRun> factor_runs(Interval elements, std::uint64_t blocks, const Begin& begin,
                                   const Of& factor) {
  std::uint64_t e = 0;  // first block that ends after the first element
  for (std::uint64_t last = blocks; e < last;) {
    const std::uint64_t middle = e + (last - e) / 2;
    if (begin(middle + 1) <= elements.begin)
      e = middle + 1;
    else
      last = middle;
  }
  std::vector<FactorRun> runs;
  for (std::uint64_t at = elements.begin; at < elements.end; ++e) {
    const std::uint64_t end =
        e < blocks ? std::min<std::uint64_t>(begin(e + 1), elements.end) : elements.end;
    const Factor of = e < blocks ? factor(e) : Factor::none;
    if (runs.empty() || runs.back().factor != of) runs.push_back({0, of});
    runs.back().count += end - at;
    at = end;
  }
  return runs;
}

/// Calls that multiply each tile's part of an array by its elements' factors.
class Scaling {
 public:
  using Runs = std::function<std::vector<FactorRun>(sparse::Tile)>;  ///< by tile
  Scaling(const sparse::Statement& statement, program::Type type, double gamma, const Runs& runs);
  /// Gamma is one f32 in an array on all tiles that have elements.
  Scaling(const sparse::Statement& statement, program::Type type, BufferId gamma, const Runs& runs);
  /// Adds calls for `to` = `from` times factors; both may be the same.
  void add(Calls& calls, sparse::Tile tile, BufferId from, BufferId to) const;
  /// Scales gradients in place and writes to `sums`, one f32 per worker, each worker's part of the
  /// gradient of gamma: the sum of gradient x weight over S minus that over U. Runs are whole
  /// words. `code`: gradient_code().
  void add_gradients(Calls& calls, sparse::Tile tile, sparse::Codelet code, BufferId gradients,
                     BufferId weights, BufferId sums) const;
  [[nodiscard]] static sparse::Codelet gradient_code(const sparse::Statement& statement,
                                                     program::Type type);

 private:
  void add_call(Calls& calls, sparse::Tile tile, sparse::Codelet code,
                std::vector<program::Argument> arguments) const;

  program::Type type_;
  sparse::Codelet code_;
  Runs runs_;
  BufferId gamma_{}, lists_{};
};

/// A call of `code`, gamma_sum: reduces `count` f32 to four: their sum and zeros.
program::Vertex sum_of(sparse::Codelet code, BufferId from, std::uint64_t count, BufferId to);
constexpr std::uint64_t kSumBytes = 16;

/// The computed product. Sums over the batch run along columns of X and dY.
enum class Pass : std::uint8_t {
  forward,      ///< Y = W X
  grad_input,   ///< dX = W^T dY
  grad_weights  ///< dS = dY X^T at S's blocks, dU = dY (V^T X)^T, dV = X (U^T dY)^T
};

/// S[m, k] in blocks, U[m, rank], V[k, rank]; rank 0: no U and V. W = gamma S + (1 - gamma) U V^T;
/// without gamma S + U V^T.
struct Layer {
  sparse::BlockMatrix s;
  data::DenseOperand u, v;
  std::optional<double> gamma;

  [[nodiscard]] std::uint32_t rank() const { return static_cast<std::uint32_t>(u.columns()); }
  [[nodiscard]] std::uint64_t parameters() const {
    return s.nonzeros + (u.rows() + v.rows()) * rank();
  }
};

/// Two consecutive products: Z = `inner` D, result = `outer` [D ; Z] for a dense D.
struct Chain {
  sparse::BlockMatrix inner;  ///< all blocks exist; rows padded to whole blocks of `outer`,
                              ///< padding is zero; no rows if the rank is 0
  sparse::BlockMatrix outer;  ///< block columns of D, then those of Z
  const char* result;         ///< Y or dX, and the name of Z: Z or T
  const char* low_rank;
  std::optional<double> gamma;  ///< blocks of `outer` are stored without their factors

  /// The first block column of Z in `outer`.
  [[nodiscard]] std::uint32_t first_of_z() const {
    return outer.block_columns() - inner.rows / outer.block;
  }
  /// The factor of the blocks of `outer` in this block column.
  [[nodiscard]] Factor factor(std::uint32_t column) const {
    if (!gamma) return Factor::none;
    return column < first_of_z() ? Factor::of_s : Factor::of_uv;
  }
  /// `outer` with its values multiplied by their factors.
  [[nodiscard]] sparse::BlockMatrix scaled_outer(program::Type type) const;
};

/// forward: inner = V^T, outer = [S | U]; grad_input: inner = U^T, outer = [S^T | V]. `depth`: side
/// of inner's blocks, so that Z has the rows that outer needs.
Chain make_chain(const Layer& layer, Pass pass, std::uint32_t depth);

/// [s | left]: the block columns of s, followed in the first `rows_with` block rows by those of
/// left.
sparse::BlockMatrix beside(const sparse::BlockMatrix& s, const data::DenseOperand& left,
                           std::uint32_t rows_with = UINT32_MAX);

/// `right`^T as a matrix of all its blocks: [rank, rows of right], padded to `rows` rows with empty
/// ones.
sparse::BlockMatrix transposed_blocks(const data::DenseOperand& right, std::uint32_t block,
                                      std::uint32_t rows);

sparse::BlockMatrix all_blocks(const data::DenseOperand& left, std::uint32_t block);

}  // namespace tessera::pixelfly
