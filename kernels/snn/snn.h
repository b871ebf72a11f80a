#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/snn/data.h"
#include "kernels/snn/network.h"
#include "kernels/snn/plan.h"
#include "kernels/training/results.h"
#include "kernels/training/statement.h"
#include "sim/plan/search.h"
#include "sim/program/workload.h"

/// The workload `snn`: layers of spiking neurons that pass on lists of spikes, trained by
/// backpropagation through time with a surrogate gradient on the listed neurons (arXiv 2311.04386),
/// loss and all on the machine, in f32.
namespace tessera::snn {

/// Outputs of the classes: spike counts of their neurons, or sums over time of the states of
/// read-out neurons.
enum class Loss : std::uint8_t { spike_count, membrane };
inline constexpr config::Names<Loss, 2> kLosses{
    {{"spike_count", Loss::spike_count}, {"membrane", Loss::membrane}}};

/// Form of spikes: lists of ids, or a 0 or 1 per neuron.
enum class Activations : std::uint8_t { sparse, dense };

/// States for the backward pass through time: all steps are stored, or only some, from which the
/// others are recomputed.
enum class States : std::uint8_t { stored, recomputed };

/// Parameters of all neurons of a network made from options; see network.h.
struct NeuronOptions {
  NeuronKind kind = NeuronKind::lif;
  double alpha = 0.95;
  double threshold = 1;
  double second_threshold = 0.9;
  double beta = 0.8;
  double rho = 0.97;
  double strength = 0.5;
  bool recurrent = false;  ///< hidden layers also receive their own spikes
};
void describe(config::Fields& fields, NeuronOptions& neuron);

struct Options : training::Course {
  Options() { batch = 48; }

  std::string network;         ///< .nir file; empty: of layers, neuron and weights
  double step_seconds = 1e-4;  ///< time step of such a file
  std::vector<std::uint32_t> layers = {1466, 1466, 10};
  NeuronOptions neuron;
  DataOptions data;
  Activations activations = Activations::sparse;
  double max_activity = 0.05;
  std::uint32_t time_steps = 100;
  Loss loss = Loss::spike_count;
  States states = States::stored;
  std::uint32_t checkpoint_steps = 0;  ///< for recomputed states; 0: chosen
  double steepness = 10;               ///< beta of the surrogate
  double weight_scale = 0;  ///< weights lie within this times sqrt(6 / inputs); 0: chosen
  std::uint32_t neurons_per_tile = 0;
  PlanKeys plan;
};
void describe(config::Fields& fields, Options& options);

/// Bytes of the weights of the network that the options describe.
std::uint64_t weight_bytes(const Options& options, std::uint32_t inputs);

/// `events`: inputs that spike in a step, on average.
Network make_network(const Options& options, std::uint32_t inputs, double events = 1);

/// "; it goes with --set ...": options that fit a network read from a file; else empty.
std::string suiting(const Options& options, const Network& network);

/// Spikes of a vector in one step of one sample.
struct List {
  std::vector<std::uint32_t> ids;  ///< spikes, then carriers of gradient
  std::uint32_t spikes = 0;
  std::uint32_t left_out = 0;  ///< sum of the marks of neurons without room
};
/// Lists by vector, sample and slot. A slot holds the inputs' events of that step, a layer's spikes
/// of the step before.
using Lists = std::vector<std::vector<std::vector<List>>>;

/// Expected lists and marks of one step of some samples.
struct ActivityProfile {
  std::uint32_t step = 0;
  std::shared_ptr<const Lists> lists;
  /// Of layers, by vector, sample and neuron: kSpikeMark, kCarrierMark or 0.
  std::vector<std::vector<std::vector<std::uint32_t>>> marks;

  /// Samples repeat to fill the batch; the last slot stands for all later ones.
  [[nodiscard]] const List& stored(VectorId vector, std::uint64_t sample, std::size_t slot) const {
    const std::vector<List>& slots = of((*lists)[vector], sample);
    return slots[std::min(slot, slots.size() - 1)];
  }
  /// The list that the step receives.
  [[nodiscard]] const List& taken(VectorId vector, std::uint64_t sample) const {
    return stored(vector, sample, step);
  }
  /// The list that the step makes; for inputs the one that it receives.
  [[nodiscard]] const List& made(VectorId vector, std::uint64_t sample) const {
    return stored(vector, sample, vector == 0 ? step : step + 1);
  }
  template <class Item>
  static const Item& of(const std::vector<Item>& samples, std::uint64_t sample) {
    return samples[sample % samples.size()];
  }
};

/// Input of a network's programs.
struct Subject {
  const Options& options;
  const MachineConfig& machine;
  const training::Turns& turns;
  const Data& data;
  const Network& network;
  const std::vector<ActivityProfile>& stated;  ///< steps used for the prediction
};

struct Setting;
class PlainNetwork;

class Snn : public Workload {
 public:
  Snn(Options options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] nlohmann::ordered_json results(const TensorReader& tensors) const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  friend class SnnCheck;
  [[nodiscard]] const Options& fitting() const;
  // results.cpp
  std::uint64_t add_events(nlohmann::ordered_json& json) const;
  /// Synaptic events of spikes, and of all listed ids.
  struct SynapticEvents {
    double of_spikes = 0, of_listed = 0;
  };
  SynapticEvents add_lists(nlohmann::ordered_json& json, const TensorReader& tensors) const;
  [[nodiscard]] std::uint64_t flops_of(std::uint64_t inputs, const SynapticEvents& between) const;
  [[nodiscard]] nlohmann::ordered_json counts(std::uint64_t inputs, double between) const;
  struct Spike {
    VectorId vector;
    std::uint32_t step, neuron;
  };
  [[nodiscard]] std::vector<Spike> spikes_of(const TensorReader& tensors,
                                             std::uint32_t sample) const;
  [[nodiscard]] nlohmann::ordered_json raster(const TensorReader& tensors) const;
  [[nodiscard]] Setting setting() const;
  void expect();
  [[nodiscard]] ActivityProfile stated_of(const PlainNetwork& network, std::uint64_t samples,
                                          std::uint32_t step) const;
  /// Chooses plan_ and returns its prediction.
  plan::Found choose_plan(MachineCosts& costs);
  [[nodiscard]] plan::Described describe(const Plan& plan) const;
  /// `memory`: bytes by purpose.
  [[nodiscard]] nlohmann::ordered_json facts_of(nlohmann::ordered_json memory) const;
  [[nodiscard]] std::uint64_t flops() const;
  [[nodiscard]] Subject subject() const {
    return {options_, machine_, turns_, data_, network_, stated_};
  }
  /// Neurons per tile given by an option or a pinned plan; 0: not given.
  [[nodiscard]] std::uint32_t given_neurons() const;
  /// `neurons_per_tile` 0: the fewest that the number of tiles allows.
  [[nodiscard]] std::vector<Plan> candidates(bool in_pairs, std::uint32_t neurons_per_tile,
                                             MachineCosts& costs) const;
  [[nodiscard]] plan::Found cheapest(const std::vector<Plan>& plans, plan::Pricing& pricing) const;
  struct Chosen {
    Plan plan;
    plan::Found found;
  };
  [[nodiscard]] Chosen choose(std::uint32_t neurons_per_tile, plan::Pricing& pricing) const;
  void require_room() const;
  /// Adds the tensors of streams, labels and reported losses.
  void add_tensors(plan::Description& description) const;
  Options options_;
  MachineConfig machine_;
  training::Turns turns_;
  Data data_;
  Network network_;
  Plan plan_;
  /// Some steps of the first samples, spread from beginning to end: the prediction is the machine's
  /// time for these.
  std::vector<ActivityProfile> stated_;
  std::shared_ptr<const std::vector<training::DensePlan>> dense_;  ///< null: sparse
  std::shared_ptr<const training::TileCode> code_;                 ///< for dense activations
};

}  // namespace tessera::snn
