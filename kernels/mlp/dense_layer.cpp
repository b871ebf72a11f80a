#include <fmt/format.h>

#include "kernels/mlp/layer.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"

namespace tessera::mlp {

namespace {

/// y = [x, 1] W by gemm; all matrices are stored by rows on all tiles.
class DenseLayer : public Layer {
 public:
  DenseLayer(training::Statement& statement, const LayerContext& context, const DensePlan& plan)
      : statement_(statement),
        plan_(plan),
        weights_(statement.shape(context.linear.columns(), context.width)),
        outputs_(context.linear.outputs),
        parameters_(context.maker.around(weights_, [of = weights_, outputs = outputs_](Tile tile) {
          std::vector<std::uint64_t> numbers;
          const std::uint64_t first = of.stored.begin(tile) / of.element_bytes();
          const std::uint64_t end = first + of.stored.bytes_on(tile) / of.element_bytes();
          for (std::uint64_t at = first; at < end; ++at) {
            const std::uint64_t row = at / of.pitch, column = at % of.pitch;
            const bool is_one = row < of.rows && column < outputs;
            numbers.push_back(is_one ? row * outputs + column : training::kNoNumber);
          }
          return numbers;
        })) {}

  void forward(const MatrixArray& x, const MatrixArray& z) override {
    statement_.product(plan_.forward.geometry, x, weights_, z);
  }

  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override {
    const MatrixArray x_turned = statement_.matrix(x.columns, x.rows, "activations transposed");
    statement_.transpose(x, x_turned);
    const MatrixArray change =
        statement_.matrix(weights_.rows, weights_.columns, "weight gradients");
    parameters_.gradient = change.array;
    statement_.product(plan_.weight_gradient->geometry, x_turned, gradient, change);
    if (!wanted) return std::nullopt;
    const MatrixArray turned =
        statement_.matrix(weights_.columns, weights_.rows, "weights transposed");
    statement_.transpose(weights_, turned);
    const MatrixArray back = statement_.matrix(x.rows, x.columns, "gradient of activations");
    statement_.product(plan_.input_gradient->geometry, gradient, turned, back);
    return back;
  }

  [[nodiscard]] std::vector<Parameters> parameters() const override { return {parameters_}; }
  [[nodiscard]] Tile tiles() const override {
    Tile tiles = 0;
    while (tiles < statement_.machine().tiles && weights_.stored.bytes_on(tiles) > 0) ++tiles;
    return tiles;
  }
  void add_tensors(const std::string& name) const override {
    training::add_tensor(
        statement_.description(),
        {name, program::Role::weights, parameters_.master_type(), {weights_.rows, outputs_}},
        parameters_);
  }

 private:
  training::Statement& statement_;
  const DensePlan& plan_;
  MatrixArray weights_;
  std::uint64_t outputs_;
  Parameters parameters_;
};

}  // namespace

/// Plans butterflies first: what they hold on a tile between the forward and the backward pass is
/// not available to dense products. KeyErrors of other kernels' planners are rethrown with the
/// layer's key.
NetworkPlan plan_layers(const std::vector<Linear>& linears, const std::vector<MapKeys>& pinned,
                        LayerRoom room, MachineCosts& costs) {
  NetworkPlan plan{room.padding, std::vector<LayerPlan>(linears.size()), {}, {}};
  const auto keys = [&](std::size_t i) { return i < pinned.size() ? pinned[i] : MapKeys(); };
  const auto take = [&](std::size_t i, const char* what, const auto& planned) {
    if (planned.plan)
      plan.maps[i] = planned.plan;
    else
      plan.misfit = fmt::format("{}: {}: {}", linears[i].key, what, planned.misfit);
  };
  for (std::size_t i = 0; i < linears.size() && plan.misfit.empty(); ++i) {
    if (!linears[i].by_rows()) continue;
    try {
      const auto planned = plan_butterfly(linears[i], keys(i).factors, room, costs);
      take(i, "its butterfly factors", planned);
      if (planned.plan) room.kept += planned.plan->tile_bytes;
    } catch (const KeyError& error) {
      throw KeyError(linears[i].key, "its butterfly factors: {}", error.what());
    }
  }
  for (std::size_t i = 0; i < linears.size() && plan.misfit.empty(); ++i)
    if (linears[i].layer.kind == LayerKind::pixelfly)
      take(i, "its pixelfly", plan_pixelfly(linears[i], room, costs));
  training::ProductPlanner planner(costs, room.kept, room.padding, room.type);
  for (std::size_t i = 0; i < linears.size() && plan.misfit.empty(); ++i) {
    if (linears[i].layer.kind != LayerKind::dense) continue;
    training::PlannedLayer dense =
        planner.plan({room.columns, linears[i].columns(), result_columns(linears, i),
                      linears[i].key, room.trains, i == 0, keys(i).dense});
    plan.misfit = dense.misfit;
    if (dense.plan) plan.maps[i] = std::move(*dense.plan);
  }
  return plan;
}

void describe(config::Fields& fields, MapKeys& keys) {
  describe(fields, keys.dense);
  fields.optional_group(
      {"factors", "butterfly: the gradient of its twiddles; transforms: their factors"},
      keys.factors);
}

void describe(config::Fields& fields, Rounds& rounds) { describe(fields, rounds.loads); }

void describe(config::Fields& fields, PlanKeys& keys) {
  training::describe_padding(fields, keys.padding);
  fields.optional_group({"rounds", "how batches are loaded from external memory"}, keys.rounds);
  fields.list(
      {"products", "products of the linear maps, in order (low_rank has two); none for pixelfly"},
      keys.products);
}

std::unique_ptr<Layer> make_layer(training::Statement& statement, const LayerContext& context,
                                  const LayerPlan& plan) {
  if (const auto* dense = std::get_if<DensePlan>(&plan))
    return std::make_unique<DenseLayer>(statement, context, *dense);
  if (const auto* factors = std::get_if<std::shared_ptr<const ButterflyPlan>>(&plan)) {
    const auto make = !context.linear.transforms() ? make_butterfly
                      : context.linear.circulant() ? make_circulant
                                                   : make_fastfood;
    return make(statement, context, **factors);
  }
  return make_pixelfly(statement, context, *std::get<std::shared_ptr<const PixelflyPlan>>(plan));
}

nlohmann::ordered_json to_json(const LayerPlan& plan) {
  if (const auto* pixelfly = std::get_if<std::shared_ptr<const PixelflyPlan>>(&plan))
    return to_json(**pixelfly);
  if (const auto* dense = std::get_if<DensePlan>(&plan))
    return config::resolved(training::keys_of(*dense));
  const auto& factors = std::get<std::shared_ptr<const ButterflyPlan>>(plan);
  return config::resolved(MapKeys{{}, factors->geometry.plan});
}

}  // namespace tessera::mlp
