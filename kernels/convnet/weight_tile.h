#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/convnet/program.h"

/// What lies in DDR: weights in the order in which cores take them, and tensors in blocks of eight
/// channels.
namespace tessera::convnet {

/// Weights that a core holds at a time: those of output blocks [first, end) of a layer, of one of
/// the parts of their kept input blocks. Bytes: weights [output block][kept block][tap][8 inputs]
/// [8 outputs], biases [output block][8] in i32, numbers of the kept blocks [output block][kept]
/// in u16.
struct WeightTile {
  std::uint32_t layer, first, end, part;
  std::uint32_t offset, bytes;  ///< in DDR
};
/// Where biases and numbers begin in a tile of so many output blocks.
struct TileParts {
  std::uint32_t bias, kept;
};
TileParts tile_parts(const LayerShape& shape);

/// Of a tensor, its channels padded to whole blocks.
constexpr std::uint64_t blocked_bytes(const Shape& shape) {
  return std::uint64_t{padded_channels(shape.channels)} * shape.height * shape.width;
}

/// Weights of an addition, which all blocks share; tap 0 is its operand `first`, tap 1 the other.
std::vector<std::int8_t> addition_weights(const Layer& addition, std::uint32_t first = 0);
void write_tile(const Plan& plan, const WeightTile& tile, std::span<std::byte> into);
/// [block][row][column][8]; channels that the tensor does not have are zeros.
void write_blocked(const Tensor& tensor, std::span<std::byte> into);

}  // namespace tessera::convnet
