#include "kernels/snn/dense_program.h"

#include "kernels/gemm/tensors.h"
#include "kernels/snn/program.h"

namespace tessera::snn {

using program::Place;
using training::Arguments;
using training::bits_of;

DenseBuilder::DenseBuilder(program::Program& program, const Snn& snn)
    : Assembly(program, snn.machine_, program::Type::f32, "snn"),
      options_(snn.options_),
      network_(snn.network_),
      data_(snn.data_),
      turns_(snn.turns_),
      plans_(*snn.dense_),
      inputs_(matrix(options_.batch, network_.inputs(), "events")),
      logits_(matrix(options_.batch, network_.outputs(), "logits")) {}

program::Program DenseBuilder::build(const Snn& snn) {
  program::Program program(snn.machine_.tiles);
  DenseBuilder(program, snn).add_all();
  return program;
}

void DenseBuilder::add_all() {
  add_matrices();
  repeat(turns_.steps, [this] {
    if (options_.fed()) add_step(feed());
    begin();
    repeat(options_.time_steps, [this] { forward(); });
    const BufferId totals = cross_entropy(logits_, {network_.outputs(), options_.batch}, labels_,
                                          options_.train ? &layers_.back().of_spikes : nullptr);
    if (options_.train) {
      turn_round();
      repeat(options_.time_steps, [this] { backward(); });
      add_update();
    }
    add_step(training::telling(false, {totals}));
  });
  for (std::uint32_t l = 0; l < layers_.size(); ++l) add_weights(l);
}

/// Weights, and what the optimiser keeps of them.
void DenseBuilder::add_weights(std::uint32_t layer) {
  const LayerMatrices& its = layers_[layer];
  const auto add = [&](Kept kept, const Matrix& matrix) {
    const auto role = kept == Kept::weights ? program::Role::weights : program::Role::result;
    program().add_tensor(gemm::tensor_of(
        {weights_name(layer, false, kept), role, program::Type::f32, matrix.rows, matrix.columns},
        matrix.lies));
  };
  add(Kept::weights, its.weights);
  if (its.first_moments) add(Kept::first_moments, *its.first_moments);
  if (its.second_moments) add(Kept::second_moments, *its.second_moments);
}

std::vector<BufferId> DenseBuilder::history(const Matrix& like, std::string_view name, bool given) {
  const std::uint64_t slots = std::uint64_t{options_.time_steps} + 1;
  std::vector<BufferId> buffers;
  for (std::uint32_t t = 0; t < like.tiles(); ++t)
    buffers.push_back(buffer(t, slots * like.lies.stored.bytes_on(t), name,
                             given ? first_batch(t) : nullptr, given));
  return buffers;
}

void DenseBuilder::add_matrices() {
  for (std::uint32_t t = 0; t < machine().tiles; ++t) clocks_.push_back(buffer(t, 8, "clock"));
  events_ = history(inputs_, "events of all steps", !options_.fed());
  std::function<std::uint32_t(std::uint32_t)> label;
  if (!options_.fed()) label = [&data = data_](std::uint32_t b) { return data.label(b); };
  for (const Layer& layer : network_.layers) layers_.push_back(make_layer(layer));
  if (options_.train) rates_ = training::rates(*this, options_.learning, machine().tiles);
  labels_ = labels(options_.batch, label);
}

DenseBuilder::LayerMatrices DenseBuilder::make_layer(const Layer& layer) {
  const auto of_batch = [&](const char* name) {
    return matrix(options_.batch, layer.neurons, name);
  };
  const auto of_weights = [&](const char* name, const Fill& fill = {}) {
    return matrix(layer.inputs, layer.neurons, name, fill, static_cast<bool>(fill));
  };
  const auto weight = [&layer](std::uint64_t row, std::uint64_t column) {
    return double(layer.weight(word(row), word(column)));
  };
  const Matrix weights = of_weights("weights", weight);
  const Matrix sums = of_batch("sums");
  LayerMatrices made{weights,
                     sums,
                     of_batch("spikes"),
                     history(sums, "states of all steps", false),
                     matrix(layer.neurons, layer.inputs, "weights transposed"),
                     of_weights("weight gradients"),
                     of_batch("state gradients"),
                     of_batch("spike gradients"),
                     of_batch("input gradients"),
                     {},
                     {}};
  if (!options_.train) return made;
  const auto zero = [](std::uint64_t, std::uint64_t) { return 0.0; };
  made.first_moments = of_weights("first moments", zero);
  if (options_.learning.adam()) made.second_moments = of_weights("second moments", zero);
  return made;
}

std::function<void(std::span<std::byte>, std::uint64_t)> DenseBuilder::filling(
    std::uint32_t t) const {
  const std::uint32_t bytes = inputs_.lies.stored.bytes_on(t);
  const std::uint64_t first = inputs_.lies.stored.begin(t) / 4;
  return [&data = data_, bytes, first, pitch = inputs_.pitch, of = turns_.training,
          steps = options_.time_steps](std::span<std::byte> into, std::uint64_t number) {
    training::fill_zeros(into);
    const std::uint64_t last = first + bytes / 4;
    for (std::uint64_t row = first / pitch; row * pitch < last && row < of.batch; ++row) {
      for (std::uint32_t step = 0; step < steps; ++step) {
        for (const std::uint32_t id : data.events(of.sample(number, row), step)) {
          const std::uint64_t at = row * pitch + id;
          const float one = 1;
          if (at >= first && at < last)
            std::memcpy(into.data() + std::uint64_t{step} * bytes + (at - first) * 4, &one,
                        sizeof one);
        }
      }
    }
  };
}

training::Contents DenseBuilder::first_batch(std::uint32_t t) const {
  return [fill = filling(t)](std::span<std::byte> into) { fill(into, 0); };
}

program::HostTransfer DenseBuilder::feed() {
  program::HostTransfer transfer{"events", program::HostTransfer::Direction::read, {}};
  for (std::uint32_t t = 0; t < inputs_.tiles(); ++t)
    transfer.pieces.push_back(
        {{events_[t]}, (options_.time_steps + 1) * inputs_.lies.stored.bytes_on(t), filling(t)});
  add_feed(transfer, labels_, options_.batch,
           [&data = data_, of = turns_.training](std::uint64_t number, std::uint32_t row) {
             return data.label(of.sample(number, row));
           });
  return transfer;
}

void DenseBuilder::clear(ComputeSet& set, const std::vector<BufferId>& buffers,
                         const Matrix& like) {
  for (std::uint32_t t = 0; t < like.tiles(); ++t) {
    const std::uint32_t words = like.lies.stored.bytes_on(t) / 8;
    set.vertices.push_back(
        all(t, "snn_clear", {Place{buffers[t]}, words, ceil_div(words, contexts())}));
  }
}

void DenseBuilder::tick(ComputeSet& set, std::uint32_t keep, std::uint32_t change) {
  for (std::uint32_t t = 0; t < machine().tiles; ++t)
    set.vertices.push_back(one(t, "snn_tick", {Place{clocks_[t]}, keep, change}));
}

void DenseBuilder::begin() {
  ComputeSet set{"begin", {}};
  tick(set, 0, 0);
  for (const LayerMatrices& layer : layers_) {
    clear(set, layer.states, layer.sums);
    clear(set, layer.spikes.lies.buffers, layer.spikes);
    if (!options_.train) continue;
    for (const Matrix* each : {&layer.gradients, &layer.of_states, &layer.of_spikes})
      clear(set, each->lies.buffers, *each);
  }
  clear(set, logits_.lies.buffers, logits_);
  add_step(std::move(set));
}

void DenseBuilder::add_stepwise(ComputeSet& set, const std::string& name, const Matrix& like,
                                const std::vector<BufferId>& states, const Leading& more) {
  add_elementwise(set, name, like, [&](std::uint32_t t) {
    Arguments arguments{Place{states[t]}, like.lies.stored.bytes_on(t), Place{clocks_[t]}};
    const Arguments others = more(t);
    arguments.insert(arguments.end(), others.begin(), others.end());
    return arguments;
  });
}

void DenseBuilder::fetch_inputs(ComputeSet& set) {
  add_stepwise(set, "snn_dense_inputs", inputs_, events_, [&](std::uint32_t t) {
    return Arguments{Place{inputs_.lies.buffers[t]}, 0U};
  });
}

void DenseBuilder::forward() {
  ComputeSet fetching{"events", {}};
  fetch_inputs(fetching);
  add_step(std::move(fetching));
  for (std::size_t l = 0; l < layers_.size(); ++l)
    product(plans_[l].forward.geometry, l == 0 ? inputs_ : layers_[l - 1].spikes,
            layers_[l].weights, layers_[l].sums);
  ComputeSet set{"update states", {}};
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& what = network_.layers[l];
    const LayerMatrices& layer = layers_[l];
    const bool reads_out = what.kind == NeuronKind::integrator;
    add_stepwise(set, reads_out ? "snn_dense_integrator" : "snn_dense_lif", layer.sums,
                 layer.states, [&](std::uint32_t t) {
                   program::Argument totals = 0U;
                   if (l + 1 == layers_.size()) totals = Place{logits_.lies.buffers[t]};
                   return Arguments{Place{layer.sums.lies.buffers[t]},
                                    Place{layer.spikes.lies.buffers[t]},
                                    totals,
                                    bits_of(double(what.alpha[0])),
                                    bits_of(double(what.gain[0])),
                                    bits_of(reads_out ? 0.0 : double(what.threshold[0]))};
                 });
  }
  tick(set, ~0U, 1);
  add_step(std::move(set));
}

}  // namespace tessera::snn
