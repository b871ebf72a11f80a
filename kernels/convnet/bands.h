#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/convnet/network.h"
#include "kernels/convnet/reference.h"

/// Depth-wise tiling: consecutive layers that are computed band by band of the last one's rows, so
/// that of the tensors between them a band at a time lies in the memory tiles. Rows that two bands
/// need are computed twice.
namespace tessera::convnet {

/// Layers `first` to `last` of a network, by their numbers.
struct Bands {
  std::uint32_t first, last;
  std::uint32_t count;  ///< of bands, whose rows are as even as can be

  bool operator==(const Bands&) const = default;
};

/// Whether what layers `first` to `last` make, but for the last one's tensor, is used among them
/// alone.
bool is_closed(const Network& network, std::uint32_t first, std::uint32_t last);

/// A network as it is planned and run: LAYER#1, LAYER#2, ... compute the bands of a layer, whose
/// bands' tensors are joined under its own name if it is the last one of its part.
struct BandedNetwork {
  Network network;
  std::vector<const LayerWeights*> weights;  ///< by layer; bands share those of their layer
};

/// With bands of several parts of it, that ascend; without any as it is. None if a part is not
/// closed, has fewer rows than bands, or joins channels of tensors of which others take more rows.
/// `weights` outlive it.
std::optional<BandedNetwork> with_bands(const Network& network,
                                        const std::vector<LayerWeights>& weights,
                                        std::span<const Bands> bands);

}  // namespace tessera::convnet
