#include <fmt/format.h>

#include "kernels/gemm/tensors.h"
#include "kernels/mlp/layer.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"

namespace tessera::mlp {

namespace {

/// W before training, zeros behind its columns.
class InitialWeights {
 public:
  explicit InitialWeights(const LayerContext& context)
      : outputs_(context.linear.outputs),
        values_(std::make_shared<const std::vector<double>>(
            initial_parameters(context.seed, context.number, context.linear))) {}
  double operator()(std::uint64_t row, std::uint64_t column) const {
    return column < outputs_ ? (*values_)[row * outputs_ + column] : 0.0;
  }

 private:
  std::uint64_t outputs_;
  std::shared_ptr<const std::vector<double>> values_;
};

/// y = [x, 1] W by gemm; all matrices by rows on all tiles.
class DenseLayer : public Layer {
 public:
  DenseLayer(Assembly& assembly, const LayerContext& context, const DensePlan& plan)
      : assembly_(assembly),
        plan_(plan),
        outputs_(context.linear.outputs),
        weights_(make_weights(assembly, context)) {
    const training::StretchMaker make(assembly, context.learning);
    const InitialWeights value(context);
    for (std::uint32_t t = 0; t < weights_.tiles(); ++t) {
      const std::uint64_t first = weights_.lies.stored.begin(t) / weights_.element_bytes();
      stretches_.push_back(make.around(
          weights_.lies.buffers[t],
          [value, first, rows = weights_.rows, pitch = weights_.pitch](std::uint64_t i) {
            const std::uint64_t row = (first + i) / pitch;
            return row < rows ? value(row, (first + i) % pitch) : 0.0;
          }));
    }
  }

  void forward(const Matrix& x, const Matrix& z) override {
    assembly_.product(plan_.forward.geometry, x, weights_, z);
  }

  std::optional<Matrix> backward(const Matrix& x, const Matrix& gradient, bool wanted) override {
    const Matrix x_turned = assembly_.matrix(x.columns, x.rows, "activations transposed");
    assembly_.transpose(x, x_turned);
    change_ = assembly_.matrix(weights_.rows, weights_.columns, "weight gradients");
    assembly_.product(plan_.weight_gradient->geometry, x_turned, gradient, *change_);
    if (!wanted) return std::nullopt;
    const Matrix turned = assembly_.matrix(weights_.columns, weights_.rows, "weights transposed");
    assembly_.transpose(weights_, turned);
    const Matrix back = assembly_.matrix(x.rows, x.columns, "gradient of activations");
    assembly_.product(plan_.input_gradient->geometry, gradient, turned, back);
    return back;
  }

  [[nodiscard]] std::vector<training::Stretch> stretches() const override {
    std::vector<training::Stretch> all = stretches_;
    for (std::size_t t = 0; t < all.size(); ++t) all[t].gradient = change_->lies.buffers[t];
    return all;
  }

  [[nodiscard]] std::uint32_t tiles() const override { return weights_.tiles(); }
  void add_tensors(program::Program& program, const std::string& name,
                   const training::Replicas& copies) const override {
    std::vector<gemm::RowPart> parts;
    for (std::uint32_t t = 0; t < weights_.tiles(); ++t) {
      const std::uint64_t first = weights_.lies.stored.begin(t) / weights_.element_bytes();
      for (const training::Stretch& part : copies.shares({stretches_[t]}))
        parts.push_back(
            {part.kept_place(part.masters), {first + part.begin, first + part.begin + part.count}});
    }
    program.add_tensor(gemm::tensor_of(
        {name, program::Role::weights, stretches_.front().master_type(), weights_.rows, outputs_},
        weights_.pitch, std::move(parts)));
  }

 private:
  static Matrix make_weights(Assembly& assembly, const LayerContext& context) {
    return assembly.matrix(context.linear.columns(), context.width, "weights",
                           InitialWeights(context), true);
  }

  Assembly& assembly_;
  const DensePlan& plan_;
  std::uint32_t outputs_;
  Matrix weights_;
  std::optional<Matrix> change_;
  std::vector<training::Stretch> stretches_;  ///< by tile of the weights
};

/// Plans a layer by planners that name keys of their own workloads: the mistake is the layer's.
template <class Plan>
auto planned_for(const Linear& linear, const Plan& plan) {
  const bool butterfly = linear.layer.kind == LayerKind::butterfly;
  const std::string its = butterfly ? "its butterfly factors: " : "its pixelfly: ";
  try {
    return plan();
  } catch (const KeyError& error) {
    throw KeyError(linear.key, its + error.what());
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}{}", linear.key, its, error.what()));
  }
}

}  // namespace

/// Butterflies first: what they hold on a tile from their way forward to their way back the dense
/// products have not.
std::vector<LayerPlan> plan_layers(const std::vector<Linear>& linears,
                                   const std::vector<MapKeys>& pinned, LayerRoom room,
                                   MachineCosts& costs) {
  std::vector<LayerPlan> plans(linears.size());
  const auto keys = [&](std::size_t i) { return i < pinned.size() ? pinned[i] : MapKeys(); };
  for (std::size_t i = 0; i < linears.size(); ++i) {
    if (linears[i].layer.kind != LayerKind::butterfly) continue;
    const auto plan = planned_for(
        linears[i], [&] { return plan_butterfly(linears[i], keys(i).factors, room, costs); });
    room.kept += plan->tile_bytes;
    plans[i] = plan;
  }
  for (std::size_t i = 0; i < linears.size(); ++i)
    if (linears[i].layer.kind == LayerKind::pixelfly)
      plans[i] = planned_for(linears[i], [&] { return plan_pixelfly(linears[i], room, costs); });
  training::ProductPlanner planner(costs, room.kept, room.type);
  for (std::size_t i = 0; i < linears.size(); ++i)
    if (linears[i].layer.kind == LayerKind::dense)
      plans[i] = planner.plan({room.columns, linears[i].columns(), result_columns(linears, i),
                               linears[i].key, room.trains, i == 0, keys(i).dense});
  return plans;
}

void describe(config::Fields& fields, MapKeys& keys) {
  describe(fields, keys.dense);
  fields.optional_group({"factors", "of a butterfly: its gradient of twiddles"}, keys.factors);
}

void describe(config::Fields& fields, PlanKeys& keys) {
  fields.list({"products", "of linear maps in order (low_rank has two); of pixelfly none"},
              keys.products);
}

std::unique_ptr<Layer> make_layer(Assembly& assembly, const LayerContext& context,
                                  const LayerPlan& plan) {
  if (const auto* dense = std::get_if<DensePlan>(&plan))
    return std::make_unique<DenseLayer>(assembly, context, *dense);
  if (const auto* factors = std::get_if<std::shared_ptr<const ButterflyPlan>>(&plan))
    return make_butterfly(assembly, context, **factors);
  return make_pixelfly(assembly, context, *std::get<std::shared_ptr<const PixelflyPlan>>(plan));
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
