#pragma once

#include <exception>
#include <optional>

#include "kernels/pixelfly/plan.h"
#include "kernels/pixelfly/sampled.h"
#include "kernels/pixelfly/squares.h"
#include "sim/base/errors.h"

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
  std::vector<kernels::EvenStorage> squares = {};  ///< what is made so: where X and Z lie in blocks
  Prediction turning = {};                         ///< of making them
  std::optional<Prediction> scheduled =
      {};  ///< of all, with the exchanges of the program, if known

  [[nodiscard]] Prediction prediction() const;
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

/// Plans dw and dv beside `beside` bytes of a tile that others hold. On the unit columns are whole
/// squares. Throws as plan_sampled().
GradientPlan plan_products(const GradientMatrices& of, const sparse::Shape& shape,
                           const GradientRows& rows, MachineCosts& costs, const Pinned& pinned,
                           std::uint64_t beside, bool on_unit);

/// Adds the steps of dw and dv. `x` with Z behind X, `t` with T alone, or none; results by tile.
/// The plan outlives the program.
void add_products(sparse::Assembly& assembly, const GradientPlan& plan,
                  const spmm_static::BuffersOfRows& dy, spmm_static::BuffersOfRows x,
                  const spmm_static::BuffersOfRows& t, const std::vector<program::BufferId>& dw,
                  const std::vector<program::BufferId>& dv);

/// plan(true), on the unit, or plan(false): what is predicted to take less, or else fits. Throws
/// what plan(true) throws if neither does.
template <class Make>
GradientPlan unit_or_vector(const Make& plan) {
  std::optional<GradientPlan> unit;
  std::exception_ptr why;
  try {
    unit = plan(true);
  } catch (const UserError&) {
    why = std::current_exception();
  }
  try {
    GradientPlan vector = plan(false);
    if (!unit || vector.prediction().cycles < unit->prediction().cycles) return vector;
  } catch (const UserError&) {
    if (!unit) std::rethrow_exception(why);
  }
  return *std::move(unit);
}

}  // namespace tessera::pixelfly
