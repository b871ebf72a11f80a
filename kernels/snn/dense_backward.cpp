#include "kernels/snn/dense_program.h"

/// The way back through time, and the update.
namespace tessera::snn {

using program::Place;
using training::Arguments;
using training::bits_of;

void DenseBuilder::turn_round() {
  ComputeSet set{"turn round", {}};
  tick(set, 0, options_.time_steps - 1);
  add_step(std::move(set));
  for (std::size_t l = 1; l < layers_.size(); ++l) transpose(layers_[l].weights, layers_[l].turned);
}

void DenseBuilder::backward() {
  ComputeSet set{"gradients", {}};
  for (std::size_t l = 0; l < layers_.size(); ++l) add_state_gradient(set, l);
  fetch_inputs(set);
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    const LayerMatrices& before = layers_[l - 1];
    add_stepwise(set, "snn_dense_spikes", before.sums, before.states, [&](std::uint32_t t) {
      return Arguments{Place{before.spikes.lies.buffers[t]},
                       bits_of(double(network_.layers[l - 1].threshold[0]))};
    });
  }
  add_step(std::move(set));
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Matrix& x = l == 0 ? inputs_ : layers_[l - 1].spikes;
    const LayerMatrices& layer = layers_[l];
    const Matrix turned = matrix(x.columns, x.rows, "spikes transposed");
    const Matrix change = matrix(layer.weights.rows, layer.weights.columns, "a step's gradients");
    transpose(x, turned);
    product(plans_[l].weight_gradient->geometry, turned, layer.of_inputs, change);
    ComputeSet adding{"add gradients", {}};
    add_elementwise(adding, "snn_dense_add", change, [&](std::uint32_t t) {
      return Arguments{Place{layer.gradients.lies.buffers[t]}, Place{change.lies.buffers[t]}};
    });
    if (l + 1 == layers_.size()) tick(adding, ~0U, ~0U);
    add_step(std::move(adding));
    if (l > 0)
      product(plans_[l].input_gradient->geometry, layer.of_inputs, layer.turned,
              layers_[l - 1].of_spikes);
  }
}

void DenseBuilder::add_state_gradient(ComputeSet& set, std::size_t l) {
  const Layer& what = network_.layers[l];
  const LayerMatrices& layer = layers_[l];
  const bool reads_out = what.kind == NeuronKind::integrator;
  add_stepwise(set, reads_out ? "snn_dense_integrator_gradient" : "snn_dense_lif_gradient",
               layer.sums, layer.states, [&](std::uint32_t t) {
                 return Arguments{Place{layer.of_states.lies.buffers[t]},
                                  Place{layer.of_spikes.lies.buffers[t]},
                                  Place{layer.of_inputs.lies.buffers[t]},
                                  bits_of(double(what.alpha[0])),
                                  bits_of(double(what.gain[0])),
                                  bits_of(reads_out ? 0.0 : double(what.threshold[0])),
                                  bits_of(reads_out ? 0.0 : double(what.second_threshold[0])),
                                  bits_of(options_.steepness)};
               });
}

void DenseBuilder::add_update() {
  training::schedule(*this, options_.learning, rates_);
  for (const LayerMatrices& layer : layers_) {
    const Matrix& second = layer.second_moments ? *layer.second_moments : *layer.first_moments;
    std::vector<training::Stretch> stretches;
    for (std::uint32_t t = 0; t < layer.weights.tiles(); ++t) {
      const BufferId weights = layer.weights.lies.buffers[t];
      stretches.push_back({weights, weights, layer.gradients.lies.buffers[t],
                           layer.first_moments->lies.buffers[t], second.lies.buffers[t],
                           layer.weights.lies.stored.bytes_on(t) / training::kElementBytes});
    }
    training::update(*this, options_.learning, rates_, stretches);
  }
}

}  // namespace tessera::snn
