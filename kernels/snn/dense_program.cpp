#include <cstring>

#include "kernels/gemm/storage.h"
#include "kernels/snn/program.h"
#include "kernels/training/loss.h"

namespace tessera::snn {

using plan::Tile;
using training::Arguments;
using training::bits_of;
using training::CallsOf;
using training::MatrixArray;

namespace {

class DenseStatement {
 public:
  DenseStatement(plan::Description& description, const Subject& subject,
                 const std::vector<training::DensePlan>& plans, const training::TileCode& code)
      : d_(description),
        subject_(subject),
        options_(subject.options),
        network_(subject.network),
        all_{description.tiles()},
        plans_(plans),
        steps_(description, subject.machine, code, plans.front().padding),
        inputs_(steps_.matrix(options_.batch, network_.inputs(), "events")),
        logits_(steps_.matrix(options_.batch, network_.outputs(), "logits")) {}

  /// Returns the tiles that represent all others.
  std::vector<Tile> state() {
    add_arrays();
    d_.repeat(subject_.turns.steps, [this] {
      if (options_.fed()) feed();
      begin();
      d_.repeat(options_.time_steps, [this] { forward(); });
      const BufferId totals =
          training::cross_entropy(steps_, logits_, {network_.outputs(), options_.batch}, labels_,
                                  options_.train ? &layers_.back().of_spikes : nullptr);
      if (options_.train) {
        turn_round();
        d_.repeat(options_.time_steps, [this] { backward(); });
        update_weights();
      }
      training::tell(d_, training::kTrainingResults, {totals});
    });
    for (std::uint32_t l = 0; l < layers_.size(); ++l) add_weights(l);
    return steps_.representatives();
  }

 private:
  struct LayerArrays {
    MatrixArray weights, sums, spikes;
    BufferId states;  ///< of all steps, on the tiles of `sums`
    // Training:
    MatrixArray turned, gradients, of_states, of_spikes, of_inputs;
    training::Parameters kept;  ///< weights with their optimiser state
  };

  [[nodiscard]] training::Codelet code(const std::string& name) const {
    return training::Codelet::of(own_code_, d_, name, steps_.contexts());
  }

  void add_arrays() {
    clock_ = steps_.array("clock", [](Tile) { return 8; });
    events_ = steps_.batch_array("events of all steps", events(), all_, options_.fed(), true);
    for (const Layer& layer : network_.layers) layers_.push_back(make_layer(layer));
    if (options_.train)
      rate_ = training::rate_array(steps_, options_.learning, subject_.machine.tiles);
    labels_ = steps_.batch_array("labels", labels(), all_, options_.fed(), false);
  }

  /// Bytes of a matrix at all time steps.
  [[nodiscard]] training::Bytes at_all_steps(const MatrixArray& like) const {
    return [bytes = like.bytes(), slots = std::uint64_t{options_.time_steps} + 1](Tile tile) {
      return slots * bytes(tile);
    };
  }

  LayerArrays make_layer(const Layer& layer) {
    const auto of_batch = [&](const char* name) {
      return steps_.matrix(options_.batch, layer.neurons, name);
    };
    const auto of_weights = [&](const char* name, const training::Statement::Fill& fill = {}) {
      return steps_.matrix(layer.inputs, layer.neurons, name, fill, static_cast<bool>(fill));
    };
    const auto weight = [&layer](std::uint64_t row, std::uint64_t column) {
      return double(layer.weight(word(row), word(column)));
    };
    const MatrixArray weights = of_weights("weights", weight);
    const MatrixArray sums = of_batch("sums");
    LayerArrays made{weights,
                     sums,
                     of_batch("spikes"),
                     steps_.array("states of all steps", at_all_steps(sums)),
                     steps_.matrix(layer.neurons, layer.inputs, "weights transposed"),
                     of_weights("weight gradients"),
                     of_batch("state gradients"),
                     of_batch("spike gradients"),
                     of_batch("input gradients"),
                     {}};
    if (!options_.train) return made;
    made.kept = training::ParameterMaker(steps_, &options_.learning, all_, {}).around(made.weights);
    made.kept.gradient = made.gradients.array;
    return made;
  }

  /// Adds the tensors of weights and of the optimiser's state.
  void add_weights(std::uint32_t layer) {
    const MatrixArray& like = layers_[layer].weights;
    const auto add = [&](Kept kept, BufferId array) {
      const auto role = kept == Kept::weights ? program::Role::weights : program::Role::result;
      d_.tensor(gemm::tensor_of(
          {weights_name(layer, false, kept), role, program::Type::f32, {like.rows, like.columns}},
          like.stored, array));
    };
    add(Kept::weights, like.array);
    if (!options_.train) return;
    add(Kept::first_moments, layers_[layer].kept.first);
    if (options_.learning.adam()) add(Kept::second_moments, layers_[layer].kept.second);
  }

  /// The inputs' zeros and ones of all steps.
  [[nodiscard]] training::Batch events() const {
    return {at_all_steps(inputs_), [&data = subject_.data, inputs = inputs_,
                                    of = subject_.turns.training, steps = options_.time_steps](
                                       Tile tile, std::span<std::byte> into, std::uint64_t number) {
              const std::uint64_t bytes = inputs.stored.bytes_on(tile);
              const std::uint64_t first = inputs.stored.begin(tile) / 4;
              training::fill_zeros(into);
              const std::uint64_t last = first + bytes / 4;
              for (std::uint64_t row = first / inputs.pitch;
                   row * inputs.pitch < last && row < of.batch; ++row)
                for (std::uint32_t step = 0; step < steps; ++step)
                  for (const std::uint32_t id : data.events(of.sample(number, row), step)) {
                    const std::uint64_t at = row * inputs.pitch + id;
                    const float one = 1;
                    if (at >= first && at < last)
                      std::memcpy(into.data() + step * bytes + (at - first) * 4, &one, sizeof one);
                  }
            }};
  }
  [[nodiscard]] training::Batch labels() const {
    return training::label_batch(steps_, options_.batch,
                                 [&data = subject_.data, of = subject_.turns.training](
                                     std::uint64_t number, std::uint32_t row) {
                                   return data.label(of.sample(number, row));
                                 });
  }

  /// Reads the next batch's events and labels from the host.
  void feed() {
    d_.host("events", program::HostTransfer::Direction::read, d_.tiles(),
            [events = events().pieces(events_), labels = labels().pieces(labels_)](
                Tile tile, plan::HostPieces& pieces) {
              events(tile, pieces);
              labels(tile, pieces);
            });
  }

  /// Clears the first step of an array whose steps are stored like `like`.
  CallsOf clear(BufferId array, const MatrixArray& like) {
    return [array, stored = like.stored, code = code("snn_clear")](Tile tile, Calls& calls) {
      const std::uint32_t words = word(stored.bytes_on(tile) / 8);
      if (words > 0)
        calls.add_by_size(code.all({Place{array}, words, ceil_div(words, code.contexts)}));
    };
  }
  CallsOf tick(std::uint32_t keep, std::uint32_t change) {
    return [vertex = code("snn_tick").one({Place{clock_}, keep, change})](Tile, Calls& calls) {
      calls.add_by_size(vertex);
    };
  }
  /// Calls codelet `name` on the elements of `like`; `states` holds their states of all steps.
  CallsOf stepwise(const std::string& name, const MatrixArray& like, BufferId states,
                   const Arguments& more) {
    return [code = code(name), stored = like.stored, states, clock = clock_, more](Tile tile,
                                                                                   Calls& calls) {
      const std::uint32_t bytes = word(stored.bytes_on(tile));
      if (bytes == 0) return;
      Arguments arguments{Place{states}, bytes, Place{clock}};
      arguments.insert(arguments.end(), more.begin(), more.end());
      calls.add_by_size(code.all_over(std::move(arguments), bytes));
    };
  }

  void begin() {
    std::vector<CallsOf> calls{tick(0, 0)};
    for (const LayerArrays& layer : layers_) {
      calls.push_back(clear(layer.states, layer.sums));
      calls.push_back(clear(layer.spikes.array, layer.spikes));
      if (!options_.train) continue;
      for (const MatrixArray* each : {&layer.gradients, &layer.of_states, &layer.of_spikes})
        calls.push_back(clear(each->array, *each));
    }
    calls.push_back(clear(logits_.array, logits_));
    steps_.compute("begin", std::move(calls));
  }

  CallsOf fetch_inputs() {
    return stepwise("snn_dense_inputs", inputs_, events_, {Place{inputs_.array}, 0U});
  }

  /// One time step: all layers receive the spikes of the step before.
  void forward() {
    steps_.compute("events", {fetch_inputs()});
    for (std::size_t l = 0; l < layers_.size(); ++l)
      steps_.product(plans_[l].forward.geometry, l == 0 ? inputs_ : layers_[l - 1].spikes,
                     layers_[l].weights, layers_[l].sums);
    std::vector<CallsOf> calls;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const Layer& what = network_.layers[l];
      const LayerArrays& layer = layers_[l];
      const bool reads_out = what.kind == NeuronKind::integrator;
      program::Argument totals = 0U;
      if (l + 1 == layers_.size()) totals = Place{logits_.array};
      calls.push_back(stepwise(reads_out ? "snn_dense_integrator" : "snn_dense_lif", layer.sums,
                               layer.states,
                               {Place{layer.sums.array}, Place{layer.spikes.array}, totals,
                                bits_of(double(what.alpha[0])), bits_of(double(what.gain[0])),
                                bits_of(reads_out ? 0.0 : double(what.threshold[0]))}));
    }
    calls.push_back(tick(~0U, 1));
    steps_.compute("update states", std::move(calls));
  }

  void turn_round() {
    steps_.compute("turn round", {tick(0, options_.time_steps - 1)});
    for (std::size_t l = 1; l < layers_.size(); ++l)
      steps_.transpose(layers_[l].weights, layers_[l].turned);
  }

  void backward() {
    std::vector<CallsOf> calls;
    for (std::size_t l = 0; l < layers_.size(); ++l) calls.push_back(state_gradient(l));
    calls.push_back(fetch_inputs());
    for (std::size_t l = 0; l + 1 < layers_.size(); ++l)
      calls.push_back(stepwise(
          "snn_dense_spikes", layers_[l].sums, layers_[l].states,
          {Place{layers_[l].spikes.array}, bits_of(double(network_.layers[l].threshold[0]))}));
    steps_.compute("gradients", std::move(calls));
    for (std::size_t l = 0; l < layers_.size(); ++l) add_weight_gradient(l);
  }

  CallsOf state_gradient(std::size_t l) {
    const Layer& what = network_.layers[l];
    const LayerArrays& layer = layers_[l];
    const bool reads_out = what.kind == NeuronKind::integrator;
    return stepwise(
        reads_out ? "snn_dense_integrator_gradient" : "snn_dense_lif_gradient", layer.sums,
        layer.states,
        {Place{layer.of_states.array}, Place{layer.of_spikes.array}, Place{layer.of_inputs.array},
         bits_of(double(what.alpha[0])), bits_of(double(what.gain[0])),
         bits_of(reads_out ? 0.0 : double(what.threshold[0])),
         bits_of(reads_out ? 0.0 : double(what.second_threshold[0])), bits_of(options_.steepness)});
  }

  void add_weight_gradient(std::size_t l) {
    const MatrixArray& x = l == 0 ? inputs_ : layers_[l - 1].spikes;
    const LayerArrays& layer = layers_[l];
    const MatrixArray turned = steps_.matrix(x.columns, x.rows, "spikes transposed");
    const MatrixArray change =
        steps_.matrix(layer.weights.rows, layer.weights.columns, "a step's gradients");
    steps_.transpose(x, turned);
    steps_.product(plans_[l].weight_gradient->geometry, turned, layer.of_inputs, change);
    std::vector<CallsOf> calls{
        training::Statement::over(code("snn_dense_add"), change.bytes(),
                                  {Place{layer.gradients.array}, Place{change.array}})};
    if (l + 1 == layers_.size()) calls.push_back(tick(~0U, ~0U));
    steps_.compute("add gradients", std::move(calls));
    if (l > 0)
      steps_.product(plans_[l].input_gradient->geometry, layer.of_inputs, layer.turned,
                     layers_[l - 1].of_spikes);
  }

  void update_weights() {
    training::schedule(steps_, options_.learning, rate_, d_.tiles());
    for (const LayerArrays& layer : layers_)
      training::update(steps_, options_.learning, rate_, {layer.kept});
  }

  plan::Description& d_;
  Subject subject_;
  const Options& options_;
  const Network& network_;
  plan::Copies all_;  ///< one copy, on all tiles
  const std::vector<training::DensePlan>& plans_;
  training::Statement steps_;
  elf::KernelCode own_code_{"snn"};
  MatrixArray inputs_, logits_;
  BufferId clock_{}, events_{}, labels_{}, rate_{};
  std::vector<LayerArrays> layers_;
};

}  // namespace

plan::Described describe_program(const Subject& subject,
                                 const std::vector<training::DensePlan>& plans,
                                 const training::TileCode& code) {
  plan::Described made(subject.machine.tiles);
  made.tiles = DenseStatement(made.description, subject, plans, code).state();
  return made;
}

}  // namespace tessera::snn
