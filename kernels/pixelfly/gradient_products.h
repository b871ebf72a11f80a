#pragma once

#include <vector>

#include "kernels/pixelfly/operands.h"
#include "kernels/pixelfly/sampled.h"

/// The sampled products of a layer's gradients, [dS | dU] = dY [X ; Z]^T where [S | U] has blocks
/// and dV = X T^T, on the matrix unit or row by row: for pass grad_weights and for training.
namespace tessera::pixelfly {

/// The plans of all products, which belong to one program.
struct GradientPlan {
  std::optional<spmm_static::Plan> z,
      t;  ///< none if the rank is 0 (nor dv), or if planned by others
  Sampled dw;
  std::optional<Sampled> dv;
  std::vector<EvenStorage> squares = {};  ///< converted to squares
  Prediction prediction = {};             ///< for all planned products

  /// Why no plan fits; empty: this plan fits.
  [[nodiscard]] std::string misfit() const;
};

/// The matrices whose blocks are computed, [S | U] and V, and V^T in blocks of the same side.
struct GradientMatrices {
  const sparse::BlockMatrix& dw;
  const sparse::BlockMatrix& dv;
  const sparse::BlockMatrix& vt;
};
/// Storage of X, dY and, if the rank is not 0, Z (after X) and T in blocks, of `columns` columns.
struct GradientRows {
  DenseRows x, dy;
  std::optional<DenseRows> z, t;
  std::uint32_t columns;
};

/// Forms of these products on the unit that read and write rows as products of `shape` do: square
/// blocks with all of the unit's inputs and outputs, filled by several block rows, and blocks with
/// the outputs of one block row; none in vector code.
std::vector<sparse::Shape> gradient_shapes(const sparse::Shape& shape,
                                           const MachineConfig& machine);

/// Plans dw and dv with `beside` bytes of a tile used by others. On the unit columns are whole
/// squares. Throws like plan_sampled().
GradientPlan plan_products(const GradientMatrices& of, const sparse::Shape& shape,
                           const GradientRows& rows, MachineCosts& costs, const Pinned& pinned,
                           std::uint64_t beside, bool on_unit);
/// Products on the unit in the best form whose squares divide the columns or, if that is not
/// `allowed` or is predicted to be slower, row by row. Has a misfit if neither fits.
GradientPlan best_products(const GradientMatrices& of, const sparse::Shape& shape,
                           const GradientRows& rows, MachineCosts& costs, std::uint64_t beside,
                           bool on_unit_allowed);

/// Arrays of operands and results: X, Z, dY, T; those of Z, T and dV only if the rank is not 0.
struct GradientArrays {
  BufferId x, z, dy, t, dw, dv;
};
/// States the steps of dw and dv. Returns representative tiles. The plan must outlive the
/// description.
std::vector<Tile> state_products(const Statement& statement, const GradientPlan& plan,
                                 const GradientArrays& arrays);

/// Adds the tensors of S (in blocks), U and V, given by the host; the layer must outlive the
/// description.
void add_layer(plan::Description& description, const Layer& layer, program::Type type);

/// Index of block (row, column) of `matrix`; if absent, of the next block.
std::uint64_t block_index(const sparse::BlockMatrix& matrix, std::uint32_t row,
                          std::uint32_t column);

/// The result of a sampled product, [dS | dU] or dV alone, in an array: blocks of S up to block
/// column `dense`, then a dense matrix. The plan must outlive the description.
struct GradientBlocks {
  const Sampled& plan;
  BufferId results;
  std::uint32_t dense;
};
/// Adds the tensor dS.data and its pattern.
void add_sparse_gradient(plan::Description& description, const GradientBlocks& blocks,
                         const sparse::BlockMatrix& s);
/// Adds the gradient tensor of U or V.
void add_dense_gradient(plan::Description& description, const GradientBlocks& blocks,
                        const char* name, const data::DenseOperand& factor);

}  // namespace tessera::pixelfly
