#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/snn/dense.h"
#include "kernels/training/assembly.h"

namespace tessera::snn {

using program::BufferId;
using program::ComputeSet;
using training::Matrix;

/// Puts the program of a network with dense activations together: turns of training, or of looking.
class DenseBuilder : private training::Assembly {
 public:
  static program::Program build(const Snn& snn);

 private:
  struct LayerMatrices {
    Matrix weights, sums, spikes;
    std::vector<BufferId> states;  ///< of all steps, by tile of `sums`
    // Training:
    Matrix turned, gradients, of_states, of_spikes, of_inputs;
    std::optional<Matrix> first_moments, second_moments;
  };

  DenseBuilder(program::Program& program, const Snn& snn);
  void add_all();
  /// Room for a matrix of all time steps, by tile; `given`: of inputs, which the first batch has.
  std::vector<BufferId> history(const Matrix& like, std::string_view name, bool given);
  void add_matrices();
  void add_weights(std::uint32_t layer);
  LayerMatrices make_layer(const Layer& layer);
  /// Zeros and ones of all steps, as tile `t` has them.
  [[nodiscard]] std::function<void(std::span<std::byte>, std::uint64_t)> filling(
      std::uint32_t t) const;
  [[nodiscard]] training::Contents first_batch(std::uint32_t t) const;
  program::HostTransfer feed();

  void clear(ComputeSet& set, const std::vector<BufferId>& buffers, const Matrix& like);
  void tick(ComputeSet& set, std::uint32_t keep, std::uint32_t change);
  void begin();
  /// Calls on the elements of `like`, whose states of all steps are `states`.
  void add_stepwise(ComputeSet& set, const std::string& name, const Matrix& like,
                    const std::vector<BufferId>& states, const Leading& more);
  void fetch_inputs(ComputeSet& set);

  /// All layers take the spikes of the step before.
  void forward();

  // dense_backward.cpp
  void turn_round();
  void backward();
  void add_state_gradient(ComputeSet& set, std::size_t l);
  void add_update();

  const Options& options_;
  const Network& network_;
  const Data& data_;
  const training::Turns& turns_;
  const std::vector<training::DensePlan>& plans_;
  Matrix inputs_, logits_;
  std::vector<BufferId> clocks_, events_, labels_;
  std::vector<LayerMatrices> layers_;
  std::vector<BufferId> rates_;
};

}  // namespace tessera::snn
