#include "kernels/snn/dense_program.h"

/// The way back through time, and the update.
namespace tessera::snn {

using program::Place;
using training::bits_of;

void DenseBuilder::turn_round() {
  ComputeSet set{"turn round", {}};
  tick(set, 0, options_.time_steps - 1);
  step(std::move(set));
  for (std::size_t l = 1; l < layers_.size(); ++l)
    assembly_.transpose(layers_[l].weights, layers_[l].turned);
}

void DenseBuilder::backward() {
  ComputeSet set{"gradients", {}};
  for (std::size_t l = 0; l < layers_.size(); ++l) add_state_gradient(set, l);
  fetch_inputs(set);
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    const LayerMatrices& before = layers_[l - 1];
    elementwise(set, "snn_dense_spikes", before.sums, [&](std::uint32_t t) {
      return with_history(before.states, before.sums, t,
                          {Place{before.spikes.lies.buffers[t]},
                           bits_of(double(network_.layers[l - 1].threshold[0]))});
    });
  }
  step(std::move(set));
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Matrix& x = l == 0 ? inputs_ : layers_[l - 1].spikes;
    const LayerMatrices& layer = layers_[l];
    const Matrix turned = assembly_.matrix(x.columns, x.rows, "spikes transposed");
    const Matrix change =
        assembly_.matrix(layer.weights.rows, layer.weights.columns, "a step's gradients");
    assembly_.transpose(x, turned);
    assembly_.product(plans_[l].weight_gradient.geometry, turned, layer.of_inputs, change);
    ComputeSet adding{"add gradients", {}};
    elementwise(adding, "snn_dense_add", change, [&](std::uint32_t t) {
      return std::vector<program::Argument>{Place{layer.gradients.lies.buffers[t]},
                                            Place{change.lies.buffers[t]}};
    });
    if (l + 1 == layers_.size()) tick(adding, ~0U, ~0U);
    step(std::move(adding));
    if (l > 0)
      assembly_.product(plans_[l].input_gradient.geometry, layer.of_inputs, layer.turned,
                        layers_[l - 1].of_spikes);
  }
}

void DenseBuilder::add_state_gradient(ComputeSet& set, std::size_t l) {
  const Layer& what = network_.layers[l];
  const LayerMatrices& layer = layers_[l];
  const bool reads_out = what.kind == NeuronKind::integrator;
  elementwise(
      set, reads_out ? "snn_dense_integrator_gradient" : "snn_dense_lif_gradient", layer.sums,
      [&](std::uint32_t t) {
        return with_history(
            layer.states, layer.sums, t,
            {Place{layer.of_states.lies.buffers[t]}, Place{layer.of_spikes.lies.buffers[t]},
             Place{layer.of_inputs.lies.buffers[t]}, bits_of(double(what.alpha[0])),
             bits_of(double(what.gain[0])), bits_of(reads_out ? 0.0 : double(what.threshold[0])),
             bits_of(reads_out ? 0.0 : double(what.second_threshold[0])),
             bits_of(options_.steepness)});
      });
}

void DenseBuilder::update() {
  assembly_.schedule(options_.learning, rates_);
  for (const LayerMatrices& layer : layers_)
    assembly_.update(options_.learning, rates_, layer.weights, layer.gradients, *layer.moments);
}

}  // namespace tessera::snn
