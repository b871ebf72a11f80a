#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "kernels/gemm/tensors.h"
#include "kernels/snn/dense.h"
#include "kernels/training/assembly.h"

namespace tessera::snn {

using program::BufferId;
using program::ComputeSet;
using program::Place;
using training::Assembly;
using training::bits_of;
using training::Matrix;

namespace {

/// Puts the program together: turns of training, or of looking.
class DenseBuilder {
 public:
  DenseBuilder(const Options& options, const Network& network, const Data& data,
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

  program::Program build() {
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
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const Matrix& weights = layers_[l].weights;
      program_.add_tensor(gemm::tensor_of({fmt::format("layer_{}", l), program::Role::weights,
                                           program::Type::f32, weights.rows, weights.columns},
                                          weights.lies));
    }
    return std::move(program_);
  }

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

  std::uint32_t codelet(const std::string& name) {
    const auto [entry, is_new] = codelets_.try_emplace(name);
    if (is_new) entry->second = program_.add_codelet(code_[name]);
    return entry->second;
  }

  std::vector<BufferId> history(const Matrix& like, std::uint32_t slots, std::string_view name) {
    std::vector<BufferId> buffers;
    for (std::uint32_t t = 0; t < like.tiles(); ++t)
      buffers.push_back(program_.add_buffer({TileId(t),
                                             slots * like.lies.stored.bytes_on(t),
                                             8,
                                             false,
                                             program::Category::tensors,
                                             {},
                                             name}));
    return buffers;
  }

  void add_matrices() {
    const std::uint32_t batch = options_.batch;
    for (std::uint32_t t = 0; t < machine_.tiles; ++t)
      clocks_.push_back(
          program_.add_buffer({TileId(t), 8, 8, false, program::Category::tensors, {}, "clock"}));
    events_ = history(inputs_, options_.time_steps + 1, "events of all steps");
    if (options_.feed == Feed::device) {
      for (std::uint32_t t = 0; t < inputs_.tiles(); ++t) {
        const std::uint32_t bytes = inputs_.lies.stored.bytes_on(t);
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

  LayerMatrices make_layer(const Layer& layer) {
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
  std::function<void(std::span<std::byte>, std::uint64_t)> filling(std::uint32_t t) const {
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

  program::HostTransfer feed() {
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

  [[nodiscard]] program::HostTransfer told() const {
    constexpr std::uint32_t kBytes = 8;
    return {std::string(training::kTrainingResults),
            program::HostTransfer::Direction::write,
            {{{totals_}, kBytes}}};
  }

  using Leading = std::function<std::vector<program::Argument>(std::uint32_t tile)>;
  void elementwise(ComputeSet& set, const std::string& name, const Matrix& like,
                   const Leading& leading) {
    for (std::uint32_t t = 0; t < like.tiles(); ++t) {
      program::Vertex vertex{TileId(t), codelet(name), program::Executor::all_workers, 0,
                             leading(t)};
      const kernels::EvenSplit words{like.lies.stored.bytes_on(t) / 8, machine_.tile.contexts};
      for (std::uint32_t w = 0; w < machine_.tile.contexts; ++w) {
        vertex.arguments.emplace_back(word(words.begin(w) * 8));
        vertex.arguments.emplace_back(word(words.part(w).size()));
      }
      set.vertices.push_back(std::move(vertex));
    }
  }

  void clear(ComputeSet& set, const Matrix& like, const std::vector<BufferId>& buffers) {
    for (std::uint32_t t = 0; t < like.tiles(); ++t) {
      const std::uint32_t words = like.lies.stored.bytes_on(t) / 8;
      set.vertices.push_back({TileId(t),
                              codelet("snn_clear"),
                              program::Executor::all_workers,
                              0,
                              {Place{buffers[t]}, words, ceil_div(words, machine_.tile.contexts)}});
    }
  }
  void clear(ComputeSet& set, const Matrix& matrix) { clear(set, matrix, matrix.lies.buffers); }

  void tick(ComputeSet& set, std::uint32_t keep, std::uint32_t change) {
    for (std::uint32_t t = 0; t < machine_.tiles; ++t)
      set.vertices.push_back({TileId(t),
                              codelet("snn_tick"),
                              program::Executor::one_worker,
                              0,
                              {Place{clocks_[t]}, keep, change}});
  }

  void begin() {
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

  std::vector<program::Argument> with_history(const std::vector<BufferId>& states,
                                              const Matrix& like, std::uint32_t t,
                                              std::vector<program::Argument> more) const {
    std::vector<program::Argument> all{Place{states[t]}, like.lies.stored.bytes_on(t),
                                       Place{clocks_[t]}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  void fetch_inputs(ComputeSet& set) {
    elementwise(set, "snn_dense_inputs", inputs_, [&](std::uint32_t t) {
      return with_history(events_, inputs_, t, {Place{inputs_.lies.buffers[t]}, 0U});
    });
  }

  /// All layers take the spikes of the step before.
  void forward() {
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
      elementwise(set, reads_out ? "snn_dense_integrator" : "snn_dense_lif", layer.sums,
                  [&](std::uint32_t t) {
                    program::Argument totals = 0U;
                    if (last) totals = Place{logits_.lies.buffers[t]};
                    return with_history(
                        layer.states, layer.sums, t,
                        {Place{layer.sums.lies.buffers[t]}, Place{layer.spikes.lies.buffers[t]},
                         totals, bits_of(double(what.alpha[0])), bits_of(double(what.gain[0])),
                         bits_of(threshold)});
                  });
    }
    tick(set, ~0U, 1);
    step(std::move(set));
  }

  void lose() {
    const Assembly::Loss loss{network_.outputs(), labels_};
    totals_ = assembly_.cross_entropy(logits_, loss,
                                      options_.train ? &layers_.back().of_spikes : nullptr);
  }

  void turn_round() {
    ComputeSet set{"turn round", {}};
    tick(set, 0, options_.time_steps - 1);
    step(std::move(set));
    for (std::size_t l = 1; l < layers_.size(); ++l)
      assembly_.transpose(layers_[l].weights, layers_[l].turned);
  }

  void backward() {
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

  void add_state_gradient(ComputeSet& set, std::size_t l) {
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

  void update() {
    assembly_.schedule(options_.learning, rates_);
    for (const LayerMatrices& layer : layers_)
      assembly_.update(options_.learning, rates_, layer.weights, layer.gradients, *layer.moments);
  }

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

}  // namespace

program::Program build_dense(const Options& options, const Network& network, const Data& data,
                             const std::vector<DenseLayer>& layers, const MachineConfig& machine) {
  return DenseBuilder(options, network, data, layers, machine).build();
}

}  // namespace tessera::snn
