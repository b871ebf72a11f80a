#pragma once

#include "kernels/pixelfly/gradient_products.h"
#include "kernels/pixelfly/pixelfly.h"

/// Pass grad_weights: Z = V^T X and T = U^T dY, then [dS | dU] = dY [X ; Z]^T where [S | U] has
/// blocks, and dV = X T^T.
namespace tessera::pixelfly {

class WeightGradient : public Workload {
 public:
  /// Throws as make_layer(), and UserError if no plan fits.
  WeightGradient(const Options& options, const sparse::Shape& shape, MachineCosts& costs);
  /// Whether low-rank products of another form may be, or gradients of operands that lie so.
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
