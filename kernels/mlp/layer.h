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

/// All stacks lie alike, as the plan of one has them: its gradient of twiddles. Transforms are
/// planned as if their factors had gradients.
struct ButterflyPlan {
  butterfly::Geometry geometry;
  std::uint64_t tile_bytes;  ///< bytes of the fullest tile, all stacks
};

/// [S | U] [X ; Z] with Z = V^T X, [S^T | V] [dY ; T] with T = U^T dY, and the gradients of [S | U]
/// and V, whose order is that of the weights at rest.
struct PixelflyPlan {
  sparse::Shape shape;
  sparse::BlockMatrix mask;                 ///< S with the block column of b
  sparse::BlockMatrix z_of, t_of;           ///< V^T, U^T
  sparse::BlockMatrix forward_of, back_of;  ///< [S | U], [S^T | V]
  sparse::BlockMatrix v_of, vt_of;          ///< V, V^T in blocks of the same side
  spmm_static::Plan z, t, forward, back;
  pixelfly::GradientPlan gradients;  ///< dw and dv
};
using LayerPlan = std::variant<std::shared_ptr<const ButterflyPlan>,
                               std::shared_ptr<const PixelflyPlan>, DensePlan>;

/// The plan of a map as it is printed; but for pixelfly's it can be pinned.
struct MapKeys {
  training::DenseKeys dense;
  std::optional<butterfly::Plan> factors;
};
void describe(config::Fields& fields, MapKeys& keys);
/// How batches that lie outside the tiles are brought.
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

/// The conditions that maps are planned for: `samples`, `columns` with padding to a multiple of
/// `padding`, tiles of which `kept` bytes are taken.
struct LayerRoom {
  program::Type type;
  std::uint32_t samples;
  std::uint32_t columns;
  std::uint32_t padding;
  std::uint64_t kept;
  bool trains;
  bool least = false;  ///< plans that take least, not those that are fastest
};
struct NetworkPlan {
  std::uint32_t padding = 0;  ///< padding of matrices
  std::vector<LayerPlan> maps;
  kernels::Loads loads = kernels::Loads::apart;  ///< loads of batches that lie outside
  std::string misfit;                            ///< why nothing fits; empty: the plan does
};
/// `pinned`: by map, or none.
NetworkPlan plan_layers(const std::vector<Linear>& linears, const std::vector<MapKeys>& pinned,
                        LayerRoom room, MachineCosts& costs);
nlohmann::ordered_json to_json(const LayerPlan& plan);

/// A layer's inputs. All of it outlives the description.
struct LayerContext {
  const Linear& linear;
  std::size_t number;
  std::uint32_t width;  ///< columns of its result
  training::ParameterMaker maker;
  const butterfly::Codes& factors;
};

class Layer {
 public:
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;
  /// z = x W + b, for each turn of the program once.
  virtual void forward(const MatrixArray& x, const MatrixArray& z) = 0;
  /// Gradients of the parameters, and, if `wanted`, of x.
  virtual std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                              bool wanted) = 0;
  /// All parameters with their gradients, as backward() left them.
  [[nodiscard]] virtual std::vector<Parameters> parameters() const = 0;
  /// Parameters lie on tiles 0 to this - 1 of a copy.
  [[nodiscard]] virtual Tile tiles() const = 0;
  /// All parameters, in the order of initial_parameters(): dense ones as a matrix, the biases of
  /// butterfly apart, as NAME_bias. Masters, where there are some, of all copies.
  virtual void add_tensors(const std::string& name) const = 0;

 protected:
  Layer() = default;
};

std::unique_ptr<Layer> make_layer(training::Statement& statement, const LayerContext& context,
                                  const LayerPlan& plan);
std::unique_ptr<Layer> make_butterfly(training::Statement& statement, const LayerContext& context,
                                      const ButterflyPlan& plan);
std::unique_ptr<Layer> make_circulant(training::Statement& statement, const LayerContext& context,
                                      const ButterflyPlan& plan);
std::unique_ptr<Layer> make_fastfood(training::Statement& statement, const LayerContext& context,
                                     const ButterflyPlan& plan);
std::unique_ptr<Layer> make_pixelfly(training::Statement& statement, const LayerContext& context,
                                     const PixelflyPlan& plan);

/// Without a plan nothing fits, and `misfit` says why.
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
