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
                "how a state follows its input (network.h): lif, with a current that "
                "decays (cuba_lif), with a threshold that spikes raise (adaptive)"},
               neuron.kind, kSpikingKinds);
  fields.field({"alpha", "what is left of a state after a step"}, neuron.alpha, kDecay);
  fields.field({"threshold", "above which a neuron spikes"}, neuron.threshold, {-1e6, 1e6});
  fields.field(
      {"second_threshold", "above which a neuron carries gradient; of the output layer all do"},
      neuron.second_threshold, {-1e6, 1e6});
  const bool cuba = neuron.kind == NeuronKind::cuba_lif;
  const bool adaptive = neuron.kind == NeuronKind::adaptive;
  fields.field({"beta", "of cuba_lif: what is left of a current", "", false, cuba ? "" : "kind"},
               neuron.beta, kDecay);
  fields.field(
      {"rho", "of adaptive: what is left of the adaptation", "", false, adaptive ? "" : "kind"},
      neuron.rho, {1e-3, 1});
  fields.field({"strength", "of adaptive: what the adaptation adds to the threshold", "", false,
                adaptive ? "" : "kind"},
               neuron.strength, {0, 1e6});
  fields.field({"recurrent", "hidden layers take their own spikes too"}, neuron.recurrent);
  fields.require(neuron.second_threshold <= neuron.threshold, "second_threshold",
                 "found {}, allowed at most the threshold of {}", neuron.second_threshold,
                 neuron.threshold);
}

void describe(config::Fields& fields, Options& options) {
  fields.file(
      {"network",
       "spiking network in NIR form (.nir): layers, neurons and weights; made of the keys "
       "beside it if not given; weights of single Linear or Affine nodes alone can be trained"},
      options.network);
  const char* read = options.network.empty() ? "" : "network";
  fields.field({"step_seconds",
                "of a network in NIR form: dt of forward Euler; the voltage of a CubaLIF takes the "
                "current of the same step, a spike acts on other neurons in the next step, "
                "voltages begin at v_reset",
                "s", false, options.network.empty() ? "network" : ""},
               options.step_seconds, {1e-9, 1e3});
  fields.field({"layers", "neurons of each layer behind the inputs, the last one a class each", "",
                false, read},
               options.layers, {1, 65535});
  fields.group({"neuron", "of all layers", "", false, read}, options.neuron);
  fields.group({"data", "labelled streams of events"}, options.data);
  fields.field({"activations",
                "sparse: lists of spikes; dense: zeros and ones of all neurons, layers "
                "as products on the matrix units"},
               options.activations, kActivations);
  const char* dense = options.activations == Activations::dense ? "activations" : "";
  if (fields.given("network") && !fields.given("max_activity")) options.max_activity = 1;
  fields.field({"max_activity",
                "part of a layer's neurons that a list of spikes holds at most: an even number, "
                "two or more, and all of them at 1; a list of outputs holds all whatever this "
                "says. Others are left out, and results say how many. If not given: 0.05, of a "
                "network in NIR form 1",
                "", false, dense},
               options.max_activity, {0, 1});
  fields.field({"time_steps", "of a stream"}, options.time_steps, {1, 1U << 20});
  describe(fields, options, options.data.samples, options.data.test_samples, 65535,
           "folder of the weights to begin with: layer_0.npy ... of shape [inputs, neurons], "
           "recurrent ones in layer_0_recurrent.npy ..., as --save and report.tensors write them "
           "after a run; if not given, those of the network, or seeded ones");
  fields.require(options.feed != training::Feed::external, "feed",
                 "found external, allowed device, host");
  fields.field({"loss",
                "what the classes' outputs are: how often their neurons have spiked, or "
                "the sum of their states over time, of neurons that never spike"},
               options.loss, kLosses);
  const std::string_view untrained = options.untrained();
  const std::string_view kept = dense[0] == 0 ? untrained : dense;
  fields.field({"states",
                "for the way back through time: stored, those of all steps; recomputed, those of "
                "every checkpoint_steps-th one, from which the others are computed again",
                "", false, kept},
               options.states, kStates);
  fields.field({"checkpoint_steps",
                "of states recomputed: time steps from one kept state to the next; 0: about the "
                "square root of time_steps",
                "", false, options.states == States::recomputed ? kept : "states"},
               options.checkpoint_steps, {0, 1U << 20});
  fields.field(
      {"steepness", "beta of the surrogate 1 / (beta |v - threshold| + 1)^2", "", false, untrained},
      options.steepness, {0, 1e6});
  fields.field({"weight_scale",
                "seeded weights lie within this times sqrt(6 / inputs); 0: chosen by how many of "
                "the inputs spike, so that neurons do",
                "", false, options.weights.empty() ? read : "weights"},
               options.weight_scale, {0, 1e6});
  fields.field({"neurons_per_tile",
                "neurons whose weights and states lie on a tile; 0: the fewest "
                "for which there are tiles, or more where fewer tiles are predicted to be faster",
                "", false, dense},
               options.neurons_per_tile, {0, 65535});
  fields.group({"plan", "how the network is put on the machine: keys of printed plans"},
               options.plan);
  fields.require(dense[0] == 0 ? options.plan.products.empty() && options.plan.padding == 0
                               : !options.plan.of_lists(),
                 "plan", "found {} with activations {}, allowed {}",
                 dense[0] == 0 ? "products" : "keys of lists", dense[0] == 0 ? "sparse" : "dense",
                 dense[0] == 0 ? "keys of lists" : "products alone");
  fields.field({"seed", "of weights, synthetic streams and where tiles begin to look for spikes"},
               options.seed);
  fields.require(!options.layers.empty(), "layers", "found none, allowed one or more");
}

std::uint64_t weight_bytes(const Options& options, std::uint32_t inputs) {
  if (!options.network.empty()) return 0;  // which they are known of once it is read
  std::uint64_t weights = 0;
  for (const std::uint32_t neurons : options.layers) {
    weights += std::uint64_t{inputs} * neurons;
    if (options.neuron.recurrent) weights += std::uint64_t{neurons} * neurons;
    inputs = neurons;
  }
  return weights * sizeof(float);
}

}  // namespace tessera::snn
