#include "kernels/snn/dense.h"

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera::snn {

namespace {

/// Bytes of a tile that a product finds taken: weights and what training keeps of them, states of
/// all steps.
std::uint64_t kept_bytes(const Options& options, const Network& network,
                         const MachineConfig& machine) {
  const auto bytes = [&](std::uint32_t rows, std::uint32_t columns) {
    return training::matrix_bytes(rows, columns, machine);
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

}  // namespace

void require_dense(const Options& options) {
  const auto refuse = [](bool wrong, const char* key, const char* found, const char* allowed) {
    if (wrong)
      throw KeyError(key,
                     fmt::format("found {} with activations dense, allowed {}", found, allowed));
  };
  refuse(!options.network.empty(), "workload.network", "a file", "none");
  refuse(options.neuron.kind != NeuronKind::lif, "workload.neuron.kind", "another", "lif");
  refuse(options.neuron.recurrent, "workload.neuron.recurrent", "true", "false");
  refuse(options.data.test_samples > 0, "workload.data.test_samples", "some", "0");
  // Neurons of padding stand at 0 and must not spike.
  refuse(options.neuron.threshold < 0, "workload.neuron.threshold", "one below 0", "0 or more");
}

std::vector<training::DensePlan> plan_dense(const Options& options, const Network& network,
                                            MachineCosts& costs) {
  training::ProductPlanner planner(costs, kept_bytes(options, network, costs.machine()));
  const std::vector<training::DenseKeys>& pinned = options.plan.products;
  std::vector<training::DensePlan> plans;
  for (const Layer& layer : network.layers) {
    const std::size_t i = plans.size();
    const training::PlannedLayer planned = planner.plan(
        {options.batch, layer.inputs, layer.neurons, fmt::format("workload.layers[{}]", i),
         options.train, i == 0, i < pinned.size() ? pinned[i] : training::DenseKeys()});
    if (!planned.plan) throw UserError(planned.misfit);
    plans.push_back(*planned.plan);
  }
  return plans;
}

}  // namespace tessera::snn
