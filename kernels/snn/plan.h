#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/layout.h"
#include "kernels/snn/network.h"
#include "kernels/training/products.h"
#include "sim/program/machine_costs.h"

/// Layout of a network on tiles, after arXiv 2311.04386: neurons lie beside their input weights;
/// lists of spikes are made and stored on tiles of their own, one sample per tile.
namespace tessera::snn {

/// The algorithm that finds spikes, lays out weights and sums.
enum class Algorithm : std::uint8_t {
  published,  ///< one mark per neuron, scanned by many workers
  bits,       ///< marks are bits; the weights of a spike are contiguous
  best        ///< the one with fewer predicted cycles
};

inline constexpr config::Names<Algorithm, 3> kAlgorithms{
    {{"published", Algorithm::published}, {"bits", Algorithm::bits}, {"best", Algorithm::best}}};

/// Number of tiles that find the spikes of a sample: one, or the published number for that many
/// words of marks or that many neurons.
enum class Spread : std::uint8_t { one, by_marks, by_neurons };

/// Choices in which plans of a network differ.
struct Choice {
  Algorithm algorithm = Algorithm::published;  ///< not best
  Spread spread = Spread::by_neurons;          ///< for marks that are bits
  bool in_pairs = true;  ///< layers begin at even tiles, so that pairs share what they receive
  std::uint32_t neurons_per_tile = 0;  ///< 0: the fewest for which the tiles suffice
};

/// Neurons with marks in one word.
constexpr std::uint32_t kNeuronsAWord = 16;

/// Marks of a neuron that spikes, and of one that carries gradient only; a sum of marks counts
/// both.
constexpr std::uint32_t kSpikeMark = 1;
constexpr std::uint32_t kCarrierMark = 1U << kNeuronsAWord;

/// A vector of spikes: 0 the inputs', i those of layer i - 1.
using VectorId = std::uint32_t;

struct LayerTiles {
  std::uint32_t first = 0;
  std::uint32_t tiles = 0;
  std::uint32_t neurons_per_tile = 0;
  bool operator==(const LayerTiles&) const = default;
};

/// The list of one vector: its capacity, and the number of tiles that find the spikes of a sample.
struct ListPlan {
  std::uint32_t neurons = 0;
  std::uint32_t marks = 0;         ///< words of marks, which say which neurons spike
  std::uint32_t marks_a_tile = 1;  ///< on the layer's tiles; the last may have fewer
  std::uint32_t capacity = 0;
  std::uint32_t spread = 1;
  std::uint32_t first_home = 0;  ///< home of sample 0; homes are counted over all vectors

  [[nodiscard]] Interval part(std::uint32_t s) const { return EvenSplit{marks, spread}.part(s); }
};

/// A plan's keys, as printed and pinned. In a pinned plan 0 and empty lists leave the choice open.
struct LayerKeys : LayerTiles {
  std::uint32_t max_spikes = 0, selecting_tiles = 0;
  bool operator==(const LayerKeys&) const = default;
};
struct ReductionKeys {
  std::uint32_t layer = 0;       ///< its tiles make the gradients
  std::uint32_t groups = 0;      ///< groups of tiles that sum first; 1: one sum
  std::uint32_t group_size = 0;  ///< the last group takes the rest
  std::uint32_t tiles = 0;       ///< tiles that share the sums of groups and samples
  bool operator==(const ReductionKeys&) const = default;
};

/// Where the gradients of a vector's spikes, made by the tiles of one layer, are summed.
struct Reduction : ReductionKeys {
  VectorId vector = 0;
  std::uint32_t first = 0;  ///< first tile that sums

  /// The vector's number among the layer's sources.
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

/// Copies of weight gradients on a tile, so that all its workers can add at once.
constexpr std::uint32_t gradient_copies(std::uint32_t neurons, std::uint32_t contexts,
                                        std::uint32_t batch) {
  const std::uint32_t copies = contexts / ceil_div(neurons, 2U);
  return copies < 1 ? 1 : copies < batch ? copies : batch;
}

/// Widths, in pairs of neurons, of the blocks that a tile's weights are stored in: the pairs of a
/// block that belong to one input are contiguous. If not `wide`, planes: blocks of one pair.
std::vector<std::uint32_t> block_widths(std::uint32_t pairs, bool wide);

struct PlanKeys {
  Algorithm algorithm = Algorithm::best;
  std::uint32_t max_inputs = 0;
  std::vector<LayerKeys> layers = {};
  std::vector<ReductionKeys> reductions = {};
  std::uint32_t checkpoint_steps = 0;
  /// The only keys of dense activations.
  std::uint32_t padding = 0;
  std::vector<training::DenseKeys> products = {};

  [[nodiscard]] bool allow(const PlanKeys& plan) const;
  /// True if keys other than those of dense activations are given.
  [[nodiscard]] bool of_lists() const;
};
void describe(config::Fields& fields, LayerKeys& keys);
void describe(config::Fields& fields, ReductionKeys& keys);
void describe(config::Fields& fields, PlanKeys& keys);

struct Plan {
  Algorithm algorithm = Algorithm::published;  ///< not best
  bool wide = false;                           ///< blocks of weights
  std::uint32_t first = 0;                     ///< first tile that makes lists
  std::uint32_t tiles = 1;
  std::uint32_t batch = 1;
  std::vector<LayerTiles> layers;
  std::vector<ListPlan> lists;  ///< by vector; lists of read-out layers have no capacity
  std::vector<Reduction> reductions;
  std::uint32_t homes = 0;
  std::uint32_t checkpoint_steps = 0;  ///< steps from one kept state to the next; 0: all
  /// Both tiles of a pair receive the lists even if one needs them: pairs receive at twice the
  /// rate.
  bool neighbours_listen = false;

  /// The tile that makes, or joins, the list of a sample (part 0), and its helpers (part > 0).
  [[nodiscard]] std::uint32_t home(VectorId vector, std::uint32_t sample,
                                   std::uint32_t part = 0) const;
  [[nodiscard]] bool bits() const { return algorithm == Algorithm::bits; }
  /// Neurons per word of marks, at most.
  [[nodiscard]] std::uint32_t neurons_a_mark() const { return bits() ? kNeuronsAWord : 1; }
  /// The neurons of a vector's mark.
  [[nodiscard]] Interval marked(VectorId vector, std::uint64_t mark) const;
  /// Source vectors of a layer: the one before it and, if it is recurrent, its own.
  [[nodiscard]] static std::vector<VectorId> sources(const Network& network, std::uint32_t layer);
};

struct Options;
/// Lists of events hold `max_inputs` ids. Throws KeyError if the machine has too few tiles.
Plan make_plan(const Network& network, const Options& options, std::uint32_t max_inputs,
               const Choice& choice, const MachineCosts& costs);

PlanKeys keys_of(const Plan& plan);
/// The keys without those that leave the choice open.
nlohmann::ordered_json to_json(const PlanKeys& keys);

}  // namespace tessera::snn
