#include "kernels/snn/dense_program.h"

#include <cstring>

#include "kernels/gemm/tensors.h"
#include "kernels/snn/program.h"

namespace tessera::snn {

using program::Place;
using training::bits_of;

DenseBuilder::DenseBuilder(const Options& options, const Network& network, const Data& data,
                           const std::vector<DenseLayer>& plans, const MachineConfig& machine)
    : options_(options),
      network_(network),
      data_(data),
      plans_(plans),
      machine_(machine),
      program_(machine.tiles),
      assembly_(program_, machine),
      code_("snn"),
      inputs_(assembly_.matrix(options.batch, network.inputs(), "events")),
      logits_(assembly_.matrix(options.batch, network.outputs(), "logits")) {}

program::Program DenseBuilder::build() {
  add_matrices();
  program::Sequence body;
  body_ = &body;
  assembly_.add_to(body);
  if (options_.feed == Feed::host) step(feed());
  begin();
  loop([this] { forward(); });
  lose();
  if (options_.train) {
    turn_round();
    loop([this] { backward(); });
    update();
  }
  step(told());
  program_.main().steps.push_back({program::Repeat{options_.steps, std::move(body)}});
  for (std::uint32_t l = 0; l < layers_.size(); ++l) add_weights(l);
  return std::move(program_);
}

/// Weights, and what the optimiser keeps of them.
void DenseBuilder::add_weights(std::uint32_t layer) {
  const auto add = [&](Kept kept, const Matrix& matrix) {
    const auto role = kept == Kept::weights ? program::Role::weights : program::Role::result;
    program_.add_tensor(gemm::tensor_of(
        {weights_name(layer, false, kept), role, program::Type::f32, matrix.rows, matrix.columns},
        matrix.lies));
  };
  const LayerMatrices& its = layers_[layer];
  add(Kept::weights, its.weights);
  if (!its.moments) return;
  add(Kept::first_moments, its.moments->first);
  if (its.moments->second) add(Kept::second_moments, *its.moments->second);
}

std::uint32_t DenseBuilder::codelet(const std::string& name) {
  const auto [entry, is_new] = codelets_.try_emplace(name);
  if (is_new) entry->second = program_.add_codelet(code_[name]);
  return entry->second;
}

std::vector<BufferId> DenseBuilder::history(const Matrix& like, std::uint32_t slots,
                                            std::string_view name) {
  std::vector<BufferId> buffers;
  for (std::uint32_t t = 0; t < like.tiles(); ++t)
    buffers.push_back(program_.add_buffer({TileId(t),
                                           std::uint64_t{slots} * like.lies.stored.bytes_on(t),
                                           8,
                                           false,
                                           program::Category::tensors,
                                           {},
                                           name}));
  return buffers;
}

void DenseBuilder::add_matrices() {
  const std::uint32_t batch = options_.batch;
  for (std::uint32_t t = 0; t < machine_.tiles; ++t)
    clocks_.push_back(
        program_.add_buffer({TileId(t), 8, 8, false, program::Category::tensors, {}, "clock"}));
  events_ = history(inputs_, options_.time_steps + 1, "events of all steps");
  if (options_.feed == Feed::device) {
    for (std::uint32_t t = 0; t < inputs_.tiles(); ++t) {
      const std::uint64_t bytes = inputs_.lies.stored.bytes_on(t);
      events_[t] = program_.add_buffer(
          {TileId(t), (options_.time_steps + 1) * bytes, 8, true, program::Category::tensors,
           [this_fill = filling(t)](std::span<std::byte> into) { this_fill(into, 0); },
           "events of all steps"});
    }
  }
  for (const Layer& layer : network_.layers) layers_.push_back(make_layer(layer));
  if (options_.train) rates_ = assembly_.rates(options_.learning, machine_.tiles);
  if (options_.feed == Feed::device)
    labels_ = assembly_.labels(batch, [&data = data_](std::uint32_t b) { return data.label(b); });
  else
    labels_ = assembly_.labels(batch);
}

DenseBuilder::LayerMatrices DenseBuilder::make_layer(const Layer& layer) {
  const std::uint32_t batch = options_.batch;
  const auto of_batch = [&](const char* name) {
    return assembly_.matrix(batch, layer.neurons, name);
  };
  const Matrix weights = assembly_.matrix(layer.inputs, layer.neurons, "weights",
                                          {[&layer](std::uint64_t row, std::uint64_t column) {
                                             return double(layer.weight(word(row), word(column)));
                                           },
                                           true});
  const Matrix sums = of_batch("sums");
  LayerMatrices made{weights,
                     sums,
                     of_batch("spikes"),
                     history(sums, options_.time_steps + 1, "states of all steps"),
                     assembly_.matrix(layer.neurons, layer.inputs, "weights transposed"),
                     assembly_.matrix(layer.inputs, layer.neurons, "weight gradients"),
                     of_batch("state gradients"),
                     of_batch("spike gradients"),
                     of_batch("input gradients"),
                     {}};
  if (options_.train) made.moments = assembly_.moments(options_.learning, weights);
  return made;
}

/// Zeros and ones of all steps, as tile `t` has them.
std::function<void(std::span<std::byte>, std::uint64_t)> DenseBuilder::filling(
    std::uint32_t t) const {
  const std::uint32_t bytes = inputs_.lies.stored.bytes_on(t);
  const std::uint64_t first = inputs_.lies.stored.begin(t) / 4;
  return [&data = data_, bytes, first, pitch = inputs_.pitch, batch = options_.batch,
          samples = options_.data.samples,
          steps = options_.time_steps](std::span<std::byte> into, std::uint64_t number) {
    std::memset(into.data(), 0, into.size());
    const std::uint64_t last = first + bytes / 4;
    for (std::uint64_t row = first / pitch; row * pitch < last && row < batch; ++row) {
      for (std::uint32_t step = 0; step < steps; ++step) {
        for (const std::uint32_t id : data.events((number * batch + row) % samples, step)) {
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

program::HostTransfer DenseBuilder::feed() {
  program::HostTransfer transfer{"events", program::HostTransfer::Direction::read, {}};
  for (std::uint32_t t = 0; t < inputs_.tiles(); ++t)
    transfer.pieces.push_back(
        {{events_[t]}, (options_.time_steps + 1) * inputs_.lies.stored.bytes_on(t), filling(t)});
  assembly_.add_feed(transfer, labels_, options_.batch,
                     [&data = data_, batch = options_.batch, samples = options_.data.samples](
                         std::uint64_t number, std::uint32_t row) {
                       return data.label((number * batch + row) % samples);
                     });
  return transfer;
}

program::HostTransfer DenseBuilder::told() const {
  constexpr std::uint32_t kBytes = 8;
  return {std::string(training::kTrainingResults),
          program::HostTransfer::Direction::write,
          {{{totals_}, kBytes}}};
}

void DenseBuilder::elementwise(ComputeSet& set, const std::string& name, const Matrix& like,
                               const Leading& leading) {
  for (std::uint32_t t = 0; t < like.tiles(); ++t) {
    program::Vertex vertex{TileId(t), codelet(name), program::Executor::all_workers, 0, leading(t)};
    const kernels::EvenSplit words{like.lies.stored.bytes_on(t) / 8, machine_.tile.contexts};
    for (std::uint32_t w = 0; w < machine_.tile.contexts; ++w) {
      vertex.arguments.emplace_back(word(words.begin(w) * 8));
      vertex.arguments.emplace_back(word(words.part(w).size()));
    }
    set.vertices.push_back(std::move(vertex));
  }
}

void DenseBuilder::clear(ComputeSet& set, const Matrix& like,
                         const std::vector<BufferId>& buffers) {
  for (std::uint32_t t = 0; t < like.tiles(); ++t) {
    const std::uint32_t words = like.lies.stored.bytes_on(t) / 8;
    set.vertices.push_back({TileId(t),
                            codelet("snn_clear"),
                            program::Executor::all_workers,
                            0,
                            {Place{buffers[t]}, words, ceil_div(words, machine_.tile.contexts)}});
  }
}

void DenseBuilder::clear(ComputeSet& set, const Matrix& matrix) {
  clear(set, matrix, matrix.lies.buffers);
}

void DenseBuilder::tick(ComputeSet& set, std::uint32_t keep, std::uint32_t change) {
  for (std::uint32_t t = 0; t < machine_.tiles; ++t)
    set.vertices.push_back({TileId(t),
                            codelet("snn_tick"),
                            program::Executor::one_worker,
                            0,
                            {Place{clocks_[t]}, keep, change}});
}

void DenseBuilder::begin() {
  ComputeSet set{"begin", {}};
  tick(set, 0, 0);
  for (const LayerMatrices& layer : layers_) {
    clear(set, layer.sums, layer.states);
    clear(set, layer.spikes);
    if (!options_.train) continue;
    clear(set, layer.gradients);
    clear(set, layer.of_states);
    clear(set, layer.of_spikes);
  }
  clear(set, logits_);
  step(std::move(set));
}

std::vector<program::Argument> DenseBuilder::with_history(
    const std::vector<BufferId>& states, const Matrix& like, std::uint32_t t,
    std::vector<program::Argument> more) const {
  std::vector<program::Argument> all{Place{states[t]}, like.lies.stored.bytes_on(t),
                                     Place{clocks_[t]}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void DenseBuilder::fetch_inputs(ComputeSet& set) {
  elementwise(set, "snn_dense_inputs", inputs_, [&](std::uint32_t t) {
    return with_history(events_, inputs_, t, {Place{inputs_.lies.buffers[t]}, 0U});
  });
}

/// All layers take the spikes of the step before.
void DenseBuilder::forward() {
  ComputeSet fetching{"events", {}};
  fetch_inputs(fetching);
  step(std::move(fetching));
  for (std::size_t l = 0; l < layers_.size(); ++l)
    assembly_.product(plans_[l].forward.geometry, l == 0 ? inputs_ : layers_[l - 1].spikes,
                      layers_[l].weights, layers_[l].sums);
  ComputeSet set{"update states", {}};
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& what = network_.layers[l];
    const LayerMatrices& layer = layers_[l];
    const bool last = l + 1 == layers_.size();
    const bool reads_out = what.kind == NeuronKind::integrator;
    const double threshold = reads_out ? 0.0 : double(what.threshold[0]);
    elementwise(
        set, reads_out ? "snn_dense_integrator" : "snn_dense_lif", layer.sums,
        [&](std::uint32_t t) {
          program::Argument totals = 0U;
          if (last) totals = Place{logits_.lies.buffers[t]};
          return with_history(
              layer.states, layer.sums, t,
              {Place{layer.sums.lies.buffers[t]}, Place{layer.spikes.lies.buffers[t]}, totals,
               bits_of(double(what.alpha[0])), bits_of(double(what.gain[0])), bits_of(threshold)});
        });
  }
  tick(set, ~0U, 1);
  step(std::move(set));
}

void DenseBuilder::lose() {
  const Assembly::Loss loss{network_.outputs(), labels_};
  totals_ =
      assembly_.cross_entropy(logits_, loss, options_.train ? &layers_.back().of_spikes : nullptr);
}

program::Program build_dense(const Options& options, const Network& network, const Data& data,
                             const std::vector<DenseLayer>& layers, const MachineConfig& machine) {
  return DenseBuilder(options, network, data, layers, machine).build();
}

}  // namespace tessera::snn
