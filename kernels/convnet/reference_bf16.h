#pragma once

#include <span>
#include <vector>

#include "kernels/convnet/reference.h"

/// Layers of bf16 with f32 sums, in the order in which network.h says that they are added up.
namespace tessera::convnet::reference {

/// The numbers of a tensor, and a number's bits.
std::vector<float> numbers_of(std::span<const std::int16_t> bits);
std::int16_t bits_of_bf16(float number);

/// A layer's output, of all operators but concatenate.
Tensor forward_bf16(const Layer& layer, const LayerWeights* weights,
                    std::span<const Tensor* const> inputs, HostThreads& threads);

}  // namespace tessera::convnet::reference
