#pragma once

#include "kernels/convnet/network_file.h"
#include "kernels/convnet/tiles/geometry.h"

/// A network in f16, values as they are, without scales; what tiles hold of it before the run.
namespace tessera::convnet::tiles {

struct FloatModel {
  Network network;
  std::vector<RealWeights> weights;  ///< an element a layer; exact in f16, biases in f32
  std::vector<float> image;          ///< [row][column][channel]
  std::uint64_t rounded = 0;         ///< weights that were not exact in f16
};

/// `given` are a file's weights, an element a layer, or empty: seeded. Throws UserError naming the
/// layer for weights that f16 does not hold.
FloatModel float_model(Network network, std::span<const RealWeights> given, const Image& image,
                       std::uint64_t seed, HostThreads& threads);

/// A cell's weights, [column block][step][input of a chunk][output of a block] in f16. Of diagonal
/// layers, and of what is added to sums, the weights of a channel stand at its input and output,
/// all others are zero.
void fill_weights(const FloatModel& model, const Geometry& g, const Cell& cell,
                  std::span<std::byte> into);
/// Of the groups that a cell finishes, [channel] in f32; zeros where a layer has none.
void fill_bias(const FloatModel& model, const Geometry& g, const Cell& cell,
               std::span<std::byte> into);
/// X of a layer whose input is the image, zeros around it.
void fill_image(const FloatModel& model, const Geometry& g, const Cell& cell,
                std::span<std::byte> into);

}  // namespace tessera::convnet::tiles
