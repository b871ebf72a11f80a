#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/block_shape.h"
#include "kernels/convnet/network.h"

/// What a layer asks of tiles: channels in the chunks that the matrix unit takes at once.
namespace tessera::convnet::tiles {

using kernels::BlockShape;

/// A chunk of channels of a layer's tensor.
struct Source {
  std::uint32_t layer, chunk;
};

enum class Kind : std::uint8_t {
  sums,      ///< convolution: every chunk of inputs goes into every output
  diagonal,  ///< depthwise convolution, add: each channel into its own
  maxima,    ///< max_pool
  means      ///< average_pool
};

/// A layer that tiles compute. Convolutions of the image take the places of a window's row as
/// channels: the host gives each tile the image so (`unfolded`).
struct LayerShape {
  std::uint32_t number = 0;    ///< in its network: of the tensor that is made
  std::uint32_t weighted = 0;  ///< of the layer that has the weights: with `addend` another one
  Kind kind = Kind::sums;
  Window window;  ///< unfolded: of one column
  Shape input;    ///< the image, where that is given; else of the first operand
  Shape output;
  bool relu = false;
  bool given = false;  ///< the input is the network's
  bool unfolded = false;
  std::uint32_t unfolded_columns = 1;  ///< of the window as the network has it
  std::uint32_t unfolded_left = 0;     ///< padding likewise
  /// Chunks of each operand: one, of add two; `given`: only their number counts.
  std::vector<std::vector<Source>> operands;

  /// What is added to a convolution's sums; empty: nothing.
  std::vector<Source> addend;

  [[nodiscard]] bool has_sums() const { return kind == Kind::sums || kind == Kind::diagonal; }
  [[nodiscard]] std::uint32_t chunks() const {
    return static_cast<std::uint32_t>(operands.front().size());
  }
  [[nodiscard]] std::uint32_t taps() const { return window.height * window.width; }
};

/// Channels that results are divided by: whole chunks of inputs and whole blocks of outputs.
inline std::uint32_t group_channels(const BlockShape& block) {
  return block.depth > block.columns ? block.depth : block.columns;
}

/// The layers that tiles compute, by number; none for the image, for what is only side by side, and
/// for convolutions whose results only an addition takes: they are made with that.
/// Throws KeyError at workload.network for concatenated channels that are no multiple of a chunk.
std::vector<std::optional<LayerShape>> layer_shapes(const Network& network,
                                                    const BlockShape& block);

/// The chunks of a layer's tensor, where it is computed.
std::vector<Source> chunks_of(const Network& network, std::uint32_t number,
                              const BlockShape& block);

}  // namespace tessera::convnet::tiles
