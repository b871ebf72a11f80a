#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/convnet/network.h"
#include "kernels/convnet/reference.h"
#include "sim/base/parallel.h"

/// From a network's shapes to the numbers of its type: weights that are seeded or given, pruned by
/// blocks, and the scales of all tensors.
namespace tessera::convnet {

/// Weights of a convolution in real numbers, as a file gives them.
struct RealWeights {
  std::vector<float> values;  ///< [output][row][column][input], true numbers of channels
  std::vector<double> bias;   ///< [output]
};

/// Weights that keep the variance of what passes through (He et al., arXiv 1502.01852): uniform
/// with a variance of 2 / products, biases uniform in [-0.25, 0.25). They depend on the seed and
/// on the layer's number in its network, on no host.
RealWeights seeded_weights(const Layer& layer, std::uint32_t number, std::uint64_t seed);

/// Weights of a folder, an element a layer: of each convolution LAYER.weight.npy in the order
/// [output][input][row][column], as frameworks keep them (depthwise: one input), and
/// LAYER.bias.npy, 0 if there is none. Throws KeyError at `key` for another shape, complex numbers
/// and files that nothing reads, UserError for a file that is missing or broken, and values that
/// are not finite.
std::vector<RealWeights> read_weights(const Network& network, const std::string& folder,
                                      const std::string& key);

/// An element a layer, of convolutions: `given`, or if that is empty seeded ones.
std::vector<RealWeights> real_weights(const Network& network, std::span<const RealWeights> given,
                                      std::uint64_t seed, HostThreads& threads);

/// `values` in the order [output][input][place] as [output][place][input].
std::vector<float> channels_last(std::span<const float> values, std::size_t inputs,
                                 std::size_t places);

/// The smallest exponent with which round(largest / 2^exponent) is at most the largest integer of a
/// type; 1 - its bits for 0.
int smallest_exponent(double largest, program::Type type);

/// Rounded to integers by smallest_exponent() of the largest, or to bf16; channels are padded with
/// zeros; nothing is pruned and the bias of integers is 0 (set_scales() knows its scale). Throws
/// UserError with the layer for a weight beyond the largest bf16.
LayerWeights quantised_weights(const Layer& layer, const RealWeights& real);

/// Zeroes whole blocks of 8 outputs x 8 inputs, all places of the window together: in each row of
/// blocks those of the smallest L2 norm, the first of equal ones first, as many as
/// `sparsity` of them rounded down, but never all.
void prune_blocks(LayerWeights& weights, double sparsity);
/// Blocks that stay of each row of `input_blocks` blocks.
std::uint32_t kept_blocks(std::uint32_t input_blocks, double sparsity);
/// The sparsity of layer `number` if a run prunes `sparsity`: its own if its file gives one, 0 for
/// the first convolution, 0 for all layers if `sparsity` is 0.
double sparsity_of(const Network& network, std::uint32_t number, double sparsity);

/// An image as the network's input: values are q * 2^exponent, or bf16.
struct Image {
  Tensor tensor;
  int exponent = -7;
  std::uint64_t rounded = 0;  ///< values of a file that bf16 does not hold exactly
};
/// The exponent of an image whose values lie in [-1, 1).
constexpr int image_exponent(program::Type type) { return 1 - static_cast<int>(bits_of(type)); }
/// Uniform over all integers of a type, of bf16 those of int16 rounded, in a stream of its own.
Image seeded_image(const Shape& shape, std::uint64_t seed, program::Type type);

/// A network that can run: with scales, weights (an element a layer) and an image.
struct Model {
  Network network;
  std::vector<LayerWeights> weights;
  Tensor image;
};

/// A model in the type of the network's layers; bf16 has no scales: those of a file have no effect.
/// `given` are a file's weights, an element a layer, or empty: seeded. A run that prunes nothing
/// has a sparsity of 0. Throws UserError as calibrate() does.
Model make_model(Network network, std::span<const RealWeights> given, const Image& image,
                 std::uint64_t seed, double sparsity, HostThreads& threads);

/// Sets exponents, shifts and multipliers of all layers and the biases of `model.weights`, by the
/// largest values that come up with model.image: each tensor gets the smallest exponent that holds
/// its largest value, and a larger one where layers ask for it: a max_pool and what it takes have
/// one exponent, concatenated tensors have one, those that are added lie at most
/// 2^most_left_shift() apart, no shift is negative. Where that raises an exponent, values of later
/// layers are rounded other than when their largest was found, and may saturate. `exponent` is the
/// image's, which is shifted if that one is raised. Throws UserError with network and layer for
/// scales that do not come together: a file's fixed exponent that would have to be larger, shifts
/// above kMostShift, biases of 2^30 (int16: 2^60) or more.
void calibrate(Model& model, int exponent, std::span<const RealWeights> real, HostThreads& threads);

}  // namespace tessera::convnet
