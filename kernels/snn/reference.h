#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/snn/snn.h"
#include "kernels/training/learning.h"
#include "kernels/training/loss.h"

/// Bit-exact reference of the network: plain loops over samples, neurons and ids in f32, with the
/// tile code's roundings and the plan's order of sums. It must list exactly the machine's spikes
/// and reach exactly its weights: with one rounding more, a neuron at its threshold would differ.
namespace tessera::snn {

/// Settings of a run that are not part of the network.
struct Setting {
  std::uint64_t seed = 1;  ///< for random choices
  std::uint32_t contexts = 6;
  std::uint32_t time_steps = 1;
  float steepness = 10;
  training::Learning learning;
};

/// (steepness |v - threshold| + 1)^2: one over SuperSpike's surrogate, arXiv 1705.11146.
inline float inverse_surrogate(float v, float threshold, float steepness) {
  const float base = std::fma(steepness, std::fabs(v - threshold), 1.0F);
  return base * base;
}

/// Takes batches forward and backward through a network.
class PlainNetwork {
 public:
  /// All arguments outlive it. update() changes the network.
  PlainNetwork(Network& network, const Plan& plan, const Setting& setting, HostThreads& threads);
  PlainNetwork(const PlainNetwork&) = delete;
  PlainNetwork& operator=(const PlainNetwork&) = delete;
  virtual ~PlainNetwork() = default;

  struct Sample {
    std::uint64_t number = 0;
    std::uint32_t label = 0;
  };
  struct Outcome {
    float loss = 0;   ///< mean of the batch
    float right = 0;  ///< samples classified correctly
  };
  /// Takes a batch forward; `events(sample, step)` are the ids of its inputs.
  template <class Events>
  Outcome look(const std::vector<Sample>& batch, const Events& events) {
    begin(batch.size());
    for (std::size_t b = 0; b < batch.size(); ++b)
      for (std::uint32_t t = 0; t < setting_.time_steps; ++t) {
        List& list = lists_[0][b][t];
        list.ids = events(batch[b].number, t);
        list.spikes = static_cast<std::uint32_t>(list.ids.size());
      }
    return forward(batch);
  }
  /// Takes the first `samples` of a batch of the data forward.
  Outcome look(const Data& data, const training::Batches& batches, std::uint64_t number,
               std::uint64_t samples) {
    std::vector<Sample> batch;
    for (std::uint64_t b = 0; b < samples; ++b) {
      const std::uint64_t sample = batches.sample(number, b);
      batch.push_back({sample, data.label(sample)});
    }
    return look(batch, [&data](std::uint64_t sample, std::uint32_t step) {
      return data.events(sample, step);
    });
  }
  /// Computes the gradients of the last batch, without the update.
  void find_gradients();
  /// Updates the weights by the gradients.
  void update();

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] const Lists& lists() const { return lists_; }
  [[nodiscard]] const List& list(VectorId vector, std::size_t sample, std::uint32_t slot) const {
    return lists_[vector][sample][slot];
  }
  /// Marks of a layer's neurons after a step, also without room in the list: kSpikeMark,
  /// kCarrierMark or 0.
  [[nodiscard]] std::vector<std::uint32_t> marks(std::uint32_t layer, std::size_t sample,
                                                 std::uint32_t step) const;
  /// Gradients of a layer's weights, [row][neuron].
  [[nodiscard]] const std::vector<float>& weight_gradient(std::uint32_t layer) const {
    return gradients_[layer];
  }

  /// The optimiser's state by weight, [row][neuron]: SGD's velocity, or Adam's moments.
  [[nodiscard]] const std::vector<float>& first_moments(std::uint32_t layer) const {
    return first_[layer];
  }
  [[nodiscard]] const std::vector<float>& second_moments(std::uint32_t layer) const {
    return second_[layer];
  }

 protected:
  using Values = std::vector<float>;
  /// States of a layer and a sample, one or two per neuron: [step][neuron].
  struct States {
    std::vector<Values> u, second;
  };
  /// Called before the layers take the spikes in slot `step`.
  virtual void begin_step(std::uint32_t /*step*/) {}
  /// The input of a layer's neurons from a sample's spikes.
  [[nodiscard]] virtual Values input_of(std::uint32_t layer, std::size_t sample,
                                        std::uint32_t step) const;
  /// The sum of a batch's losses.
  [[nodiscard]] virtual float total(const Values& losses) const {
    return std::accumulate(losses.begin(), losses.end(), 0.0F);
  }
  /// Computes the gradients of the previous step's spikes from a step's.
  virtual void step_back(std::uint32_t step);
  void state_gradient(std::uint32_t layer, std::size_t sample, std::uint32_t step);

  Network& network_;
  const Plan& plan_;
  Setting setting_;
  HostThreads& threads_;
  Lists lists_;
  std::vector<std::vector<States>> states_;  ///< [layer][sample]
  std::vector<Values> logit_gradients_;      ///< [sample]
  // Gradients:
  std::vector<std::vector<Values>> of_states_, of_second_, of_inputs_;  ///< [layer][sample]
  std::vector<std::vector<Values>> of_spikes_;  ///< [vector][sample], by place in the list
  std::vector<std::vector<Values>> copies_;     ///< [layer][copy] of weight gradients

 private:
  void begin(std::size_t samples);
  Outcome forward(const std::vector<Sample>& batch);
  void step_sample(std::size_t sample, std::uint32_t step);
  void step_layer(std::uint32_t layer, std::size_t sample, std::uint32_t step);
  [[nodiscard]] List select(VectorId vector, std::size_t sample, std::uint32_t step) const;
  Outcome lose(const std::vector<Sample>& batch);
  void add_weight_gradients(std::uint32_t layer, std::uint32_t tile, std::uint32_t step);
  void find_spike_gradients(std::size_t sample, std::uint32_t step);
  [[nodiscard]] Values dots(const Reduction& reduction, std::size_t sample, const List& list,
                            std::uint32_t tile) const;
  /// The value that a neuron compares with its threshold.
  [[nodiscard]] float position(std::uint32_t layer, std::size_t sample, std::uint32_t slot,
                               std::uint32_t neuron) const;

  std::vector<Values> sums_;  ///< sums of outputs, [sample]
  std::vector<Values> gradients_, first_, second_;
  training::PlainLearning learning_;
};

/// Reference of dense activations: products by gemm::BitExact in the order of their plans,
/// gradients of spikes by neuron.
class PlainDenseNetwork final : public PlainNetwork {
 public:
  /// All arguments outlive it.
  PlainDenseNetwork(Network& network, const Plan& plan, const Setting& setting,
                    const std::vector<training::DensePlan>& products, std::uint32_t tiles,
                    HostThreads& threads)
      : PlainNetwork(network, plan, setting, threads), products_(products), tiles_(tiles) {}

 private:
  void begin_step(std::uint32_t step) override;
  [[nodiscard]] Values input_of(std::uint32_t layer, std::size_t sample,
                                std::uint32_t step) const override;
  [[nodiscard]] float total(const Values& losses) const override {
    return training::total_loss(losses, tiles_);
  }
  void step_back(std::uint32_t step) override;
  void dense_state_gradient(std::uint32_t layer, std::size_t sample, std::uint32_t step);
  /// 1 where a vector spikes, else 0: [sample][neuron].
  [[nodiscard]] Values ones(VectorId vector, std::uint32_t slot) const;

  const std::vector<training::DensePlan>& products_;
  std::uint32_t tiles_;
  std::vector<Values> inputs_;  ///< inputs of the step's layers: [layer], [sample][neuron]
};

}  // namespace tessera::snn
