#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/convnet/tiles/geometry.h"

/// The inputs of a tile: chunks of rows of the tiles that made them, and padding around them.
namespace tessera::convnet::tiles {

/// By layer; none for what tiles do not compute.
using Geometries = std::vector<std::shared_ptr<const Geometry>>;

struct Inputs {
  std::vector<program::BufferId> results;  ///< by layer
  program::BufferId x{};
  program::BufferId padding{};  ///< holds a row of X of what stands around the input
};

/// What `tile` pulls for its part of layer `g`.
void pull_inputs(const Geometries& geometries, const Geometry& g, const Inputs& from, Tile tile,
                 plan::Pulls& pulls);

/// About how many those of the fullest tile are, whatever the split of the layers before.
std::uint64_t expected_pulls(const Geometry& g);

}  // namespace tessera::convnet::tiles
