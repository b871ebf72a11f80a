#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/layout.h"
#include "kernels/snn/network.h"
#include "kernels/training/products.h"
#include "sim/program/machine_costs.h"

/// How a network lies on tiles, as arXiv 2311.04386 does it: neurons with the weights that lead to
/// them side by side, lists of spikes made and stored on tiles of their own, a sample each.
namespace tessera::snn {

/// Whose way of looking for spikes, of laying out weights and of adding up.
enum class Algorithm : std::uint8_t {
  published,  ///< a mark a neuron, which many workers look through
  bits,       ///< marks are bits; weights of a spike side by side
  best        ///< the one that less is predicted for
};

inline constexpr config::Names<Algorithm, 3> kAlgorithms{
    {{"published", Algorithm::published}, {"bits", Algorithm::bits}, {"best", Algorithm::best}}};

/// How many tiles look for the spikes of a sample: one, or as many as published for so many words
/// or so many neurons.
enum class Spread : std::uint8_t { one, by_marks, by_neurons };

/// Choices in which plans of a network differ.
struct Choice {
  Algorithm algorithm = Algorithm::published;  ///< not best
  Spread spread = Spread::by_neurons;          ///< for marks that are bits
  bool in_pairs = true;  ///< layers begin with pairs of tiles that share what they take
  std::uint32_t neurons_per_tile = 0;  ///< 0: the fewest for which there are tiles
};

/// Neurons whose marks are the bits of a word.
constexpr std::uint32_t kNeuronsAWord = 16;

/// Marks of a neuron that spikes, and of one that carries gradient only: their sum counts both.
constexpr std::uint32_t kSpikeMark = 1;
constexpr std::uint32_t kCarrierMark = 1U << kNeuronsAWord;

/// Whose spikes: 0 the inputs', i those of layer i - 1.
using VectorId = std::uint32_t;

struct LayerTiles {
  std::uint32_t first = 0;
  std::uint32_t tiles = 0;
  std::uint32_t neurons_per_tile = 0;
};

/// The list of one vector: its longest, and how many tiles look for the spikes of a sample.
struct ListPlan {
  std::uint32_t neurons = 0;
  std::uint32_t marks = 0;         ///< words that say which neurons spike
  std::uint32_t marks_a_tile = 1;  ///< on the layer's tiles; the last may have fewer
  std::uint32_t capacity = 0;
  std::uint32_t spread = 1;
  std::uint32_t first_home = 0;  ///< home of sample 0; homes are counted over all vectors

  [[nodiscard]] Interval part(std::uint32_t s) const { return EvenSplit{marks, spread}.part(s); }
};

/// Where gradients of a vector's spikes are added up that the tiles of one layer have made.
struct Reduction {
  std::uint32_t layer = 0;  ///< whose tiles
  VectorId vector = 0;
  std::uint32_t groups = 1;      ///< groups of tiles; 1: all is added up at once
  std::uint32_t group_size = 1;  ///< the last group takes the rest
  std::uint32_t first = 0;       ///< tile
  std::uint32_t tiles = 1;       ///< that the sums of groups and samples are spread over

  /// The vector's number among those that lead to the layer.
  [[nodiscard]] std::size_t source() const { return vector == layer ? 0 : 1; }
  /// Tiles of a group, in a layer with `all` tiles.
  [[nodiscard]] Interval members(std::uint32_t group, std::uint32_t all) const {
    const std::uint64_t begin = std::uint64_t{group} * group_size;
    return {begin, group + 1 == groups ? all : begin + group_size};
  }
  [[nodiscard]] std::uint32_t tile(std::uint32_t group, std::uint32_t sample,
                                   std::uint32_t batch) const {
    const std::uint64_t number = std::uint64_t{group} * batch + sample;
    return first + static_cast<std::uint32_t>(number * tiles / (std::uint64_t{groups} * batch));
  }
};

/// Copies of its weights' gradients that a tile keeps, so that all workers add at once.
constexpr std::uint32_t gradient_copies(std::uint32_t neurons, std::uint32_t contexts,
                                        std::uint32_t batch) {
  const std::uint32_t copies = contexts / ceil_div(neurons, 2U);
  return copies < 1 ? 1 : copies < batch ? copies : batch;
}

/// Widths in pairs of neurons of the blocks in which a tile has its weights: of a block's pairs
/// those of one input lie side by side. Planes, blocks of one pair, if not `wide`.
std::vector<std::uint32_t> block_widths(std::uint32_t pairs, bool wide);

/// A plan's keys, as it is printed and pinned. In pinned plans 0 and empty lists say nothing.
struct LayerKeys {
  std::uint32_t first_tile = 0, tiles = 0, neurons_per_tile = 0, max_spikes = 0,
                selecting_tiles = 0;
  bool operator==(const LayerKeys&) const = default;
};
struct ReductionKeys {
  std::uint32_t layer = 0, groups = 0, tiles_a_group = 0, summing_tiles = 0;
  bool operator==(const ReductionKeys&) const = default;
};
struct PlanKeys {
  Algorithm algorithm = Algorithm::best;
  std::uint32_t max_inputs = 0;
  std::vector<LayerKeys> layers = {};
  std::vector<ReductionKeys> reductions = {};
  std::uint32_t checkpoint_steps = 0;
  /// Keys of dense activations, which have these two alone.
  std::uint32_t padding = 0;
  std::vector<training::DenseKeys> products = {};

  [[nodiscard]] bool allow(const PlanKeys& plan) const;
  /// True if there are other keys than those of dense activations.
  [[nodiscard]] bool of_lists() const;
};
void describe(config::Fields& fields, LayerKeys& keys);
void describe(config::Fields& fields, ReductionKeys& keys);
void describe(config::Fields& fields, PlanKeys& keys);

struct Plan {
  Algorithm algorithm = Algorithm::published;  ///< not best
  bool wide = false;                           ///< blocks of weights
  std::uint32_t first = 0;  ///< first tile that makes lists; published: not those before layers
  std::uint32_t tiles = 1;
  std::uint32_t batch = 1;
  std::vector<LayerTiles> layers;
  std::vector<ListPlan> lists;  ///< by vector; those of layers that only read out have no capacity
  std::vector<Reduction> reductions;
  std::uint32_t homes = 0;
  std::uint32_t checkpoint_steps = 0;  ///< from one kept state to the next; 0: all are kept
  /// The other tile of a pair listens too where only one needs the lists: two take them at twice
  /// the rate.
  bool neighbours_listen = false;

  /// The tile that makes, or joins, the list of a sample, and the others that help it (part > 0).
  [[nodiscard]] std::uint32_t home(VectorId vector, std::uint32_t sample,
                                   std::uint32_t part = 0) const;
  [[nodiscard]] bool bits() const { return algorithm == Algorithm::bits; }
  /// Neurons that a word of marks is for, at most.
  [[nodiscard]] std::uint32_t neurons_a_mark() const { return bits() ? kNeuronsAWord : 1; }
  /// First and last neuron of a vector's mark, of which the last is left out.
  [[nodiscard]] Interval marked(VectorId vector, std::uint64_t mark) const;
  /// Vectors that lead to a layer's neurons: the one before, its own if it is recurrent.
  [[nodiscard]] static std::vector<VectorId> sources(const Network& network, std::uint32_t layer);
};

struct Options;
/// Lists of events hold `max_inputs` ids. Throws KeyError if the machine has not the tiles.
Plan make_plan(const Network& network, const Options& options, std::uint32_t max_inputs,
               const Choice& choice, const MachineCosts& costs);

PlanKeys keys_of(const Plan& plan);
/// The keys without those that say nothing.
nlohmann::ordered_json to_json(const PlanKeys& keys);

}  // namespace tessera::snn
