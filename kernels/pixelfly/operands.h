#pragma once

#include <optional>

#include "kernels/pixelfly/gamma.h"
#include "kernels/sparse/operand/weights.h"
#include "sim/data/dense_operand.h"

/// What a pixelfly layer W = S + U V^T is made of, and the two products that W X comes to.
namespace tessera::pixelfly {

/// What is computed. The sum over the batch runs along columns of X and dY.
enum class Pass : std::uint8_t {
  forward,      ///< Y = W X
  grad_input,   ///< dX = W^T dY
  grad_weights  ///< dS = dY X^T where S has blocks, dU = dY (V^T X)^T, dV = X (U^T dY)^T
};

/// S[m, k] in blocks, U[m, rank], V[k, rank]; rank 0: no U and V. W = gamma S + (1 - gamma) U V^T,
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

/// Two products after each other: Z = `inner` D, result = `outer` [D ; Z] for a dense D.
struct Chain {
  sparse::BlockMatrix inner;  ///< all blocks; rows up to whole blocks of `outer`, those without
                              ///< blocks are zero; of no rows if the rank is 0
  sparse::BlockMatrix outer;  ///< block columns of D, then those of Z
  const char* result;         ///< Y or dX, and what Z is called: Z or T
  const char* low_rank;
  std::optional<double> gamma;  ///< blocks of `outer` are stored without their factors

  /// The block column of `outer` where those of Z begin.
  [[nodiscard]] std::uint32_t first_of_z() const {
    return outer.block_columns() - inner.rows / outer.block;
  }
  /// What blocks of `outer` in this block column are multiplied by.
  [[nodiscard]] Factor factor(std::uint32_t column) const {
    if (!gamma) return Factor::none;
    return column < first_of_z() ? Factor::of_s : Factor::of_uv;
  }
  /// `outer` as it is multiplied: its values times their factors.
  [[nodiscard]] sparse::BlockMatrix scaled_outer(program::Type type) const;
};

/// forward: inner = V^T, outer = [S | U]; grad_input: inner = U^T, outer = [S^T | V]. `depth`: side
/// of inner's blocks, so that Z comes as outer wants its rows.
Chain make_chain(const Layer& layer, Pass pass, std::uint32_t depth);

/// [s | left]: the block columns of s, then, in the first `rows_with` block rows, those of left.
sparse::BlockMatrix beside(const sparse::BlockMatrix& s, const data::DenseOperand& left,
                           std::uint32_t rows_with = UINT32_MAX);

/// `right`^T as a matrix of blocks, all of them: [rank, rows of right], `rows` rows with empty
/// ones.
sparse::BlockMatrix transposed_blocks(const data::DenseOperand& right, std::uint32_t block,
                                      std::uint32_t rows);

/// `left` as a matrix of blocks, all of them.
sparse::BlockMatrix all_blocks(const data::DenseOperand& left, std::uint32_t block);

}  // namespace tessera::pixelfly
