#pragma once

#include <optional>

#include "kernels/pixelfly/operands.h"
#include "kernels/spmm_static/plan.h"
#include "kernels/spmm_static/program.h"

/// The plans of a chain's products, which belong to one program.
namespace tessera::pixelfly {

/// Pinned cuts of a product in the weight gradients; 0, none: chosen.
struct PinnedCuts {
  std::uint32_t parts = 0;
  std::uint32_t bands = 0;
  std::optional<spmm_static::Dealing> dealing = {};  ///< dealing by work: equally many blocks
  bool operator==(const PinnedCuts&) const = default;
};
/// The code of the products in the gradients of weights.
enum class Products : std::uint8_t {
  best,         ///< the fewest cycles predicted
  matrix_unit,  ///< blocks on the matrix unit
  vector,       ///< row by row with packed instructions
};
struct Pinned {
  spmm_static::Pinned low_rank;                      ///< V^T X, U^T dY
  std::optional<spmm_static::Pinned> low_rank_back;  ///< U^T dY, if not as low_rank
  spmm_static::Pinned sparse;  ///< [S | U] [X ; Z]; its unit is used by all products
  PinnedCuts dw, dv;
  Products products = Products::best;
  kernels::Form gradient_unit = {};  ///< form of the gradients' products on the unit; none: chosen
  std::uint32_t rounds = 0;  ///< equal parts of the batch, computed one after the other; 0: chosen
};
void describe(config::Fields& fields, PinnedCuts& cuts);
void describe(config::Fields& fields, Pinned& plan);

/// Plans of both products, for the columns of a round.
struct ChainPlan {
  std::optional<spmm_static::Plan> inner;  ///< none if the rank is 0
  spmm_static::Plan outer;
  std::uint32_t rounds = 1;
  Prediction prediction = {};  ///< all rounds
};

/// The program of a plan: [outer] [x ; [inner] x], round by round; inner results stay where they
/// are computed. Without `x` it only serves estimates. All arguments must outlive it.
plan::Described describe_chain(const ChainPlan& plan, const Chain& chain,
                               const sparse::Shape& shape, const data::DenseOperand* x,
                               const sparse::TileCode& code, std::uint32_t contexts);

/// The fastest plan, tried with more rounds from the fewest that fit on until times no longer fall.
/// Throws UserError if none fit, KeyError for pinned cuts out of range.
ChainPlan plan_chain(const Chain& chain, const sparse::Shape& shape, std::uint32_t n,
                     MachineCosts& costs, const Pinned& pinned);

/// Rows that `shape` reads as inputs of a chain's outer product: the side of the inner blocks.
inline std::uint32_t inner_block(const sparse::Shape& shape) { return shape.x_depth(); }
/// The shape of the inner product.
inline sparse::Shape inner_shape(sparse::Shape shape) {
  shape.block = inner_block(shape);
  shape.layout = kernels::Layout::blocked;
  return shape;
}

}  // namespace tessera::pixelfly
