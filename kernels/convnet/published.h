#pragma once

#include <vector>

#include "kernels/convnet/mapping.h"

/// The published mapper's rules for a core's sub-volumes, for comparison with its paper (D'Alberto
/// et al., arXiv 2407.09453, and its repository). Rows of activations are those of a core's buffers
/// of 8 KiB, weights those of its one buffer of 16 KiB, whatever its memory. Its time model charges
/// a layer's weights on their way to the memory tiles, and of the way to a core the first
/// sub-volume alone: where a core has room for all of its layer, they come in pieces of a
/// sub-volume, each sent on while the next is brought.
namespace tessera::convnet {

/// Rows that move take multiples of so many columns.
inline constexpr std::uint32_t kPublishedColumns = 8;

/// A mapping that holds all of a core's weights, as the paper charges for; then those that hold a
/// sub-volume at a time, in each order that exists. Weights have one buffer, rows two.
std::vector<Mapping> published_mappings(LayerShape shape);

}  // namespace tessera::convnet
