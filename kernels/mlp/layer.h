#pragma once

#include <memory>
#include <variant>

#include "kernels/butterfly/statement.h"
#include "kernels/external.h"
#include "kernels/mlp/network.h"
#include "kernels/pixelfly/gradient_products.h"
#include "kernels/spmm_static/plan.h"
#include "kernels/training/parameters.h"
#include "kernels/training/products.h"

/// The steps of one linear map in the description of a network.
namespace tessera::mlp {

using plan::Tile;
using training::CallsOf;
using training::DensePlan;
using training::MatrixArray;
using training::Parameters;

/// All stacks share one plan, that of the gradient of twiddles. Transforms are planned as if their
/// factors had gradients.
struct ButterflyPlan {
  butterfly::Geometry geometry;
  std::uint64_t tile_bytes;  ///< bytes of the fullest tile, all stacks
};

/// [S | U] [X ; Z] with Z = V^T X, [S^T | V] [dY ; T] with T = U^T dY, and the gradients of [S | U]
/// and V, stored in the order of the weights at rest.
struct PixelflyPlan {
  sparse::Shape shape;
  sparse::BlockMatrix mask;                 ///< S and the block column of b
  sparse::BlockMatrix z_of, t_of;           ///< V^T, U^T
  sparse::BlockMatrix forward_of, back_of;  ///< [S | U], [S^T | V]
  sparse::BlockMatrix v_of, vt_of;          ///< V, V^T in blocks of the same side
  spmm_static::Plan z, t, forward, back;
  pixelfly::GradientPlan gradients;  ///< dw and dv
};
using LayerPlan = std::variant<std::shared_ptr<const ButterflyPlan>,
                               std::shared_ptr<const PixelflyPlan>, DensePlan>;

/// The plan of a map as printed; all but pixelfly's can be pinned.
struct MapKeys {
  training::DenseKeys dense;
  std::optional<butterfly::Plan> factors;
};
void describe(config::Fields& fields, MapKeys& keys);
/// How batches in external memory are loaded.
struct Rounds {
  kernels::PinnedLoads loads = {};
};
void describe(config::Fields& fields, Rounds& rounds);
struct PlanKeys {
  std::uint32_t padding = 0;          ///< padding of matrices; 0: searched
  std::optional<Rounds> rounds = {};  ///< none: searched
  std::vector<MapKeys> products;      ///< by linear map; none: searched
};
void describe(config::Fields& fields, PlanKeys& keys);

/// The conditions that maps are planned for: `samples`, `columns` padded to a multiple of
/// `padding`, and `kept` bytes of each tile in use.
struct LayerRoom {
  program::Type type;
  std::uint32_t samples;
  std::uint32_t columns;
  std::uint32_t padding;
  std::uint64_t kept;
  bool trains;
  bool least = false;  ///< the plans of least memory instead of the fastest
};
struct NetworkPlan {
  std::uint32_t padding = 0;  ///< padding of matrices
  std::vector<LayerPlan> maps;
  kernels::Loads loads = kernels::Loads::apart;  ///< loads of external batches
  std::string misfit;                            ///< why nothing fits; empty: the plan does
};
/// `pinned`: by map, or empty.
NetworkPlan plan_layers(const std::vector<Linear>& linears, const std::vector<MapKeys>& pinned,
                        LayerRoom room, MachineCosts& costs);
nlohmann::ordered_json to_json(const LayerPlan& plan);

/// What all layers are made from. It outlives the description.
struct LayerContext {
  const Linear& linear;
  std::size_t number;
  std::uint32_t width;  ///< columns of the result
  training::ParameterMaker maker;
  const butterfly::Codes& factors;
};

class Layer {
 public:
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;
  /// States z = x W + b; called once per turn of the program.
  virtual void forward(const MatrixArray& x, const MatrixArray& z) = 0;
  /// States the gradients of the parameters and, if `wanted`, returns that of x.
  virtual std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                              bool wanted) = 0;
  /// All parameters with the gradients of backward().
  [[nodiscard]] virtual std::vector<Parameters> parameters() const = 0;
  /// Number of tiles of a copy with parameters; they are the first ones.
  [[nodiscard]] virtual Tile tiles() const = 0;
  /// Declares all parameters as tensors in the order of initial_parameters(): dense as one matrix,
  /// biases of butterfly separately as NAME_bias; masters of all copies, if there are masters.
  virtual void add_tensors(const std::string& name) const = 0;

 protected:
  Layer() = default;
};

std::unique_ptr<Layer> make_layer(training::Statement& statement, const LayerContext& context,
                                  const LayerPlan& plan);
template <class Plan>
using MakeLayer = std::unique_ptr<Layer>(training::Statement& statement,
                                         const LayerContext& context, const Plan& plan);
MakeLayer<ButterflyPlan> make_butterfly, make_circulant, make_fastfood;
MakeLayer<PixelflyPlan> make_pixelfly;

/// A plan, or the reason why none fits.
template <class Plan>
struct Planned {
  std::shared_ptr<const Plan> plan;
  std::string misfit;
};
Planned<ButterflyPlan> plan_butterfly(const Linear& linear,
                                      const std::optional<butterfly::Plan>& pinned,
                                      const LayerRoom& room, MachineCosts& costs);
Planned<PixelflyPlan> plan_pixelfly(const Linear& linear, const LayerRoom& room,
                                    MachineCosts& costs);
nlohmann::ordered_json to_json(const PixelflyPlan& plan);

}  // namespace tessera::mlp
