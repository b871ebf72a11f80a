#include "kernels/snn/reference.h"

#include <algorithm>
#include <bit>

#include "kernels/gemm/bit_exact.h"
#include "kernels/snn/program.h"
#include "sim/isa/packed/activation.h"

namespace tessera::snn {

namespace {

float exp2_of(float x) {
  return std::bit_cast<float>(packed::act_exp2(std::bit_cast<std::uint32_t>(x)));
}
float log2_of(float x) {
  return std::bit_cast<float>(packed::act_log2(std::bit_cast<std::uint32_t>(x)));
}

/// Transposes a matrix of `columns` columns.
std::vector<float> transposed(const std::vector<float>& matrix, std::size_t columns) {
  const std::size_t rows = matrix.size() / columns;
  std::vector<float> turned(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i)
    turned[i % columns * rows + i / columns] = matrix[i];
  return turned;
}

/// Returns a[m, k] times b[k, n], with every rounding in the plan's order.
std::vector<float> product(const training::PlannedProduct& plan, const gemm::Product& size,
                           const std::vector<float>& a, const std::vector<float>& b,
                           HostThreads& threads) {
  const gemm::BitExact exact(plan.geometry, size, b);
  std::vector<float> c(std::size_t{size.m} * size.n);
  threads.for_ranges(size.m, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      exact.row(row, std::span(a).subspan(row * size.k, size.k), {0, size.n},
                std::span(c).subspan(row * size.n, size.n));
  });
  return c;
}

/// lowbias32 (Wellons), as in the tile code.
std::uint32_t mixed(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

std::uint32_t below(std::uint32_t chance, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{chance} * bound) >> 32);
}

/// Neurons found in one range of marks.
struct Found {
  std::vector<std::uint32_t> spikes, carriers;
};

/// Joins lists, each kind up to the capacity left, spikes before carriers; which of `found` comes
/// first depends on the step.
Found join(const std::vector<Found>& found, std::uint32_t step, std::uint32_t capacity) {
  Found all;
  const auto count = static_cast<std::uint32_t>(found.size());
  const std::uint32_t first = below(mixed(step), count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Found& one = found[(first + i) % count];
    all.spikes.insert(all.spikes.end(), one.spikes.begin(), one.spikes.end());
    all.carriers.insert(all.carriers.end(), one.carriers.begin(), one.carriers.end());
  }
  all.spikes.resize(std::min<std::size_t>(all.spikes.size(), capacity));
  all.carriers.resize(std::min<std::size_t>(all.carriers.size(), capacity - all.spikes.size()));
  return all;
}

/// Neurons in the order in which a worker scans `marks`: cyclic, from a random one (`chance`) on.
std::vector<std::uint32_t> order_of(const Plan& plan, VectorId vector, Interval marks,
                                    std::uint32_t chance) {
  const std::uint32_t each = plan.neurons_a_mark();
  const auto count = static_cast<std::uint32_t>(marks.size());
  const std::uint32_t start = below(chance, count * each);
  std::vector<std::uint32_t> order;
  const auto add = [&](std::uint64_t mark, std::uint32_t from, std::uint32_t to) {
    const Interval these = plan.marked(vector, mark);
    for (std::uint32_t place = from; place < to; ++place) {
      // In a pair the second neuron has the higher bit.
      const std::uint64_t n = these.begin + (each > 1 ? place ^ 1U : place);
      if (n < these.end) order.push_back(static_cast<std::uint32_t>(n));
    }
  };
  for (std::uint32_t i = 0; i <= count; ++i) {
    const std::uint64_t mark = marks.begin + (start / each + i) % count;
    add(mark, i == 0 ? start % each : 0, i == count ? start % each : each);
  }
  return order;
}

}  // namespace

PlainNetwork::PlainNetwork(Network& network, const Plan& plan, const Setting& setting,
                           HostThreads& threads)
    : network_(network),
      plan_(plan),
      setting_(setting),
      threads_(threads),
      learning_(setting.learning) {}

void PlainNetwork::begin(std::size_t samples) {
  const std::uint32_t slots = setting_.time_steps + 1;
  lists_.assign(network_.layers.size() + 1,
                std::vector<std::vector<List>>(samples, std::vector<List>(slots)));
  states_.assign(network_.layers.size(), std::vector<States>(samples));
  for (std::size_t l = 0; l < network_.layers.size(); ++l)
    for (States& states : states_[l]) {
      states.u.assign(slots, Values(network_.layers[l].neurons));
      states.second = states.u;
    }
  sums_.assign(samples, Values(network_.outputs()));
}

PlainNetwork::Outcome PlainNetwork::forward(const std::vector<Sample>& batch) {
  for (std::uint32_t t = 0; t < setting_.time_steps; ++t) {
    begin_step(t);
    threads_.for_ranges(batch.size(), 1, [&](std::size_t first, std::size_t end) {
      for (std::size_t b = first; b < end; ++b) step_sample(b, t);
    });
  }
  return lose(batch);
}

void PlainNetwork::step_sample(std::size_t sample, std::uint32_t step) {
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l) step_layer(l, sample, step);
  for (VectorId v = 1; v <= network_.layers.size(); ++v)
    if (plan_.lists[v].capacity > 0) lists_[v][sample][step + 1] = select(v, sample, step);
  if (network_.layers.back().kind == NeuronKind::integrator) {
    for (std::uint32_t k = 0; k < network_.outputs(); ++k)
      sums_[sample][k] += states_.back()[sample].u[step + 1][k];
  } else {
    const List& list = lists_.back()[sample][step + 1];
    for (std::uint32_t i = 0; i < list.spikes; ++i) sums_[sample][list.ids[i]] += 1;
  }
}

PlainNetwork::Values PlainNetwork::input_of(std::uint32_t layer, std::size_t sample,
                                            std::uint32_t step) const {
  const Layer& what = network_.layers[layer];
  Values input = what.bias.empty() ? Values(what.neurons) : what.bias;
  std::uint32_t first_row = 0;
  for (const VectorId v : Plan::sources(network_, layer)) {
    const List& list = lists_[v][sample][step];
    for (std::uint32_t i = 0; i < list.spikes; ++i) {
      const float* row = first_row == 0
                             ? &what.weights[std::size_t{list.ids[i]} * what.neurons]
                             : &what.recurrent_weights[std::size_t{list.ids[i]} * what.neurons];
      for (std::uint32_t k = 0; k < what.neurons; ++k) input[k] += row[k];
    }
    first_row = what.inputs;
  }
  return input;
}

float PlainNetwork::position(std::uint32_t layer, std::size_t sample, std::uint32_t slot,
                             std::uint32_t neuron) const {
  const States& states = states_[layer][sample];
  if (network_.layers[layer].kind != NeuronKind::adaptive) return states.u[slot][neuron];
  return states.u[slot][neuron] -
         network_.layers[layer].strength[neuron] * states.second[slot][neuron];
}

void PlainNetwork::step_layer(std::uint32_t layer, std::size_t sample, std::uint32_t step) {
  const Layer& what = network_.layers[layer];
  States& states = states_[layer][sample];
  const Values input = input_of(layer, sample, step);
  for (std::uint32_t k = 0; k < what.neurons; ++k) {
    const float u = states.u[step][k];
    const bool reads_out = what.kind == NeuronKind::integrator;
    const bool spiked = !reads_out && position(layer, sample, step, k) > what.threshold[k];
    const float kept = spiked ? 0.0F : what.alpha[k] * u;
    float drive = input[k];
    if (what.kind == NeuronKind::cuba_lif)
      drive = states.second[step + 1][k] = std::fma(what.beta[k], states.second[step][k], input[k]);
    if (what.kind == NeuronKind::adaptive)
      states.second[step + 1][k] =
          std::fma(what.rho[k], states.second[step][k], spiked ? 1 - what.rho[k] : 0.0F);
    states.u[step + 1][k] = std::fma(what.gain[k], drive, kept);
  }
}

/// Softmax and cross-entropy, with the tile's powers and logarithms.
PlainNetwork::Outcome PlainNetwork::lose(const std::vector<Sample>& batch) {
  Outcome outcome;
  logit_gradients_.assign(batch.size(), Values(network_.outputs()));
  Values losses;
  const float scale = static_cast<float>(1.0 / static_cast<double>(batch.size()));
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const Values& logits = sums_[b];
    const auto chosen = std::max_element(logits.begin(), logits.end());
    const float largest = *chosen;
    float sum = 0;
    Values& gradient = logit_gradients_[b];
    for (std::size_t c = 0; c < logits.size(); ++c) {
      gradient[c] = exp2_of((logits[c] - largest) * 1.4426950408889634F);
      sum += gradient[c];
    }
    const float each = scale / sum;
    for (float& g : gradient) g *= each;
    gradient[batch[b].label] -= scale;
    const float log_sum = std::fma(log2_of(sum), 0.6931471805599453F, largest);
    losses.push_back(log_sum - logits[batch[b].label]);
    outcome.right += chosen - logits.begin() == batch[b].label ? 1.0F : 0.0F;
  }
  outcome.loss = total(losses) * scale;
  return outcome;
}

PlainNetwork::Values PlainDenseNetwork::ones(VectorId vector, std::uint32_t slot) const {
  const std::size_t neurons = plan_.lists[vector].neurons;
  Values ones(lists_[vector].size() * neurons);
  for (std::size_t b = 0; b < lists_[vector].size(); ++b) {
    const List& list = lists_[vector][b][slot];
    for (std::uint32_t i = 0; i < list.spikes; ++i) ones[b * neurons + list.ids[i]] = 1;
  }
  return ones;
}

void PlainDenseNetwork::begin_step(std::uint32_t step) {
  inputs_.clear();
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l) {
    const Layer& what = network_.layers[l];
    inputs_.push_back(product(products_[l].forward,
                              {word(lists_[l].size()), what.neurons, what.inputs}, ones(l, step),
                              what.weights, threads_));
  }
}

PlainNetwork::Values PlainDenseNetwork::input_of(std::uint32_t layer, std::size_t sample,
                                                 std::uint32_t /*step*/) const {
  const std::uint32_t neurons = network_.layers[layer].neurons;
  const auto first = inputs_[layer].begin() + static_cast<std::ptrdiff_t>(sample * neurons);
  return {first, first + neurons};
}

void PlainDenseNetwork::dense_state_gradient(std::uint32_t layer, std::size_t sample,
                                             std::uint32_t step) {
  const Layer& what = network_.layers[layer];
  const Values& u = states_[layer][sample].u[step + 1];
  Values& of_u = of_states_[layer][sample];
  for (std::uint32_t k = 0; k < what.neurons; ++k) {
    of_u[k] = u[k] > what.threshold[k] ? 0.0F : what.alpha[k] * of_u[k];
    if (u[k] > what.second_threshold[k])
      of_u[k] += of_spikes_[layer + 1][sample][k] /
                 inverse_surrogate(u[k], what.threshold[k], setting_.steepness);
    of_inputs_[layer][sample][k] = what.gain[k] * of_u[k];
  }
}

void PlainDenseNetwork::step_back(std::uint32_t step) {
  const std::uint32_t samples = word(lists_.front().size());
  of_spikes_.back() = logit_gradients_;
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l)
    for (std::size_t b = 0; b < samples; ++b) {
      of_spikes_[l + 1][b].resize(network_.layers[l].neurons);
      if (network_.layers[l].kind == NeuronKind::integrator)
        state_gradient(l, b, step);
      else
        dense_state_gradient(l, b, step);
    }
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l) {
    const Layer& what = network_.layers[l];
    Values of_inputs;
    for (const Values& of_sample : of_inputs_[l])
      of_inputs.insert(of_inputs.end(), of_sample.begin(), of_sample.end());
    const Values change =
        product(*products_[l].weight_gradient, {what.inputs, what.neurons, samples},
                transposed(ones(l, step), what.inputs), of_inputs, threads_);
    for (std::size_t i = 0; i < change.size(); ++i) copies_[l].front()[i] += change[i];
    if (l == 0) continue;
    const Values of_spikes =
        product(*products_[l].input_gradient, {samples, what.inputs, what.neurons}, of_inputs,
                transposed(what.weights, what.neurons), threads_);
    for (std::size_t b = 0; b < samples; ++b)
      std::copy_n(&of_spikes[b * what.inputs], what.inputs, of_spikes_[l][b].begin());
  }
}

/// Selects the neurons that a list holds, in the order in which the plan's workers find them.

List PlainNetwork::select(VectorId vector, std::size_t sample, std::uint32_t step) const {
  const ListPlan& plan = plan_.lists[vector];
  const std::vector<std::uint32_t> marks = this->marks(vector - 1, sample, step);
  const std::uint32_t workers = setting_.contexts;
  const std::uint32_t each = plan_.neurons_a_mark();
  const std::uint32_t largest = ceil_div(plan.marks, plan.spread) * each;
  std::vector<Found> parts;
  for (std::uint32_t s = 0; s < plan.spread; ++s) {
    const Interval part = plan.part(s);
    const std::uint64_t chunk = ceil_div<std::uint64_t>(part.size(), workers);
    const std::uint64_t room = std::min<std::uint64_t>(plan.capacity, chunk * each);
    const std::uint32_t chance =
        chance_of(setting_.seed, vector, static_cast<std::uint32_t>(sample), s);
    std::vector<Found> found(workers);
    for (std::uint32_t w = 0; w < workers && w * chunk < part.size(); ++w) {
      const std::uint64_t first = part.begin + w * chunk;
      const Interval mine{first, std::min(first + chunk, part.end)};
      for (const std::uint32_t k :
           order_of(plan_, vector, mine, mixed(chance + step * 0x9e3779b9U + w))) {
        if (marks[k] == 0) continue;
        if (found[w].spikes.size() + found[w].carriers.size() == room) break;
        (marks[k] == kSpikeMark ? found[w].spikes : found[w].carriers).push_back(k);
      }
    }
    parts.push_back(
        join(found, step, plan.spread > 1 ? std::min(plan.capacity, largest) : plan.capacity));
  }
  const Found all = plan.spread > 1 ? join(parts, step, plan.capacity) : parts.front();
  List list{all.spikes, static_cast<std::uint32_t>(all.spikes.size())};
  list.ids.insert(list.ids.end(), all.carriers.begin(), all.carriers.end());
  for (const std::uint32_t mark : marks) list.left_out += mark;
  for (const std::uint32_t id : list.ids) list.left_out -= marks[id];
  return list;
}

std::vector<std::uint32_t> PlainNetwork::marks(std::uint32_t layer, std::size_t sample,
                                               std::uint32_t step) const {
  const Layer& what = network_.layers[layer];
  std::vector<std::uint32_t> marks(what.neurons);
  for (std::uint32_t k = 0; k < what.neurons; ++k) {
    const float v = position(layer, sample, step + 1, k);
    marks[k] = v > what.threshold[k] ? kSpikeMark : v > what.second_threshold[k] ? kCarrierMark : 0;
  }
  return marks;
}

}  // namespace tessera::snn
