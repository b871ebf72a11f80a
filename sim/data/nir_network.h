#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/data/nir_linear.h"

namespace tessera::data {

/// Neurons of one node and what reaches them at each step.
struct NirPopulation {
  std::string name;
  std::string type;  ///< CubaLIF, IF, LI or LIF
  /// One number a neuron: tau, r, v_leak, v_threshold, v_reset, tau_mem, tau_syn, w_in, as the type
  /// has them.
  std::map<std::string, std::vector<double>> parameters;
  std::vector<double> constant;  ///< added to each neuron's input at every step

  struct Input {
    std::optional<std::size_t> from;           ///< population; none: the network's input
    std::shared_ptr<const LinearMap> weights;  ///< a row a neuron
    std::vector<std::string> nodes = {};       ///< that weights are made of: "'conv' (Conv2d)"
    bool own = true;  ///< weights are those of one Linear or Affine, which acts nowhere else
  };
  std::vector<Input> inputs;  ///< the network's first, then by population

  [[nodiscard]] std::size_t neurons() const { return constant.size(); }
};

/// A NIR graph as populations of neurons and the weights between them: what stands between two
/// populations (products, convolutions, pooling) is one linear function.
struct NirNetwork {
  std::uint64_t inputs = 0;
  std::vector<NirPopulation> populations;  ///< nearest to the input first, then by name
  std::vector<std::size_t> outputs;        ///< populations that the graph's Output shows
};

/// Spikes take one step from population to population, so that every cycle needs one. UserErrors
/// name `file` and the nodes: a type that is not supported, a cycle without neurons, no or several
/// Inputs, an Output without neurons before it, shapes that do not agree, parameters that are
/// missing, not one a neuron, or unknown. Shapes that nodes state beside those of their weights are
/// not read; Flatten flattens all dimensions.
NirNetwork nir_network(const NirGraph& graph, const std::string& file);

}  // namespace tessera::data
