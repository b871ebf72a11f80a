#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/convnet/network.h"
#include "kernels/gemm/vector_operand.h"
#include "sim/base/parallel.h"

/// An independent forward pass on the host: the semantics of network.h, written plainly.
namespace tessera::convnet {

/// Weights of one convolution as given to the machine; values represent q * 2^exponent, or are the
/// bits of bf16.
struct LayerWeights {
  program::Type type = program::Type::i8;
  std::uint32_t outputs = 0;  ///< channels, padded to multiples of kBlock with zeros
  std::uint32_t height = 1, width = 1;
  std::uint32_t inputs = 0;          ///< padded likewise
  std::vector<std::int16_t> values;  ///< [output][row][column][input]; pruned blocks are zeros
  /// [output]; values represent b * 2^(exponent + the input's), or are the bits of an f32 for bf16.
  std::vector<std::int64_t> bias;
  int exponent = 0;
  std::uint64_t rounded = 0;  ///< bf16: number of rounded values
  /// For each block of kBlock outputs the kept blocks of kBlock inputs, ascending, equally many for
  /// each; dense: all.
  std::vector<std::vector<std::uint32_t>> kept;

  [[nodiscard]] std::size_t index(std::uint32_t output, std::uint32_t row, std::uint32_t column,
                                  std::uint32_t input) const {
    return ((std::size_t{output} * height + row) * width + column) * inputs + input;
  }
  [[nodiscard]] std::uint32_t output_blocks() const { return outputs / kBlock; }
  [[nodiscard]] std::uint32_t input_blocks() const { return (inputs + kBlock - 1) / kBlock; }
};

/// [row][column][channel], with the true number of channels; bf16 as bits.
struct Tensor {
  Shape shape;
  std::vector<std::int16_t> values;
};
/// Sums of an integer layer before the shift, in the layout of its output.
using Sums = std::vector<std::int64_t>;

/// The number that a value of a type represents.
double number_of(program::Type type, std::int16_t value);
/// The largest integer of a type.
constexpr std::int64_t largest_of(program::Type type) {
  return (std::int64_t{1} << (bits_of(type) - 1)) - 1;
}
using gemm::shifted;
/// A layer's output from its sum: shifted and saturated, with ReLU from 0 on.
constexpr std::int16_t requantised(std::int64_t sum, std::uint32_t shift, bool relu,
                                   program::Type type) {
  const std::int64_t most = largest_of(type);
  return static_cast<std::int16_t>(
      std::clamp<std::int64_t>(shifted(sum, shift), relu ? 0 : -most - 1, most));
}

Tensor requantised(const Layer& layer, const Sums& sums);

/// The sums of a convolution, average_pool or add (with its multipliers), before the shift.
/// `inputs` are the tensors of layer.inputs; `weights` is null for layers other than convolutions.
Sums sums_of(const Layer& layer, const LayerWeights* weights, std::span<const Tensor* const> inputs,
             HostThreads& threads);

/// The factor of an average_pool's sums, in bf16 of its inputs.
float mean_factor(const Layer& layer);

/// A layer's output, except for the input layer.
Tensor forward(const Layer& layer, const LayerWeights* weights,
               std::span<const Tensor* const> inputs, HostThreads& threads);

/// All tensors of the network, in order of layers; the first is the image. `weights` has an element
/// per layer; those of convolutions are used.
std::vector<Tensor> forward(const Network& network, std::span<const LayerWeights> weights,
                            const Tensor& image, HostThreads& threads);

/// bf16 layers with f32 sums, added in the order given in network.h.
namespace reference {

std::vector<float> numbers_of(std::span<const std::int16_t> bits);
std::int16_t bits_of_bf16(float number);
/// True if no value is infinite or NaN.
bool are_finite(std::span<const std::int16_t> bits);

/// A layer's output, for all operators but concatenate.
Tensor forward_bf16(const Layer& layer, const LayerWeights* weights,
                    std::span<const Tensor* const> inputs, HostThreads& threads);

}  // namespace reference
}  // namespace tessera::convnet
