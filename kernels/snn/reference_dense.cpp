#include <algorithm>

#include "kernels/gemm/bit_exact.h"
#include "kernels/snn/program.h"
#include "kernels/snn/reference.h"

namespace tessera::snn {

namespace {

/// Row after row, maybe taken as its transpose.
struct Operand {
  const std::vector<float>& values;
  std::size_t columns;  ///< as it lies
  bool transposed = false;

  [[nodiscard]] float at(std::size_t row, std::size_t column) const {
    return transposed ? values[column * columns + row] : values[row * columns + column];
  }
};

/// Without padding: [m, k] times [k, n].
struct Sizes {
  std::size_t m, k, n;
};

/// The product a b, row after row, every rounding in the plan's order.
std::vector<float> product(const training::PlannedProduct& plan, const Sizes& sizes,
                           const Operand& a, const Operand& b, HostThreads& threads) {
  const bool turned = plan.candidate.plan.stationary == gemm::Stationary::a;  // Y is C transposed
  const gemm::Roles padded = gemm::roles(plan.size, plan.candidate.plan.stationary);
  const std::size_t rows = turned ? sizes.n : sizes.m;
  const std::size_t columns = turned ? sizes.m : sizes.n;
  gemm::Finished whole{padded.rows, padded.columns, padded.depth, {}, {}, {}};
  whole.x.resize(whole.rows * whole.depth);
  whole.w.resize(whole.depth * whole.columns);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t d = 0; d < sizes.k; ++d)
      whole.x[row * whole.depth + d] = turned ? b.at(d, row) : a.at(row, d);
  for (std::size_t d = 0; d < sizes.k; ++d)
    for (std::size_t column = 0; column < columns; ++column)
      whole.w[d * whole.columns + column] = turned ? a.at(column, d) : b.at(d, column);
  const gemm::BitExact exact(plan.geometry, whole);
  std::vector<float> c(sizes.m * sizes.n);
  threads.for_ranges(rows, 1, [&](std::size_t begin, std::size_t end) {
    std::vector<float> y(columns);
    for (std::size_t row = begin; row < end; ++row) {
      exact.row(row, {0, columns}, y);
      for (std::size_t column = 0; column < columns; ++column)
        c[turned ? column * sizes.n + row : row * sizes.n + column] = y[column];
    }
  });
  return c;
}

}  // namespace

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
    inputs_.push_back(product(products_[l].forward, {lists_[l].size(), what.inputs, what.neurons},
                              {ones(l, step), what.inputs}, {what.weights, what.neurons},
                              threads_));
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
  const std::size_t samples = lists_.front().size();
  of_spikes_.back() = logit_gradients_;
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l) {
    for (std::size_t b = 0; b < samples; ++b) {
      of_spikes_[l + 1][b].resize(network_.layers[l].neurons);
      if (network_.layers[l].kind == NeuronKind::integrator)
        state_gradient(l, b, step);
      else
        dense_state_gradient(l, b, step);
    }
  }
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l) {
    const Layer& what = network_.layers[l];
    Values of_inputs;
    for (const Values& of_sample : of_inputs_[l])
      of_inputs.insert(of_inputs.end(), of_sample.begin(), of_sample.end());
    const Values change =
        product(*products_[l].weight_gradient, {what.inputs, samples, what.neurons},
                {ones(l, step), what.inputs, true}, {of_inputs, what.neurons}, threads_);
    for (std::size_t i = 0; i < change.size(); ++i) copies_[l].front()[i] += change[i];
    if (l == 0) continue;
    const Values of_spikes =
        product(*products_[l].input_gradient, {samples, what.neurons, what.inputs},
                {of_inputs, what.neurons}, {what.weights, what.neurons, true}, threads_);
    for (std::size_t b = 0; b < samples; ++b)
      std::copy_n(&of_spikes[b * what.inputs], what.inputs, of_spikes_[l][b].begin());
  }
}

}  // namespace tessera::snn
