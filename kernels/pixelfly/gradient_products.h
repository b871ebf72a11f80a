#pragma once

#include <vector>

#include "kernels/pixelfly/operands.h"
#include "kernels/pixelfly/sampled.h"

/// The sampled products of a layer's gradients, [dS | dU] = dY [X ; Z]^T where [S | U] has blocks
/// and dV = X T^T, on the matrix unit or row by row: for pass grad_weights, and for layers that
/// train.
namespace tessera::pixelfly {

/// The plans of all products, which live in one program.
struct GradientPlan {
  std::optional<spmm_static::Plan> z,
      t;  ///< none if the rank is 0, nor dv; nor if others plan them
  Sampled dw;
  std::optional<Sampled> dv;
  std::vector<EvenStorage> squares = {};  ///< made so: X and Z if they lie in blocks
  Prediction prediction = {};             ///< for all planned products

  /// Why nothing fits; empty: the plan does.
  [[nodiscard]] std::string misfit() const;
};

/// The matrices whose blocks are wanted, [S | U] and V, and V^T in blocks of the same side.
struct GradientMatrices {
  const sparse::BlockMatrix& dw;
  const sparse::BlockMatrix& dv;
  const sparse::BlockMatrix& vt;
};
/// Where X, dY and, if the rank is not 0, Z (behind X) and T lie in blocks, of `columns` columns.
struct GradientRows {
  DenseRows x, dy;
  std::optional<DenseRows> z, t;
  std::uint32_t columns;
};

/// Forms of these products on the unit that take and give rows as products of `shape` do: squares,
/// as far as the unit has inputs and outputs, which several block rows may fill, and those of as
/// many outputs as one block row; none in vector code.
std::vector<sparse::Shape> gradient_shapes(const sparse::Shape& shape,
                                           const MachineConfig& machine);

/// Plans dw and dv beside `beside` bytes of a tile that others hold. On the unit columns are whole
/// squares. Throws as plan_sampled().
GradientPlan plan_products(const GradientMatrices& of, const sparse::Shape& shape,
                           const GradientRows& rows, MachineCosts& costs, const Pinned& pinned,
                           std::uint64_t beside, bool on_unit);
/// Those on the unit in the best form of whose squares the columns are, or if that is not `allowed`
/// or predicted to take longer, row by row. With a misfit if neither fits.
GradientPlan best_products(const GradientMatrices& of, const sparse::Shape& shape,
                           const GradientRows& rows, MachineCosts& costs, std::uint64_t beside,
                           bool on_unit_allowed);

/// The arrays of operands and results: X, Z, dY, T; those of Z, T and dV if the rank is not 0.
struct GradientArrays {
  BufferId x, z, dy, t, dw, dv;
};
/// States the steps of dw and dv. Returns the tiles that stand for all others. The plan outlives
/// the description.
std::vector<Tile> state_products(const Statement& statement, const GradientPlan& plan,
                                 const GradientArrays& arrays);

/// S in blocks, U and V, which the host gives; the layer outlives the description.
void add_layer(plan::Description& description, const Layer& layer, program::Type type);

/// Block (row, column) of `matrix`, among its blocks; if it has none, the next one's place.
std::uint64_t block_index(const sparse::BlockMatrix& matrix, std::uint32_t row,
                          std::uint32_t column);

/// The result of a sampled product, [dS | dU] or dV alone, in an array: blocks of S up to block
/// column `dense`, then a dense matrix. The plan outlives the description.
struct GradientBlocks {
  const Sampled& plan;
  BufferId results;
  std::uint32_t dense;
};
/// dS.data and its pattern.
void add_sparse_gradient(plan::Description& description, const GradientBlocks& blocks,
                         const sparse::BlockMatrix& s);
/// That of U or V.
void add_dense_gradient(plan::Description& description, const GradientBlocks& blocks,
                        const char* name, const data::DenseOperand& factor);

}  // namespace tessera::pixelfly
