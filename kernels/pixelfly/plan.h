#pragma once

#include <optional>

#include "kernels/pixelfly/operands.h"
#include "kernels/spmm_static/plan.h"

/// The plans of the products of a chain, which live in one program.
namespace tessera::pixelfly {

/// Cuts of a product of the gradients of weights; 0: chosen.
struct PinnedCuts {
  std::uint32_t parts = 0;
  std::uint32_t bands = 0;
};
struct Pinned {
  spmm_static::Pinned low_rank;  ///< V^T X, U^T dY
  spmm_static::Pinned sparse;    ///< [S | U] [X ; Z]
  PinnedCuts dw, dv;
};
void describe(config::Fields& fields, PinnedCuts& cuts);
void describe(config::Fields& fields, Pinned& plan);

struct ChainPlan {
  std::optional<spmm_static::Plan> inner;  ///< none if the rank is 0
  spmm_static::Plan outer;

  [[nodiscard]] Prediction prediction() const;
};

/// Throws UserError if they do not fit a tile's SRAM together, KeyError for pinned cuts out of
/// range.
ChainPlan plan_chain(const Chain& chain, const sparse::Shape& shape, std::uint32_t n,
                     MachineCosts& costs, const Pinned& pinned);

/// Rows that `shape` wants as inputs of a chain's outer product: the side of the inner blocks.
constexpr std::uint32_t inner_block(const sparse::Shape& shape) { return shape.x_depth(); }

void add(Prediction& sum, const Prediction& more);

}  // namespace tessera::pixelfly
