#include "kernels/snn/snn.h"

namespace tessera::snn {

namespace {

constexpr config::Names<Activations, 2> kActivations{
    {{"sparse", Activations::sparse}, {"dense", Activations::dense}}};
constexpr config::Names<States, 2> kStates{
    {{"stored", States::stored}, {"recomputed", States::recomputed}}};
constexpr config::Names<NeuronKind, 3> kSpikingKinds{{{"lif", NeuronKind::lif},
                                                      {"cuba_lif", NeuronKind::cuba_lif},
                                                      {"adaptive", NeuronKind::adaptive}}};

}  // namespace

void describe(config::Fields& fields, NeuronOptions& neuron) {
  constexpr config::Range<double> kDecay{0, 1};
  fields.field({"kind",
                "neuron model (network.h): lif; cuba_lif: lif with a decaying current; adaptive: "
                "lif with a threshold that rises with spikes"},
               neuron.kind, kSpikingKinds);
  fields.field({"alpha", "decay: share of the state that remains after a step"}, neuron.alpha,
               kDecay);
  fields.field({"threshold", "threshold above which a neuron spikes"}, neuron.threshold,
               {-1e6, 1e6});
  fields.field(
      {"second_threshold",
       "threshold above which a neuron carries gradient; all neurons of the output layer do"},
      neuron.second_threshold, {-1e6, 1e6});
  const bool cuba = neuron.kind == NeuronKind::cuba_lif;
  const bool adaptive = neuron.kind == NeuronKind::adaptive;
  fields.field({"beta", "cuba_lif: share of the current that remains after a step", "", false,
                cuba ? "" : "kind"},
               neuron.beta, kDecay);
  fields.field({"rho", "adaptive: share of the adaptation that remains after a step", "", false,
                adaptive ? "" : "kind"},
               neuron.rho, {1e-3, 1});
  fields.field({"strength", "adaptive: factor of the adaptation added to the threshold", "", false,
                adaptive ? "" : "kind"},
               neuron.strength, {0, 1e6});
  fields.field({"recurrent", "hidden layers also receive their own spikes"}, neuron.recurrent);
  fields.require(neuron.second_threshold <= neuron.threshold, "second_threshold",
                 "found {}, allowed at most the threshold of {}", neuron.second_threshold,
                 neuron.threshold);
}

void describe(config::Fields& fields, Options& options) {
  fields.file({"network",
               "spiking network as a NIR file (.nir): layers, neurons and weights; if not given, "
               "built from the keys below; only networks whose weights are single Linear or Affine "
               "nodes can be trained"},
              options.network);
  const char* read = options.network.empty() ? "" : "network";
  fields.field(
      {"step_seconds",
       "NIR networks: time step dt of forward Euler; the voltage of a CubaLIF takes the current of "
       "the same step, a spike acts on other neurons in the next step, voltages begin at v_reset",
       "s", false, options.network.empty() ? "network" : ""},
      options.step_seconds, {1e-9, 1e3});
  fields.field(
      {"layers", "neurons of each layer after the inputs; the last layer has one neuron per class",
       "", false, read},
      options.layers, {1, 65535});
  fields.group({"neuron", "neuron model of all layers", "", false, read}, options.neuron);
  fields.group({"data", "labelled event streams"}, options.data);
  fields.field({"activations",
                "sparse: lists of spikes; dense: a 0 or 1 per neuron, and layers are products on "
                "the matrix unit"},
               options.activations, kActivations);
  const char* dense = options.activations == Activations::dense ? "activations" : "";
  if (fields.given("network") && !fields.given("max_activity")) options.max_activity = 1;
  fields.field(
      {"max_activity",
       "capacity of a list of spikes as a share of the layer's neurons, rounded to an even number, "
       "at least two; the output layer's list always holds all. Spikes beyond it are dropped, and "
       "results give their number. If not given: 0.05; 1 for NIR networks",
       "", false, dense},
      options.max_activity, {0, 1});
  fields.field({"time_steps", "number of time steps of a stream"}, options.time_steps,
               {1, 1U << 20});
  describe(fields, options, options.data.samples, options.data.test_samples, 65535,
           "folder of initial weights: layer_0.npy ... of shape [inputs, neurons], recurrent ones "
           "in layer_0_recurrent.npy ..., as written by --save and report.tensors after a run; if "
           "not given, those of the network, or seeded ones");
  fields.require(options.feed != training::Feed::external, "feed",
                 "found external, allowed device, host");
  fields.field({"loss",
                "outputs of the classes: spike counts of their neurons, or sums of their states "
                "over time, with neurons that never spike"},
               options.loss, kLosses);
  const std::string_view untrained = options.untrained();
  const std::string_view kept = dense[0] == 0 ? untrained : dense;
  fields.field({"states",
                "states for backpropagation through time: stored: all steps; recomputed: every "
                "checkpoint_steps-th step is stored and the others are recomputed from it",
                "", false, kept},
               options.states, kStates);
  fields.field({"checkpoint_steps",
                "states recomputed: time steps between stored states; 0: about the square root of "
                "time_steps",
                "", false, options.states == States::recomputed ? kept : "states"},
               options.checkpoint_steps, {0, 1U << 20});
  fields.field(
      {"steepness", "beta of the surrogate 1 / (beta |v - threshold| + 1)^2", "", false, untrained},
      options.steepness, {0, 1e6});
  fields.field({"weight_scale",
                "bound of seeded weights as a multiple of sqrt(6 / inputs); 0: chosen from the "
                "input rate so that neurons spike",
                "", false, options.weights.empty() ? read : "weights"},
               options.weight_scale, {0, 1e6});
  fields.field({"neurons_per_tile",
                "neurons per tile, with their weights and states; 0: the fewest that the number of "
                "tiles allows, or more if fewer tiles are predicted to be faster",
                "", false, dense},
               options.neurons_per_tile, {0, 65535});
  fields.group({"plan", "mapping of the network to tiles: keys of printed plans"}, options.plan);
  fields.require(dense[0] == 0 ? options.plan.products.empty() && options.plan.padding == 0
                               : !options.plan.of_lists(),
                 "plan", "found {} with activations {}, allowed {}",
                 dense[0] == 0 ? "products" : "keys of lists", dense[0] == 0 ? "sparse" : "dense",
                 dense[0] == 0 ? "keys of lists" : "products alone");
  fields.field(
      {"seed", "seed of weights, synthetic streams and the tile at which spike search begins"},
      options.seed);
  fields.require(!options.layers.empty(), "layers", "found none, allowed one or more");
}

std::uint64_t weight_bytes(const Options& options, std::uint32_t inputs) {
  if (!options.network.empty()) return 0;  // known once the file is read
  std::uint64_t weights = 0;
  for (const std::uint32_t neurons : options.layers) {
    weights += std::uint64_t{inputs} * neurons;
    if (options.neuron.recurrent) weights += std::uint64_t{neurons} * neurons;
    inputs = neurons;
  }
  return weights * sizeof(float);
}

}  // namespace tessera::snn
