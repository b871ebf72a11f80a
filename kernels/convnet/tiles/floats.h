#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/convnet/network_file.h"

/// A network in f16: values as they are, without scales.
namespace tessera::convnet::tiles {

/// Weights of one convolution; all are exact in f16.
struct FloatWeights {
  std::vector<float> values;  ///< [output][row][column][input], as RealWeights
  std::vector<float> bias;    ///< [output]; f32
};

struct FloatModel {
  Network network;
  std::vector<FloatWeights> weights;  ///< an element a layer; empty but of convolutions
  std::vector<float> image;           ///< [row][column][channel]
  std::uint64_t rounded = 0;          ///< weights that were not exact in f16
};

/// `given` are a file's weights, an element a layer, or empty: seeded. Throws UserError naming the
/// layer for weights that f16 does not hold.
FloatModel float_model(Network network, std::span<const RealWeights> given, const Image& image,
                       std::uint64_t seed, HostThreads& threads);

}  // namespace tessera::convnet::tiles
