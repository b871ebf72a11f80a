#pragma once

#include <memory>
#include <vector>

#include "kernels/convnet/bands.h"
#include "kernels/convnet/plan.h"

/// Which layers of a network are computed band by band.
namespace tessera::convnet {

struct BandedPlan {
  std::vector<Bands> bands;
  std::shared_ptr<const BandedNetwork> banded;  ///< what is planned
  std::shared_ptr<const Planner> planner;
};

/// The fastest: without bands, or with those that the search finds or that are pinned. It looks for
/// bands where DDR makes layers slower than what else they wait for, by a hundredth of the
/// network's time at least, and tries no more than have room in the memory tiles. What it refers to
/// outlives it. Throws as Planner, and KeyError for pinned bands that the network does not have.
BandedPlan plan_bands(const Network& network, const std::vector<LayerWeights>& weights,
                      const PinnedPlan& pinned, MachineCosts& costs);

}  // namespace tessera::convnet
