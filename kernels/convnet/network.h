#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/fields.h"
#include "sim/program/tensor.h"

/// A convolutional network as a plain value, read from files and used by the program and its
/// reference. One image at a time; a tensor is [row][column][channel]. Its elements are int8 or
/// int16, where q represents q * 2^exponent, or bf16.
namespace tessera::convnet {

/// Defines each output element in terms of the inputs. Sums of int8 are exact in i32, those of
/// int16 in i64. rhe(s, n) is s / 2^n rounded to the nearest integer, halves to even; sat clamps to
/// the type's range, with ReLU to its part from 0 on. Sums of bf16 are f32, each product and each
/// sum rounded, starting with the bias: by kept block of kBlock inputs, then by place in the
/// window, then by input. They are rounded to bf16, with ReLU clamped to at least 0, and have no
/// shift; a mean's multiplier is the bf16 nearest to 1 / count. Windows extend over the input's
/// edges by the padding.
///   input                  the image
///   convolution            sat(rhe(bias + sum of input * weight, shift)), over window, channels;
///                          padding counts as 0
///   depthwise_convolution  the same over the window of the output's own channel; f16 only
///   max_pool               the largest of the window; padding never wins; same exponent
///   average_pool           sat(rhe(multiplier * sum of the window, shift)); padding counts as 0,
///                          in the mean too (count_include_pad)
///   add                    sat(rhe(a * 2^left_shifts[0] + b * 2^left_shifts[1], shift))
///   concatenate            the inputs' channels, one after the other; all have the same exponent
enum class Operator : std::uint8_t {
  input,
  convolution,
  depthwise_convolution,
  max_pool,
  average_pool,
  add,
  concatenate
};
inline constexpr config::Names<Operator, 7> kOperators{
    {{"input", Operator::input},
     {"convolution", Operator::convolution},
     {"depthwise_convolution", Operator::depthwise_convolution},
     {"max_pool", Operator::max_pool},
     {"average_pool", Operator::average_pool},
     {"add", Operator::add},
     {"concatenate", Operator::concatenate}}};

/// Channels of a weight block. The machine pads channels to a multiple of it with zeros; shapes
/// here have the true number.
inline constexpr std::uint32_t kBlock = 8;
constexpr std::uint32_t padded_channels(std::uint32_t channels) {
  return (channels + kBlock - 1) / kBlock * kBlock;
}

/// Limits beyond which networks are refused.
inline constexpr std::uint32_t kMostLayers = 1024;
inline constexpr std::uint32_t kMostExtent = 8192;  ///< rows, columns or channels
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 26;  ///< elements of a tensor
inline constexpr std::uint64_t kMostWeights = std::uint64_t{1} << 28;   ///< weights of a network
/// Maximum products of a sum: with |bias| < 2^30 no int8 sum overflows i32.
inline constexpr std::uint64_t kMostProducts = std::uint64_t{1} << 16;
/// Bits of an integer type, or of bf16.
constexpr std::uint32_t bits_of(program::Type type) { return type == program::Type::i8 ? 8 : 16; }
/// Maximum left shift of an operand of add; 2^shift is used as a weight.
constexpr std::uint32_t most_left_shift(program::Type type) { return bits_of(type) - 2; }
inline constexpr std::uint32_t kMostShift = 30;

struct Shape {
  std::uint32_t height = 0, width = 0, channels = 0;

  [[nodiscard]] std::uint64_t elements() const { return std::uint64_t{height} * width * channels; }
  auto operator<=>(const Shape&) const = default;
};
/// "56x56x64"
std::string text_of(const Shape& shape);

/// The part of an input that an output element depends on.
struct Window {
  std::uint32_t height = 1, width = 1;
  std::uint32_t stride_height = 1, stride_width = 1;
  std::uint32_t top = 0, left = 0, bottom = 0, right = 0;  ///< padding; less than the window

  auto operator<=>(const Window&) const = default;
};

struct Layer {
  std::string name;  ///< unique in its network
  Operator op = Operator::input;
  program::Type type = program::Type::i8;  ///< of its tensor and weights; the same in all layers
  std::vector<std::uint32_t> inputs;       ///< earlier layers; add: two, concatenate: 2 or more
  Shape input;        ///< of the first input; concatenate: with all channels; input: as output
  Shape output;       ///< shape of this layer's tensor
  Window window;      ///< for convolutions and pools
  bool relu = false;  ///< for convolutions and add
  std::optional<double> sparsity;  ///< share of its blocks to prune, if the run prunes

  // Scaling of values: given by the file (fixed_exponent), or found by calibrate() (weights.h).
  std::optional<int> fixed_exponent;  ///< of the output, if given by the network file
  int exponent = 0;                   ///< the output's
  std::uint32_t shift = 0;
  std::uint32_t multiplier = 0;  ///< for average_pool; 64..127, int16: 16384..32767
  std::array<std::uint32_t, 2> left_shifts = {};  ///< for add; at most most_left_shift()

  // For layers computed band by band (bands.h):
  std::vector<std::uint32_t> first_rows = {};    ///< first row read from each input; empty: 0
  bool joins_rows = false;                       ///< concatenate: inputs are stacked by rows
  std::optional<std::uint32_t> weights_of = {};  ///< an earlier layer with the same weights

  [[nodiscard]] std::uint32_t first_row(std::uint32_t operand) const {
    return first_rows.empty() ? 0 : first_rows[operand];
  }
  [[nodiscard]] bool has_weights() const {
    return op == Operator::convolution || op == Operator::depthwise_convolution;
  }
  [[nodiscard]] bool has_window() const {
    return has_weights() || op == Operator::max_pool || op == Operator::average_pool;
  }
  /// Number of true input channels of each output channel of a convolution; 1 if depthwise.
  [[nodiscard]] std::uint32_t weight_channels() const {
    return op == Operator::depthwise_convolution ? 1 : input.channels;
  }
  /// Weights and multiply-adds, without bias, channel padding and pruning; products with the
  /// image's padding count. Both are 0 for layers other than convolutions.
  [[nodiscard]] std::uint64_t weights() const;
  [[nodiscard]] std::uint64_t macs() const;
};

/// Layers in order of execution; the first is the only input.
struct Network {
  std::string name;
  std::vector<Layer> layers;

  [[nodiscard]] std::uint64_t weights() const;
  [[nodiscard]] std::uint64_t macs() const;
  /// The layers that use layer `number`'s output, in order.
  [[nodiscard]] std::vector<std::uint32_t> users(std::uint32_t number) const;
  /// True if a layer's tensor consists of rows of another one's.
  [[nodiscard]] bool is_band(std::uint32_t number) const;
  /// The addition that is the only user of a convolution's output, if its other operand is computed
  /// before the convolution.
  [[nodiscard]] std::optional<std::uint32_t> addition_of(std::uint32_t number) const;
  /// The first convolution, whose weights are never pruned; the number of layers if there is none.
  [[nodiscard]] std::uint32_t first_convolution() const;
};

}  // namespace tessera::convnet
