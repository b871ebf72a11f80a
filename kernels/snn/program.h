#pragma once

#include <string>
#include <vector>

#include "kernels/snn/snn.h"
#include "kernels/training/products.h"
#include "kernels/training/statement.h"
#include "sim/plan/search.h"

/// Programs of networks, and what their tiles hold.
namespace tessera::snn {

/// A list of ids as tiles hold it: spikes, listed ones, ids.
constexpr std::uint32_t kListHeader = 2;
constexpr std::uint32_t list_words(std::uint32_t capacity) {
  return round_up(kListHeader + capacity, 2U);
}

/// Findings of a worker or a tile: a header of four words, ids.
constexpr std::uint32_t kFoundHeader = 16;
constexpr std::uint32_t found_bytes(std::uint32_t capacity) {
  return round_up(kFoundHeader + 4 * capacity, 8U);
}

/// Counts of a tile that makes lists: spikes, listed ones, lists that overflowed, spikes and
/// carriers of gradient that were left out.
constexpr std::uint32_t kTotals = 5;

/// A sample's events as lists, one a step and an empty one behind.
void fill_events(const Data& data, std::uint64_t sample, std::uint32_t steps,
                 std::span<std::byte> into);

/// Gradients by neuron, of none that is listed.
void fill_unlisted(std::span<std::byte> into);

/// Parameters of a layer's neurons, two by two; see tile_code.h.
constexpr std::uint32_t kPairBytes = 80;
void fill_parameters(const Layer& layer, Interval neurons, std::span<std::byte> into);

/// Parameters in the order in which the best plan's tile code takes them: biases, then two streams
/// of so many values a neuron.
constexpr std::uint32_t stream_values(NeuronKind kind) {
  return kind == NeuronKind::integrator ? 1
         : kind == NeuronKind::lif      ? 2
         : kind == NeuronKind::cuba_lif ? 3
                                        : 4;
}
void fill_streams(const Layer& layer, Interval neurons, std::span<std::byte> into);

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

std::vector<std::uint32_t> words_of(const TensorReader& tensors, const std::string& name,
                                    HostThreads& threads);

/// The program of a network whose spikes are lists. What `subject` names outlives it.
plan::Described describe_program(const Subject& subject, const Plan& plan);

// The network with dense activations, which the gain of lists is measured against: spikes are
// matrices of zeros and ones, layers are products on the matrix units, forward and back.

/// Refuses what dense activations do not have (a KeyError): other neurons than lif, recurrent
/// layers, tests.
void require_dense(const Options& options);

/// Plans by layer.
std::vector<training::DensePlan> plan_dense(const Options& options, const Network& network,
                                            MachineCosts& costs);

/// The program of such a network. All arguments, and what `subject` names, outlive it.
plan::Described describe_program(const Subject& subject,
                                 const std::vector<training::DensePlan>& plans,
                                 const training::TileCode& code);

}  // namespace tessera::snn
