#include <algorithm>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/check/comparison.h"
#include "kernels/check/rounding.h"
#include "kernels/convnet/convnet.h"
#include "kernels/convnet/reference_window.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/plan/lower.h"

namespace tessera::convnet::tiles {

using kernels::Comparison;
using kernels::ProductSums;
using program::Type;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kLeastDepth = 8;  // tile code moves 16 bytes of a chunk at a time

/// Candidate forms: the pinned one; with pinned layers the unit's own; else all that tile code
/// supports.
std::vector<BlockShape> forms_of(const Plan& pinned, const MatrixUnitConfig& unit) {
  constexpr const char* kKey = "workload.plan.unit";
  const bool own = pinned.unit == kernels::Form() && !pinned.layers.empty();
  std::vector<BlockShape> forms;
  if (own || pinned.unit != kernels::Form())
    forms.push_back(kernels::block_shape(unit, Type::f16, Type::f32, pinned.unit, kKey));
  else
    forms = kernels::block_shapes(unit, Type::f16, Type::f32);
  std::erase_if(forms, [](const BlockShape& block) { return block.depth < kLeastDepth; });
  if (forms.empty())
    throw KeyError(kKey, "found blocks of fewer inputs, allowed {} and up", kLeastDepth);
  return forms;
}

/// A problem without the model's weights, for planning.
std::shared_ptr<Problem> problem_in(const BlockShape& block, const Network& network,
                                    const MachineConfig& machine) {
  auto problem = std::make_shared<Problem>();
  problem->block = block;
  problem->shapes = layer_shapes(network, block);
  problem->contexts = machine.tile.contexts;
  problem->tiles = machine.tiles;
  problem->model.network = network;
  return problem;
}

/// A tensor computed by the machine, [row][column][channel].
using Values = std::vector<float>;

/// Checks one layer, given its inputs and the operand added to its sums.
class LayerCheck {
 public:
  LayerCheck(const Problem& problem, const Geometry& geometry)
      : layer_(problem.model.network.layers[geometry.shape().weighted]),
        weights_(problem.model.weights[geometry.shape().weighted]),
        relu_(problem.model.network.layers[geometry.shape().number].relu),
        rounding_(kernels::rounding_of(Type::f16, Type::f32, 1, geometry.split().inputs)),
        name_(tensor_name(problem.model.network, geometry.shape().number)) {
    if (layer_.op == Operator::convolution) transpose();
  }

  /// `added`: operand added to the layer's sums, or null.
  CheckResult run(std::span<const Values* const> inputs, const Values* added, const Values& found,
                  HostThreads& threads) const {
    const std::size_t channels = layer_.output.channels;
    const std::size_t width = layer_.output.width;
    Comparison all({name_, Type::f16, Type::f32});
    Values maxima(layer_.op == Operator::max_pool ? found.size() : 0);
    if (!maxima.empty()) reference::take_window_maxima(layer_, *inputs[0], maxima, threads);
    all.add_all(layer_.output.height * width, width, threads,
                [&](std::size_t begin, std::size_t end, Comparison& into) {
                  for (std::size_t place = begin; place < end; ++place)
                    compare(place, inputs, added, maxima, &found[place * channels], into);
                });
    return all.result("full");
  }

 private:
  /// Transposes weights to [row][column][input][output].
  void transpose() {
    const std::size_t outputs = layer_.output.channels;
    const std::size_t products = weights_.values.size() / outputs;
    by_input_.resize(weights_.values.size());
    for (std::size_t o = 0; o < outputs; ++o)
      for (std::size_t i = 0; i < products; ++i)
        by_input_[i * outputs + o] = weights_.values[o * products + i];
  }

  void compare(std::size_t place, std::span<const Values* const> inputs, const Values* added,
               const Values& maxima, const float* found, Comparison& into) const {
    const auto y = static_cast<std::uint32_t>(place / layer_.output.width);
    const auto x = static_cast<std::uint32_t>(place % layer_.output.width);
    const std::uint32_t channels = layer_.output.channels;
    if (layer_.op == Operator::max_pool) {
      for (std::uint32_t c = 0; c < channels; ++c) {
        const double most = double{maxima[place * channels + c]};
        into.add({place, c, double{found[c]}, most, 0, 0, most});
      }
      return;
    }
    ProductSums sums(channels);
    if (!weights_.bias.empty()) sums.add(1, weights_.bias.data());
    if (layer_.op == Operator::add) {
      for (const Values* operand : inputs) sums.add(1, &(*operand)[place * channels]);
    } else {
      add_window(y, x, *inputs[0], sums);
    }
    if (added != nullptr) sums.add(1, &(*added)[place * channels]);
    for (std::uint32_t c = 0; c < channels; ++c) {
      kernels::Compared one = sums[c].compared(place, c, double{found[c]}, rounding_);
      if (relu_) one.expected = std::max(one.expected, 0.0);
      into.add(one);
    }
  }

  void add_window(std::uint32_t y, std::uint32_t x, const Values& in, ProductSums& sums) const {
    const std::size_t outputs = layer_.output.channels;
    const std::size_t channels = layer_.input.channels;
    std::vector<double> products(outputs);
    reference::for_window(
        layer_, y, x, [&](std::uint32_t row, std::uint32_t column, std::size_t from) {
          const std::size_t tap = row * layer_.window.width + column;
          if (layer_.op == Operator::average_pool)
            return sums.add(1.0 / (layer_.window.height * layer_.window.width), &in[from]);
          if (layer_.op == Operator::depthwise_convolution) {
            const std::size_t taps = weights_.values.size() / outputs;
            for (std::size_t o = 0; o < outputs; ++o)
              products[o] = double{in[from + o]} * double{weights_.values[o * taps + tap]};
            return sums.add(1, products.data());
          }
          for (std::size_t i = 0; i < channels; ++i)
            sums.add(double{in[from + i]}, &by_input_[(tap * channels + i) * outputs]);
        });
  }

  const Layer& layer_;
  const RealWeights& weights_;
  bool relu_;
  kernels::Rounding rounding_;
  std::string name_;
  std::vector<float> by_input_;
};

class TiledConvnet : public Workload {
 public:
  TiledConvnet(const Options& options, MachineCosts& costs) {
    Given given = given_of(options);
    HostThreads threads(std::max(1U, std::thread::hardware_concurrency()));
    choose(float_model(std::move(given.file.network), given.file.weights, given.image, options.seed,
                       threads),
           options.tiles_plan.value_or(Plan{}), costs);
    const Network& network = problem_->model.network;
    Plan plan{problem_->block.form(), {}};
    Json layers = Json::array();
    for (std::uint32_t i = 0; i < network.layers.size(); ++i) {
      if (!planned_.geometries[i]) continue;
      const Prediction& p = planned_.predictions[i];
      plan.layers.push_back({network.layers[i].name, planned_.geometries[i]->split()});
      layers.push_back(layer_facts(network.layers[i].name, p.cycles,
                                   {{"compute", p.compute_cycles},
                                    {"exchange", p.exchange_cycles},
                                    {"sync", p.sync_cycles}}));
    }
    WorkloadSummary summary =
        summary_of(options, given, std::move(layers), problem_->model.rounded);
    summary.prediction = planned_.prediction;
    summary.problem = fmt::format("{} f16", network.name);
    summary.peak_type = "f16_f32";
    summary.plan = config::resolved(plan);
    summary.useful_flops = 2 * network.macs();
    summarise(std::move(summary));
  }

  /// Checks every element of every layer in double, from the machine's own input tensors.
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override {
    HostThreads threads(request.threads);
    const Problem& problem = *problem_;
    const std::vector<Layer>& layers = problem.model.network.layers;
    std::vector<Values> all(layers.size());
    all[0] = problem.model.image;
    std::optional<CheckResult> worst;
    for (std::uint32_t i = 1; i < layers.size(); ++i) {
      const auto values = [&](const Layer& layer) {
        std::vector<const Values*> inputs;
        for (const std::uint32_t input : layer.inputs) inputs.push_back(&all[input]);
        return inputs;
      };
      if (layers[i].op == Operator::concatenate)
        all[i] = reference::joined<float>(layers[i], values(layers[i]));
      if (!planned_.geometries[i]) continue;  // or a convolution fused with an addition
      const std::uint32_t weighted = planned_.geometries[i]->shape().weighted;
      const Values* added = nullptr;
      for (const std::uint32_t input : layers[i].inputs)
        if (weighted != i && input != weighted) added = &all[input];
      all[i] = tensors.floats(tensor_name(problem.model.network, i), threads);
      const CheckResult one = LayerCheck(problem, *planned_.geometries[i])
                                  .run(values(layers[weighted]), added, all[i], threads);
      worst = worst ? kernels::worse(*worst, one) : one;
    }
    return *worst;
  }

 private:
  [[nodiscard]] program::Program lowered() const override {
    return plan::lower(describe_network(problem_, planned_.geometries));
  }
  /// Plans in the form with the lowest bound on cycles that fits.
  void choose(FloatModel model, const Plan& pinned, MachineCosts& costs) {
    const std::vector<BlockShape> forms = forms_of(pinned, costs.machine().tile.matrix_unit);
    std::vector<std::pair<std::uint64_t, std::shared_ptr<Problem>>> problems;
    for (const BlockShape& form : forms) {
      auto problem = problem_in(form, model.network, costs.machine());
      const std::uint64_t least = forms.size() > 1 ? least_cycles(problem, costs) : 0;
      problems.emplace_back(least, std::move(problem));
    }
    std::ranges::stable_sort(problems, {}, [](const auto& each) { return each.first; });
    std::exception_ptr refused;
    for (const auto& [least, problem] : problems) {
      problem->model = std::move(model);
      try {
        planned_ = planned(problem, pinned, costs);
        problem_ = problem;
        return;
      } catch (const UserError&) {
        if (!refused) refused = std::current_exception();
        model = std::move(problem->model);
      }
    }
    std::rethrow_exception(refused);
  }

  std::shared_ptr<const Problem> problem_;
  Planned planned_;
};

}  // namespace

std::unique_ptr<Workload> make_tiled_convnet(const Options& options, MachineCosts& costs) {
  return std::make_unique<TiledConvnet>(options, costs);
}

}  // namespace tessera::convnet::tiles
