#include <fmt/format.h>

#include "kernels/snn/program.h"
#include "sim/base/errors.h"

namespace tessera::snn {

namespace {

/// Bytes of a tile that a product finds taken: weights and what training keeps of them, states of
/// all steps.
std::uint64_t kept_bytes(const Options& options, const Network& network,
                         const MachineConfig& machine, std::uint32_t padding) {
  const auto bytes = [&](std::uint32_t rows, std::uint32_t columns) {
    return training::matrix_bytes(rows, columns, machine, padding);
  };
  const std::uint64_t slots = options.time_steps + 1;
  constexpr std::uint64_t kCopies = 6;  // of weights: transposed, gradients, their sum, two moments
  constexpr std::uint64_t kMatrices = 6;  // of a batch
  std::uint64_t kept = slots * bytes(options.batch, network.inputs());
  for (const Layer& layer : network.layers) {
    kept += (options.train ? kCopies : 1) * bytes(layer.inputs, layer.neurons);
    kept += (kMatrices + (options.train ? slots : 2)) * bytes(options.batch, layer.neurons);
  }
  constexpr std::uint64_t kCodeAndLists = 32768;
  return kept + kCodeAndLists;
}

struct PaddedPlans {
  std::vector<training::DensePlan> plans;
  std::uint64_t cycles = 0;  ///< predicted, of all products of a step
  std::string misfit = {};
};

PaddedPlans plan_padded(const Options& options, const Network& network, std::uint32_t padding,
                        MachineCosts& costs) {
  training::ProductPlanner planner(costs, kept_bytes(options, network, costs.machine(), padding),
                                   padding);
  const std::vector<training::DenseKeys>& pinned = options.plan.products;
  PaddedPlans made;
  for (const Layer& layer : network.layers) {
    const std::size_t i = made.plans.size();
    training::PlannedLayer planned = planner.plan(
        {options.batch, layer.inputs, layer.neurons, fmt::format("workload.layers[{}]", i),
         options.train, i == 0, i < pinned.size() ? pinned[i] : training::DenseKeys()});
    if (!planned.plan) return {{}, 0, planned.misfit};
    made.plans.push_back(std::move(*planned.plan));
    const training::DensePlan& plan = made.plans.back();
    for (const auto& product :
         {std::optional(plan.forward), plan.weight_gradient, plan.input_gradient})
      if (product) made.cycles += product->candidate.prediction.cycles;
  }
  return made;
}

}  // namespace

void require_dense(const Options& options) {
  const auto refuse = [](bool wrong, const char* key, const auto& found, const char* allowed) {
    if (wrong)
      throw KeyError(key,
                     fmt::format("found {} with activations dense, allowed {}", found, allowed));
  };
  refuse(!options.network.empty(), "workload.network", options.network, "none");
  refuse(options.neuron.kind != NeuronKind::lif, "workload.neuron.kind",
         config::name_of(kNeuronKinds, options.neuron.kind), "lif");
  refuse(options.neuron.recurrent, "workload.neuron.recurrent", "true", "false");
  refuse(options.data.test_samples > 0, "workload.data.test_samples", options.data.test_samples,
         "0");
  // Neurons of padding stand at 0 and must not spike.
  refuse(options.neuron.threshold < 0, "workload.neuron.threshold", options.neuron.threshold,
         "0 or more");
}

std::vector<training::DensePlan> plan_dense(const Options& options, const Network& network,
                                            MachineCosts& costs) {
  std::vector<training::DensePlan> best;
  std::uint64_t least = UINT64_MAX;
  std::string misfit;
  for (const std::uint32_t padding :
       training::paddings(costs.machine(), options.plan.padding, !options.plan.products.empty())) {
    const PaddedPlans planned = plan_padded(options, network, padding, costs);
    if (planned.misfit.empty() && planned.cycles < least) {
      least = planned.cycles;
      best = planned.plans;
    }
    misfit = planned.misfit;
  }
  if (least == UINT64_MAX) throw UserError(misfit);
  return best;
}

}  // namespace tessera::snn
