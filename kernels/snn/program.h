#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/snn/snn.h"
#include "kernels/training/builder.h"

/// Puts the program of a network together: turns of training, then turns of testing; a turn is a
/// batch.
namespace tessera::snn {

using program::BufferId;
using program::ComputeSet;
using program::Exchange;
using program::Place;

/// A list of ids as tiles hold it: spikes, listed ones, ids.
constexpr std::uint32_t kListHeader = 2;
constexpr std::uint32_t list_words(std::uint32_t capacity) {
  return round_up(kListHeader + capacity, 2U);
}

/// What a worker or a tile has found: a header of four words, ids.
constexpr std::uint32_t kFoundHeader = 16;
constexpr std::uint32_t found_bytes(std::uint32_t capacity) {
  return round_up(kFoundHeader + 4 * capacity, 8U);
}

/// What a tile that makes lists has counted: spikes, listed ones, lists that overflowed, spikes and
/// carriers of gradient that were left out.
constexpr std::uint32_t kTotals = 5;

/// A sample's events as lists, one a step and an empty one behind.
void fill_events(const Data& data, std::uint64_t sample, std::uint32_t steps,
                 std::span<std::byte> into);

/// Gradients by neuron, of none that is listed.
void fill_unlisted(std::span<std::byte> into);

/// What neurons of a layer are made with, two by two; see tile_code.h.
constexpr std::uint32_t kPairBytes = 80;
void fill_parameters(const Layer& layer, kernels::Interval neurons, std::span<std::byte> into);

/// The same in the order in which the best plan's tile code takes it: biases, then two streams of
/// so many values a neuron.
constexpr std::uint32_t stream_values(NeuronKind kind) {
  return kind == NeuronKind::integrator ? 1
         : kind == NeuronKind::lif      ? 2
         : kind == NeuronKind::cuba_lif ? 3
                                        : 4;
}
void fill_streams(const Layer& layer, kernels::Interval neurons, std::span<std::byte> into);

/// Words of chance by which a tile that selects differs from others.
std::uint32_t chance_of(std::uint64_t seed, VectorId vector, std::uint32_t sample,
                        std::uint32_t part);

/// The tensors of a vector's lists and of what is counted: spikes_input, spikes_0, totals_0, ...
std::string lists_name(VectorId vector);
std::string totals_name(VectorId vector);

/// The tensors of a layer's weights and of what the optimiser keeps of them: layer_0,
/// layer_0_recurrent_first_moments, ... Those of SGD are its velocity, and there are no second
/// ones.
enum class Kept : std::uint8_t { weights, first_moments, second_moments };
std::string weights_name(std::uint32_t layer, bool recurrent, Kept kept = Kept::weights);

/// A tensor of words.
std::vector<std::uint32_t> words_of(const TensorReader& tensors, const std::string& name,
                                    HostThreads& threads);

class ProgramBuilder : private training::Builder {
 public:
  /// `stated`: what lists and marks hold from the beginning, for which the program is predicted;
  /// null: nothing, it is to run.
  static program::Program build(const Snn& snn, const Stated* stated);

 private:
  struct Turn {
    std::uint32_t times;
    bool trains, tests;
    training::Batches batches;
  };
  /// What the tile of some neurons holds.
  struct Neurons {
    std::uint32_t tile = 0, begin = 0, end = 0, pairs = 0;
    BufferId weights{}, parameters{}, states{}, marks{}, sums{};
    BufferId streams{}, drives{};  ///< of the best plan: parameters, sums of weights
    std::vector<BufferId> lists;   ///< received, by source
    // Training alone:
    BufferId gradients{}, state_gradients{}, inputs{}, logits{}, spike_gradients{};
    BufferId checkpoints{};  ///< of states that are recomputed
    BufferId first_moments{}, second_moments{};
    std::vector<BufferId> input_gradients;  ///< by source; none for inputs
    std::uint32_t copies = 1;               ///< of `gradients`

    [[nodiscard]] std::uint32_t count() const { return end - begin; }
  };
  /// A tile that looks for the spikes of a sample.
  struct Part {
    std::uint32_t tile = 0, count = 0, chunk = 0, worker_capacity = 0, capacity = 0;
    BufferId marks{}, found{}, joined{}, key{};
  };
  /// The tile of a vector and a sample.
  struct Home {
    std::uint32_t tile = 0;
    std::vector<Part> parts;
    BufferId list{}, stored{}, totals{}, joined{};            ///< joined: what parts have found
    BufferId own{}, gradients{}, by_neuron{};                 ///< training
    BufferId logits{}, logit_gradients{}, label{}, result{};  ///< of outputs
  };

  ProgramBuilder(program::Program& program, const Snn& snn, const Stated* stated);

  // program.cpp
  void add_all();
  void add_clocks();
  void add_homes();
  void add_home(VectorId vector, std::uint32_t sample);
  void add_parts(Home& home, VectorId vector, std::uint32_t sample);
  void add_neurons();
  void add_tile(std::uint32_t layer, std::uint32_t number);
  void add_training(Neurons& tile, std::uint32_t layer);
  void add_outputs(Home& home);
  void add_turns(const Turn& turn);
  [[nodiscard]] program::HostTransfer feed(const Turn& turn) const;
  void begin_turn(const Turn& turn);

  // forward.cpp
  void add_forward();
  [[nodiscard]] Exchange send_lists();
  void receive(Exchange& exchange, std::uint32_t layer);
  void add_step_buffers(Neurons& tile, std::uint32_t layer);
  [[nodiscard]] ComputeSet update_states();
  [[nodiscard]] program::Vertex update(const Neurons& tile, std::uint32_t layer, Place clock,
                                       std::uint32_t mask);
  [[nodiscard]] program::Vertex update_bits(const Neurons& tile, std::uint32_t layer, Place clock,
                                            std::uint32_t mask);
  [[nodiscard]] Exchange send_marks();
  [[nodiscard]] ComputeSet select();
  void join(ComputeSet& set, VectorId vector);
  void end_step(ComputeSet& set);

  void add_neighbours(program::Copy& copy, std::uint32_t layer);

  // backward.cpp
  void add_backward();
  void turn_round();
  void send_gradients(Exchange& exchange, std::uint32_t layer);
  [[nodiscard]] ComputeSet gradients();
  void add_state_gradient(ComputeSet& set, const Neurons& tile, std::uint32_t layer);
  void add_gradients_of_sources(ComputeSet& set, const Neurons& tile, std::uint32_t layer);
  void add_group_sums();
  [[nodiscard]] const char* sum_of(std::uint32_t words) const;
  void add_final_sums();
  void fetch_back(ComputeSet& set);
  void place_gradients(ComputeSet& set, VectorId vector);

  // recomputing.cpp
  void add_checkpoints(ComputeSet& set);
  void add_way_back();
  void add_segment(std::uint32_t steps);
  void add_place_ticks(ComputeSet& set, std::uint32_t keep, std::uint32_t change);

  // learning.cpp
  void add_loss(const Turn& turn);
  void gather_logits();
  void spread_logit_gradients();
  void add_update();

  // tensors.cpp
  void add_tensors();
  void add_lists(VectorId vector);
  void add_weights(std::uint32_t layer);

  using Fill = training::Contents;
  /// What a step is predicted for, stated.cpp; nothing if the program is to run.
  [[nodiscard]] Fill stated_list(VectorId vector, std::uint32_t sample, std::uint32_t copies) const;
  [[nodiscard]] Fill stated_lists(VectorId vector) const;
  [[nodiscard]] Fill stated_marks(VectorId vector, std::uint32_t sample,
                                  kernels::Interval marks) const;
  [[nodiscard]] Fill stated_found(VectorId vector, std::uint32_t sample,
                                  std::uint32_t capacity) const;
  [[nodiscard]] Fill stated_gradients(VectorId vector, const Neurons& tile) const;
  program::Vertex tick(std::uint32_t tile, std::uint32_t keep, std::uint32_t change);
  program::Vertex fetch(const Home& home, BufferId to, VectorId vector, std::uint32_t ahead);
  program::Vertex clear(std::uint32_t tile, Place place, std::uint64_t bytes);
  void add_ticks(ComputeSet& set, std::uint32_t keep, std::uint32_t change);

  [[nodiscard]] bool listed(VectorId vector) const { return plan_.lists[vector].capacity > 0; }
  /// Whether a vector's spikes lead to neurons of a layer.
  [[nodiscard]] bool leads_on(VectorId vector) const {
    return vector < network_.layers.size() || network_.layers.back().recurrent();
  }
  /// Of how many steps a tile of the layer has states at once. Read-outs need none on the way back.
  [[nodiscard]] std::uint32_t state_slots(std::uint32_t layer) const;
  [[nodiscard]] bool recomputes(std::uint32_t layer) const {
    return plan_.checkpoint_steps > 0 && network_.layers[layer].kind != NeuronKind::integrator;
  }
  [[nodiscard]] std::uint32_t stride(VectorId vector) const {
    return list_words(plan_.lists[vector].capacity) * 4;
  }
  [[nodiscard]] std::uint32_t list_bytes(VectorId vector) const {
    return (kListHeader + plan_.lists[vector].capacity) * 4;
  }
  /// Of gradients of listed spikes, for a sample.
  [[nodiscard]] std::uint32_t gradient_bytes(VectorId vector) const {
    return round_up(plan_.lists[vector].capacity, 2U) * 4;
  }
  [[nodiscard]] std::uint32_t plane_bytes(std::uint32_t layer) const {
    return network_.layers[layer].rows() * 8;
  }
  [[nodiscard]] std::uint32_t slot_bytes(const Neurons& tile, std::uint32_t layer) const {
    return plan_.batch * tile.pairs * states_of(network_.layers[layer].kind) * 8;
  }
  [[nodiscard]] const std::string& kind_name(std::uint32_t layer) const {
    return kind_names_[layer];
  }
  /// Words of marks of a tile, for a sample.
  [[nodiscard]] std::uint32_t marks_of(const Neurons& tile) const {
    return plan_.bits() ? ceil_div(2 * tile.pairs, kNeuronsAWord) : 2 * tile.pairs;
  }

  const Snn& snn_;
  const Options& options_;
  const Network& network_;
  const Plan& plan_;
  const Stated* stated_;
  std::vector<std::string> kind_names_;
  std::map<std::uint32_t, BufferId> clocks_;   ///< by tile
  std::map<std::uint32_t, BufferId> places_;   ///< by tile: of recomputed states, as a clock
  std::vector<std::vector<Home>> homes_;       ///< by vector and sample
  std::vector<std::vector<Neurons>> neurons_;  ///< by layer and tile of it
  /// By reduction, group and sample: what a group's tiles send, and its sum.
  struct GroupSum {
    std::uint32_t tile = 0;
    BufferId parts{}, sum{};
  };
  std::vector<std::vector<std::vector<GroupSum>>> group_sums_;
};

}  // namespace tessera::snn
