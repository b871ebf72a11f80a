#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/convnet/network.h"
#include "kernels/convnet/reference.h"
#include "sim/base/parallel.h"

/// From a network's shapes to numbers of its type: seeded or given weights, block pruning, and the
/// scales of all tensors.
namespace tessera::convnet {

/// Weights of a convolution in real numbers, as given by a file.
struct RealWeights {
  std::vector<float> values;  ///< [output][row][column][input], without channel padding
  std::vector<double> bias;   ///< [output]
};

/// Seeded weights that preserve the variance of activations (He et al., arXiv 1502.01852): uniform
/// with a variance of 2 / products, biases uniform in [-0.25, 0.25). They depend only on the seed
/// and on the layer's number in its network.
RealWeights seeded_weights(const Layer& layer, std::uint32_t number, std::uint64_t seed);

/// Weights from a folder, by layer: for each convolution LAYER.weight.npy in the order
/// [output][input][row][column] of frameworks (depthwise: one input), and LAYER.bias.npy, 0 if
/// absent. Throws KeyError at `key` for another shape, complex numbers and unused files, UserError
/// for a missing or broken file and values that are not finite.
std::vector<RealWeights> read_weights(const Network& network, const std::string& folder,
                                      const std::string& key);

/// Weights by layer, for convolutions: `given`, or seeded if that is empty.
std::vector<RealWeights> real_weights(const Network& network, std::span<const RealWeights> given,
                                      std::uint64_t seed, HostThreads& threads);

/// Converts `values` from the order [output][input][place] to [output][place][input].
std::vector<float> channels_last(std::span<const float> values, std::size_t inputs,
                                 std::size_t places);

/// The smallest exponent for which round(largest / 2^exponent) is at most the largest integer of a
/// type; 1 - its bits for 0.
int smallest_exponent(double largest, program::Type type);

/// Weights rounded to integers with the smallest_exponent() of the largest, or to bf16; channels
/// are padded with zeros; nothing is pruned, and the bias of integer types is 0: calibrate() sets
/// it later. Throws UserError with the layer for a weight beyond the largest bf16.
LayerWeights quantised_weights(const Layer& layer, const RealWeights& real);

/// Zeroes whole blocks of 8 outputs x 8 inputs over all places of the window: in each row of blocks
/// those with the smallest L2 norm, the first of equals, `sparsity` of them rounded down, but never
/// all.
void prune_blocks(LayerWeights& weights, double sparsity);
/// Number of blocks kept in each row of `input_blocks` blocks.
std::uint32_t kept_blocks(std::uint32_t input_blocks, double sparsity);
/// The sparsity of layer `number` for a run's `sparsity`: its own if its file gives one, 0 for the
/// first convolution, 0 for all layers if `sparsity` is 0.
double sparsity_of(const Network& network, std::uint32_t number, double sparsity);

/// An image as the network's input: values represent q * 2^exponent, or are bf16.
struct Image {
  Tensor tensor;
  int exponent = -7;
  std::uint64_t rounded = 0;  ///< number of a file's values rounded to bf16
};
/// The exponent of an image with values in [-1, 1).
constexpr int image_exponent(program::Type type) { return 1 - static_cast<int>(bits_of(type)); }
/// An image uniform over all integers of a type (bf16: of int16, rounded), with a random stream of
/// its own.
Image seeded_image(const Shape& shape, std::uint64_t seed, program::Type type);

/// A runnable network: with scales, weights (by layer) and an image.
struct Model {
  Network network;
  std::vector<LayerWeights> weights;
  Tensor image;
};

/// A model in the type of the network's layers; bf16 has no scales, and a file's scales have no
/// effect. `given` are a file's weights by layer, or empty: seeded. A `sparsity` of 0 prunes
/// nothing. Throws UserError like calibrate().
Model make_model(Network network, std::span<const RealWeights> given, const Image& image,
                 std::uint64_t seed, double sparsity, HostThreads& threads);

/// Sets exponents, shifts and multipliers of all layers and the biases of `model.weights` from the
/// largest values computed with model.image: each tensor gets the smallest exponent that holds its
/// largest value, or a larger one if layers require it: a max_pool and its input have the same
/// exponent, concatenated tensors too, exponents of added tensors differ by at most
/// most_left_shift(), no shift is negative. If an exponent is raised, values of later layers are
/// rounded differently from when their largest was found, and may saturate. `exponent` is the
/// image's, which is shifted if its own is raised. Throws UserError with network and layer for
/// scales that are incompatible: a file's fixed exponent that would have to be larger, shifts above
/// kMostShift, biases of 2^30 (int16: 2^60) or more.
void calibrate(Model& model, int exponent, std::span<const RealWeights> real, HostThreads& threads);

}  // namespace tessera::convnet
