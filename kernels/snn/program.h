#pragma once

#include <string>
#include <vector>

#include "kernels/snn/snn.h"
#include "kernels/training/products.h"
#include "kernels/training/statement.h"
#include "sim/plan/search.h"

/// Programs of networks, and the data structures on their tiles.
namespace tessera::snn {

/// A list of ids on a tile: number of spikes, number of ids, the ids.
constexpr std::uint32_t kListHeader = 2;
constexpr std::uint32_t list_words(std::uint32_t capacity) {
  return round_up(kListHeader + capacity, 2U);
}

/// Writes a list, in the order of a tile.
void write_list(const List& list, std::span<std::byte> into);

/// The list found by a worker or a tile: a header of four words, the ids.
constexpr std::uint32_t kFoundHeader = 16;
constexpr std::uint32_t found_bytes(std::uint32_t capacity) {
  return round_up(kFoundHeader + 4 * capacity, 8U);
}

/// Number of counts of a tile that makes lists: spikes, ids listed, overflowed lists, spikes left
/// out, gradient carriers left out.
constexpr std::uint32_t kTotals = 5;

/// A sample's events as lists: one per step, then an empty one.
void fill_events(const Data& data, std::uint64_t sample, std::uint32_t steps,
                 std::span<std::byte> into);

/// The gradients by neuron when none is listed.
void fill_unlisted(std::span<std::byte> into);

/// Parameters of a layer's neurons in pairs, as tile_code.h has them.
constexpr std::uint32_t kPairBytes = 80;
void fill_parameters(const Layer& layer, Interval neurons, std::span<std::byte> into);

/// Values per neuron of either stream of parameters for the plan `bits`, which follow the biases.
constexpr std::uint32_t stream_values(NeuronKind kind) {
  return kind == NeuronKind::integrator ? 1
         : kind == NeuronKind::lif      ? 2
         : kind == NeuronKind::cuba_lif ? 3
                                        : 4;
}
void fill_streams(const Layer& layer, Interval neurons, std::span<std::byte> into);

/// The random word of a tile that selects spikes.
std::uint32_t chance_of(std::uint64_t seed, VectorId vector, std::uint32_t sample,
                        std::uint32_t part);

/// Names of the tensors of a vector's lists and counts: spikes_input, spikes_0, totals_0, ...
std::string lists_name(VectorId vector);
std::string totals_name(VectorId vector);

/// Names of the tensors of a layer's weights and optimiser state: layer_0,
/// layer_0_recurrent_first_moments, ... SGD's velocity is called first moments; it has no second.
enum class Kept : std::uint8_t { weights, first_moments, second_moments };
std::string weights_name(std::uint32_t layer, bool recurrent, Kept kept = Kept::weights);

std::vector<std::uint32_t> words_of(const TensorReader& tensors, const std::string& name,
                                    HostThreads& threads);

/// The program of a network with lists of spikes. All that `subject` refers to outlives it.
plan::Described describe_program(const Subject& subject, const Plan& plan);

// The network with dense activations, the baseline of lists: spikes are matrices of zeros and ones,
// layers are products on the matrix units, forward and backward.

/// Throws KeyError for what dense activations do not support: neurons other than lif, recurrent
/// layers, tests.
void require_dense(const Options& options);

/// One plan per layer.
std::vector<training::DensePlan> plan_dense(const Options& options, const Network& network,
                                            MachineCosts& costs);

/// The program of such a network. All arguments, and all that `subject` refers to, outlive it.
plan::Described describe_program(const Subject& subject,
                                 const std::vector<training::DensePlan>& plans,
                                 const training::TileCode& code);

}  // namespace tessera::snn
