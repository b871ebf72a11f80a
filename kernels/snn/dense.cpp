#include "kernels/snn/dense.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/gemm/geometry.h"
#include "kernels/training/matrix.h"
#include "sim/base/errors.h"

namespace tessera::snn {

namespace {

/// Plans for the sizes of a program, each once.
class Planner {
 public:
  Planner(MachineCosts& costs, std::uint64_t reserved)
      : costs_(costs), grain_(training::padding(costs.machine())), reserved_(reserved) {}

  DenseProduct plan(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
    const gemm::Product size{round_up(m, grain_), round_up(n, grain_), round_up(k, grain_)};
    for (const DenseProduct& known : known_)
      if (known.size.m == size.m && known.size.n == size.n && known.size.k == size.k) return known;
    const gemm::Problem problem{size,
                                program::Type::f32,
                                false,
                                program::Type::f32,
                                kernels::Layout::natural,
                                costs_.machine().tile.matrix_unit,
                                reserved_};
    const gemm::Candidate candidate = gemm::choose_plan(problem, costs_);
    known_.push_back({size, candidate, gemm::Geometry(problem, candidate.plan)});
    return known_.back();
  }

 private:
  MachineCosts& costs_;
  std::uint32_t grain_;
  std::uint64_t reserved_;
  std::vector<DenseProduct> known_;
};

/// Bytes of a tile that a product finds taken: weights and what training keeps of them, states of
/// all steps.
std::uint64_t kept_bytes(const Options& options, const Network& network,
                         const MachineConfig& machine) {
  const std::uint32_t grain = training::padding(machine);
  const auto bytes = [&](std::uint32_t rows, std::uint32_t columns) {
    const std::uint64_t all =
        std::uint64_t{round_up(rows, grain)} * round_up(columns, grain) * training::kElementBytes;
    return gemm::stored_bytes(all, machine.tiles);
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
  refuse(options.neuron.kind != NeuronKind::lif, "workload.neuron.kind", "another", "lif");
  refuse(options.neuron.recurrent, "workload.neuron.recurrent", "true", "false");
  refuse(options.data.test_samples > 0, "workload.data.test_samples", "some", "0");
}

std::vector<DenseLayer> plan_dense(const Options& options, const Network& network,
                                   MachineCosts& costs) {
  Planner planner(costs, kept_bytes(options, network, costs.machine()));
  std::vector<DenseLayer> layers;
  for (const Layer& layer : network.layers) {
    const DenseProduct forward = planner.plan(options.batch, layer.inputs, layer.neurons);
    if (!options.train)
      layers.push_back({forward, forward, forward});
    else
      layers.push_back({forward, planner.plan(layer.inputs, options.batch, layer.neurons),
                        planner.plan(options.batch, layer.neurons, layer.inputs)});
  }
  return layers;
}

nlohmann::ordered_json to_json(const std::vector<DenseLayer>& layers) {
  nlohmann::ordered_json plan = nlohmann::ordered_json::array();
  for (const DenseLayer& layer : layers)
    plan.push_back({{"forward", gemm::to_json(layer.forward.candidate.plan)},
                    {"weight_gradient", gemm::to_json(layer.weight_gradient.candidate.plan)},
                    {"input_gradient", gemm::to_json(layer.input_gradient.candidate.plan)}});
  return {{"products", std::move(plan)}};
}

}  // namespace tessera::snn
