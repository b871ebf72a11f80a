#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "kernels/pixelfly/gradient_products.h"
#include "kernels/pixelfly/plan.h"
#include "kernels/sparse/check.h"
#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The workload `pixelfly`: products with W = S + U V^T or gamma S + (1 - gamma) U V^T, S
/// block-sparse (a flat block butterfly), U and V of low rank (pixelated butterfly, arXiv
/// 2112.00029).
namespace tessera::pixelfly {

struct Options {
  sparse::WeightOptions weights;  ///< S, and the type and seed of all
  std::uint32_t rank = 32;
  std::string u, v;      ///< .npy files; empty: seeded
  std::string x;         ///< the same, of X (in pass grad_input dY)
  std::string gradient;  ///< the same, of dY in pass grad_weights
  std::optional<double> gamma;
  std::uint32_t n = 256;
  Pass pass = Pass::forward;
  program::Type partials = program::Type::f32;
  kernels::Layout layout = kernels::Layout::blocked;
  Pinned plan;

  Options() { weights.pattern = sparse::Pattern::butterfly; }
};
void describe(config::Fields& fields, Options& options);

/// S, U and V, and how blocks are multiplied. Throws UserError if a file cannot be read, KeyError
/// for sizes that do not go together, a mask without blocks, or U and V that no plan can hold.
Layer make_layer(const Options& options, const MachineConfig& machine);
/// Workload::problem() of every pass.
std::string problem_of(const Options& options);
/// X, or in pass grad_input dY.
data::DenseOperand operand_x(const Options& options, const Layer& layer);
/// Blocks of S, parameters, and what they are over those of a dense layer.
nlohmann::ordered_json facts_of(const Options& options, const Layer& layer);

/// The workload of the pass, a Pixelfly or a WeightGradient, in the form of products that less is
/// predicted for.
std::unique_ptr<Workload> make_pixelfly(const Options& options, MachineCosts& costs);

/// Passes forward and grad_input.
/// Problem, plan and everything derived from them, fixed at construction.
class Pixelfly : public Workload {
 public:
  /// Throws as make_layer(), and UserError if no plan fits.
  Pixelfly(const Options& options, const sparse::Shape& shape, MachineCosts& costs);
  /// True if products of another form may be faster.
  [[nodiscard]] bool slower_than(const sparse::Shape& shape, MachineCosts& costs) const;

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  Options options_;
  std::uint32_t contexts_;
  Layer layer_;
  sparse::Shape shape_;
  Chain chain_;
  data::DenseOperand x_;  ///< the multiplied operand: X, in pass grad_input dY
  ChainPlan plan_;
};

/// Pass grad_weights: Z = V^T X and T = U^T dY, then [dS | dU] = dY [X ; Z]^T where [S | U] has
/// blocks, and dV = X T^T.
class WeightGradient : public Workload {
 public:
  /// Throws as make_layer(), and UserError if no plan fits.
  WeightGradient(const Options& options, const sparse::Shape& shape, MachineCosts& costs);
  /// True if low-rank products of another form may be faster, or gradients of operands that lie so.
  [[nodiscard]] bool slower_than(const sparse::Shape& shape, MachineCosts& costs) const;

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  /// The block column of [S | U] where U begins.
  [[nodiscard]] std::uint32_t first_dense() const { return layer_.s.block_columns(); }
  [[nodiscard]] GradientPlan choose(MachineCosts& costs) const;
  /// How the gradients of weights are multiplied.
  struct Way {
    sparse::Shape shape;
    bool on_unit;
  };
  [[nodiscard]] std::vector<Way> ways(const MachineConfig& machine) const;
  [[nodiscard]] GradientPlan planned(MachineCosts& costs, const Way& way,
                                     std::uint64_t slack) const;
  [[nodiscard]] plan::Described describe(const GradientPlan& plan, const sparse::TileCode& code,
                                         bool estimate) const;

  Options options_;
  std::uint32_t contexts_;
  Layer layer_;
  sparse::Shape shape_;
  sparse::BlockMatrix z_, t_;    ///< V^T and U^T
  sparse::BlockMatrix dw_, dv_;  ///< whose blocks are wanted: [S | U] and V
  sparse::BlockMatrix vt_;       ///< V^T, in blocks of the same side
  data::DenseOperand x_, dy_;
  GradientPlan plan_;
};

}  // namespace tessera::pixelfly
