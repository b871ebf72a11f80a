#pragma once

#include <memory>
#include <string>

#include "kernels/pixelfly/gradient_products.h"
#include "kernels/pixelfly/plan.h"
#include "kernels/sparse/check.h"
#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The workload `pixelfly`: products with W = S + U V^T or gamma S + (1 - gamma) U V^T, with S
/// block sparse (a flat block butterfly) and U V^T of low rank (pixelated butterfly, arXiv
/// 2112.00029).
namespace tessera::pixelfly {

struct Options {
  sparse::WeightOptions weights;  ///< S; type and seed of all operands
  std::uint32_t rank = 32;
  std::string u, v;      ///< .npy files; empty: seeded
  std::string x;         ///< .npy file of X (in pass grad_input dY)
  std::string gradient;  ///< .npy file of dY in pass grad_weights
  std::optional<double> gamma;
  std::uint32_t n = 256;
  Pass pass = Pass::forward;
  program::Type partials = program::Type::f32;
  kernels::Layout layout = kernels::Layout::blocked;
  Pinned plan;

  Options() { weights.pattern = sparse::Pattern::butterfly; }
};
void describe(config::Fields& fields, Options& options);

/// The workload of the pass.
std::unique_ptr<Workload> make_pixelfly(const Options& options, MachineCosts& costs);

/// Problem and operands of any pass, fixed at construction.
class LayerWorkload : public Workload {
 protected:
  /// Throws UserError if a file cannot be read, KeyError for sizes that do not match, a mask
  /// without blocks, or U and V that no plan can hold.
  LayerWorkload(const Options& options, const sparse::Shape& shape, MachineCosts& costs);
  /// `summary` has the pass's part: plan, prediction, useful flops.
  void summarise_layer(WorkloadSummary summary);

  Options options_;
  std::uint32_t contexts_;
  Layer layer_;
  sparse::Shape shape_;
  data::DenseOperand x_;  ///< the multiplied operand: X; in pass grad_input dY
};

/// The possible forms of the pass's products. Throws KeyError if pinned ones differ.
std::vector<sparse::Shape> shapes_of(const Options& options, const MachineConfig& machine);

/// A workload of the pass in the form of products with the lower prediction.
template <class Kernel>
std::unique_ptr<Workload> best_form(const Options& options, MachineCosts& costs) {
  const std::vector<sparse::Shape> shapes = shapes_of(options, costs.machine());
  auto best = std::make_unique<Kernel>(options, shapes.front(), costs);
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    if (!best->slower_than(shapes[i], costs)) continue;
    try {
      auto other = std::make_unique<Kernel>(options, shapes[i], costs);
      if (other->prediction().cycles < best->prediction().cycles) best = std::move(other);
    } catch (const UserError&) {  // it does not fit
    }
  }
  return best;
}

/// The workload of pass grad_weights.
std::unique_ptr<Workload> make_weight_gradient(const Options& options, MachineCosts& costs);

}  // namespace tessera::pixelfly
