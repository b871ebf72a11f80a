#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/snn/dense.h"
#include "kernels/training/assembly.h"

namespace tessera::snn {

using program::BufferId;
using program::ComputeSet;
using training::Assembly;
using training::Matrix;

/// Puts the program of a network with dense activations together: turns of training, or of looking.
class DenseBuilder {
 public:
  DenseBuilder(const Options& options, const Network& network, const Data& data,
               const std::vector<DenseLayer>& plans, const MachineConfig& machine);
  program::Program build();

 private:
  struct LayerMatrices {
    Matrix weights, sums, spikes;
    std::vector<BufferId> states;  ///< of all steps, by tile of `sums`
    // Training:
    Matrix turned, gradients, of_states, of_spikes, of_inputs;
    std::optional<Assembly::Moments> moments;
  };

  template <class Action>
  void step(Action action) {
    body_->steps.push_back({std::move(action), true});
  }
  template <class Body>
  void loop(const Body& add) {
    program::Sequence inner;
    program::Sequence* const outer = body_;
    body_ = &inner;
    assembly_.add_to(inner);
    add();
    body_ = outer;
    assembly_.add_to(*outer);
    step(program::Repeat{options_.time_steps, std::move(inner)});
  }

  std::uint32_t codelet(const std::string& name);
  std::vector<BufferId> history(const Matrix& like, std::uint32_t slots, std::string_view name);
  void add_matrices();
  void add_weights(std::uint32_t layer);
  LayerMatrices make_layer(const Layer& layer);
  /// Zeros and ones of all steps, as tile `t` has them.
  std::function<void(std::span<std::byte>, std::uint64_t)> filling(std::uint32_t t) const;

  program::HostTransfer feed();
  [[nodiscard]] program::HostTransfer told() const;

  using Leading = std::function<std::vector<program::Argument>(std::uint32_t tile)>;
  void elementwise(ComputeSet& set, const std::string& name, const Matrix& like,
                   const Leading& leading);
  void clear(ComputeSet& set, const Matrix& like, const std::vector<BufferId>& buffers);
  void clear(ComputeSet& set, const Matrix& matrix);
  void tick(ComputeSet& set, std::uint32_t keep, std::uint32_t change);
  void begin();
  std::vector<program::Argument> with_history(const std::vector<BufferId>& states,
                                              const Matrix& like, std::uint32_t t,
                                              std::vector<program::Argument> more) const;
  void fetch_inputs(ComputeSet& set);

  /// All layers take the spikes of the step before.
  void forward();
  void lose();

  // dense_backward.cpp
  void turn_round();
  void backward();
  void add_state_gradient(ComputeSet& set, std::size_t l);
  void update();

  const Options& options_;
  const Network& network_;
  const Data& data_;
  const std::vector<DenseLayer>& plans_;
  const MachineConfig& machine_;
  program::Program program_;
  Assembly assembly_;
  elf::KernelCode code_;
  std::map<std::string, std::uint32_t> codelets_;
  program::Sequence* body_ = nullptr;
  Matrix inputs_, logits_;
  std::vector<BufferId> clocks_, events_, labels_;
  std::vector<LayerMatrices> layers_;
  Assembly::Rates rates_;
  BufferId totals_{};
};

}  // namespace tessera::snn
