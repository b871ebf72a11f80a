#include <algorithm>
#include <cmath>

#include "kernels/snn/reference.h"

namespace tessera::snn {

namespace {

float surrogate(float v, float threshold, float steepness) {
  return 1.0F / inverse_surrogate(v, threshold, steepness);
}

void add(std::vector<float>& sum, const std::vector<float>& values) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

}  // namespace

void PlainNetwork::find_gradients() {
  const std::size_t samples = sums_.size();
  for (std::size_t l = gradients_.size(); l < network_.layers.size(); ++l) {
    const std::size_t weights = std::size_t{network_.layers[l].rows()} * network_.layers[l].neurons;
    for (auto* each : {&gradients_, &first_, &second_}) each->emplace_back(weights);
  }
  of_states_.assign(network_.layers.size(), {});
  of_spikes_.assign(network_.layers.size() + 1, std::vector<Values>(samples));
  copies_.assign(network_.layers.size(), {});
  for (std::size_t l = 0; l < network_.layers.size(); ++l) {
    of_states_[l].assign(samples, Values(network_.layers[l].neurons));
    const std::size_t copies = std::min<std::size_t>(setting_.contexts, samples);
    copies_[l].assign(copies, Values(gradients_[l].size()));
  }
  of_second_ = of_inputs_ = of_states_;
  for (std::uint32_t t = setting_.time_steps; t-- > 0;) step_back(t);
  for (std::size_t l = 0; l < network_.layers.size(); ++l) {
    gradients_[l] = copies_[l].front();
    for (std::size_t c = 1; c < copies_[l].size(); ++c) add(gradients_[l], copies_[l][c]);
  }
}

void PlainNetwork::update() {
  learning_.next();
  for (std::size_t l = 0; l < network_.layers.size(); ++l) {
    Layer& layer = network_.layers[l];
    const std::size_t inputs = layer.weights.size();
    for (std::size_t i = 0; i < gradients_[l].size(); ++i)
      learning_.follow(gradients_[l][i], first_[l][i], second_[l][i],
                       i < inputs ? layer.weights[i] : layer.recurrent_weights[i - inputs]);
  }
}

void PlainNetwork::step_back(std::uint32_t step) {
  const std::size_t samples = sums_.size();
  const VectorId last = static_cast<VectorId>(network_.layers.size());
  for (std::size_t b = 0; b < samples && plan_.lists[last].capacity > 0; ++b) {
    const List& list = lists_[last][b][step + 1];
    Values& of_spike = of_spikes_[last][b];
    if (!network_.layers.back().recurrent()) of_spike.clear();
    of_spike.resize(list.ids.size());
    for (std::size_t i = 0; i < list.ids.size(); ++i)
      of_spike[i] += logit_gradients_[b][list.ids[i]];
  }
  threads_.for_ranges(samples, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t b = first; b < end; ++b) {
      for (std::uint32_t l = 0; l < network_.layers.size(); ++l) state_gradient(l, b, step);
      find_spike_gradients(b, step);
    }
  });
  constexpr std::size_t kTiles = 16;  // per work item of a thread
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l)
    threads_.for_ranges(plan_.layers[l].tiles, kTiles, [&](std::size_t first, std::size_t end) {
      for (std::size_t tile = first; tile < end; ++tile) add_weight_gradients(l, word(tile), step);
    });
}

void PlainNetwork::state_gradient(std::uint32_t layer, std::size_t sample, std::uint32_t step) {
  const Layer& what = network_.layers[layer];
  Values& of_u = of_states_[layer][sample];
  Values& of_second = of_second_[layer][sample];
  Values& of_input = of_inputs_[layer][sample];
  const bool reads_out = what.kind == NeuronKind::integrator;
  for (std::uint32_t k = 0; k < what.neurons; ++k) {
    if (reads_out) {
      of_u[k] = std::fma(what.alpha[k], of_u[k], logit_gradients_[sample][k]);
      continue;
    }
    const bool spiked = position(layer, sample, step + 1, k) > what.threshold[k];
    of_u[k] = spiked ? 0.0F : what.alpha[k] * of_u[k];
    if (what.kind == NeuronKind::cuba_lif) of_second[k] = what.beta[k] * of_second[k];
    if (what.kind == NeuronKind::adaptive) of_second[k] = what.rho[k] * of_second[k];
  }
  if (!reads_out) {
    const List& list = lists_[layer + 1][sample][step + 1];
    const Values& of_spike = of_spikes_[layer + 1][sample];
    const States& states = states_[layer][sample];
    for (std::size_t i = 0; i < list.ids.size() && !of_spike.empty(); ++i) {
      const std::uint32_t k = list.ids[i];
      const float u = states.u[step + 1][k];
      if (what.kind == NeuronKind::adaptive) {
        // Unlike position(), this rounds once.
        const float v = std::fma(-what.strength[k], states.second[step + 1][k], u);
        const float behind = of_second[k] * ((1 - what.rho[k]) / what.rho[k]);
        const float of_v =
            (of_spike[i] + behind) * surrogate(v, what.threshold[k], setting_.steepness);
        of_u[k] += of_v;
        of_second[k] = std::fma(-what.strength[k], of_v, of_second[k]);
      } else {
        const float slope = surrogate(u, what.threshold[k], setting_.steepness);
        of_u[k] = std::fma(of_spike[i], slope, of_u[k]);
      }
    }
  }
  for (std::uint32_t k = 0; k < what.neurons; ++k) {
    if (what.kind == NeuronKind::cuba_lif)
      of_input[k] = of_second[k] = std::fma(what.gain[k], of_u[k], of_second[k]);
    else
      of_input[k] = what.gain[k] * of_u[k];
  }
}

/// Adds the weight gradients of one tile's neurons, each sample to its worker's copy.
void PlainNetwork::add_weight_gradients(std::uint32_t layer, std::uint32_t tile,
                                        std::uint32_t step) {
  const Layer& what = network_.layers[layer];
  const std::uint32_t per_tile = plan_.layers[layer].neurons_per_tile;
  const std::uint32_t begin = tile * per_tile;
  const std::uint32_t end = std::min(begin + per_tile, what.neurons);
  const std::uint32_t copies = gradient_copies(end - begin, setting_.contexts, plan_.batch);
  std::uint32_t first_row = 0;
  for (const VectorId v : Plan::sources(network_, layer)) {
    for (std::size_t b = 0; b < sums_.size(); ++b) {
      const List& list = lists_[v][b][step];
      const Values& of_input = of_inputs_[layer][b];
      Values& sum = copies_[layer][b % copies];
      for (std::uint32_t i = 0; i < list.spikes; ++i) {
        float* const row = &sum[std::size_t{first_row + list.ids[i]} * what.neurons];
        for (std::uint32_t k = begin; k < end; ++k) row[k] += of_input[k];
      }
    }
    first_row = what.inputs;
  }
}

/// For each id of the list, the sum over one tile's neurons of weight times gradient, by pairs.
PlainNetwork::Values PlainNetwork::dots(const Reduction& reduction, std::size_t sample,
                                        const List& list, std::uint32_t tile) const {
  const Layer& what = network_.layers[reduction.layer];
  const std::uint32_t per_tile = plan_.layers[reduction.layer].neurons_per_tile;
  const std::uint32_t begin = tile * per_tile;
  const std::uint32_t end = std::min(begin + per_tile, what.neurons);
  const bool own = reduction.vector != reduction.layer;
  const Values& weights = own ? what.recurrent_weights : what.weights;
  const Values& of_input = of_inputs_[reduction.layer][sample];
  Values dots(list.ids.size());
  for (std::size_t i = 0; i < dots.size(); ++i) {
    const float* row = &weights[std::size_t{list.ids[i]} * what.neurons];
    for (std::uint32_t k = begin; k < end; k += 2) {
      const float second = k + 1 < end ? row[k + 1] * of_input[k + 1] : 0.0F;
      const float both = row[k] * of_input[k] + second;
      dots[i] = k == begin ? both : dots[i] + both;
    }
  }
  return dots;
}

/// Sums the gradients of the previous step's spikes: tiles within groups, then groups.
void PlainNetwork::find_spike_gradients(std::size_t sample, std::uint32_t step) {
  std::vector<bool> begun(of_spikes_.size());
  const auto add_to = [&](VectorId v, const Values& values) {
    if (begun[v])
      add(of_spikes_[v][sample], values);
    else
      of_spikes_[v][sample] = values;
    begun[v] = true;
  };
  for (const Reduction& reduction : plan_.reductions) {
    const std::uint32_t tiles = plan_.layers[reduction.layer].tiles;
    const List& list = lists_[reduction.vector][sample][step];
    for (std::uint32_t g = 0; g < reduction.groups; ++g) {
      const Interval members = reduction.members(g, tiles);
      Values sum;
      for (std::uint64_t m = members.begin; m < members.end; ++m) {
        const Values one = dots(reduction, sample, list, word(m));
        if (reduction.groups == 1)
          add_to(reduction.vector, one);
        else if (m == members.begin)
          sum = one;
        else
          add(sum, one);
      }
      if (reduction.groups > 1) add_to(reduction.vector, sum);
    }
  }
}

}  // namespace tessera::snn
