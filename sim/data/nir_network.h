#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/data/nir_linear.h"

namespace tessera::data {

/// The neurons of one node and their inputs at each step.
struct NirPopulation {
  std::string name;
  std::string type;  ///< CubaLIF, IF, LI or LIF
  /// One number per neuron: tau, r, v_leak, v_threshold, v_reset, tau_mem, tau_syn, w_in, as the
  /// type requires.
  std::map<std::string, std::vector<double>> parameters;
  std::vector<double> constant;  ///< added to each neuron's input at every step

  struct Input {
    std::optional<std::size_t> from;           ///< population; none: the network's input
    std::shared_ptr<const LinearMap> weights;  ///< one row per neuron
    std::vector<std::string> nodes = {};       ///< the nodes that form `weights`: "'conv' (Conv2d)"
    bool own = true;  ///< the weights are those of one Linear or Affine that is used nowhere else
  };
  std::vector<Input> inputs;  ///< the network's first, then by population

  [[nodiscard]] std::size_t neurons() const { return constant.size(); }
};

/// A NIR graph as populations of neurons and the weights between them: the nodes between two
/// populations (products, convolutions, pooling) become one linear function.
struct NirNetwork {
  std::uint64_t inputs = 0;
  std::vector<NirPopulation> populations;  ///< nearest to the input first, then by name
  std::vector<std::size_t> outputs;        ///< populations that feed the graph's Output
};

/// Spikes take one step from population to population, so every cycle must contain a population.
/// UserErrors name `file` and the nodes: unsupported types, cycles without neurons, no Input or
/// several, an Output without neurons before it, shapes that disagree, parameters that are missing,
/// unknown or not one per neuron. Shapes that nodes state in addition to those of their weights are
/// not read; Flatten flattens all dimensions.
NirNetwork nir_network(const NirGraph& graph, const std::string& file);

}  // namespace tessera::data
