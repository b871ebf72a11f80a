#pragma once

#include <string>
#include <vector>

#include "kernels/convnet/tiles/program.h"
#include "sim/plan/search.h"

/// Partition of a network's layers over tiles.
namespace tessera::convnet::tiles {

/// A layer's split in printed and pinned plans; layers not listed are searched.
struct LayerPlan {
  std::string layer;
  Split split;
};
void describe(config::Fields& fields, LayerPlan& plan);
struct Plan {
  kernels::Form unit = {};  ///< form of all layers' sums
  std::vector<LayerPlan> layers;
};
void describe(config::Fields& fields, Plan& plan);

struct Planned {
  Geometries geometries;
  std::vector<Prediction> predictions;  ///< by layer, each on its own
  Prediction prediction;
};

/// Lower bound on the cycles of all layers, with the best split of each on its own.
std::uint64_t least_cycles(const std::shared_ptr<const Problem>& problem, MachineCosts& costs);

/// Plans one layer after the other: the split with the fewest predicted cycles that fits beside the
/// memory of other layers. Memory is shared by a price per byte in cycles, equal for all layers.
/// `pinned` splits are kept. Throws KeyError for a split with more parts than the layer or the
/// machine has, UserError naming the layer that does not fit.
Planned planned(const std::shared_ptr<const Problem>& problem, const Plan& pinned,
                MachineCosts& costs);

}  // namespace tessera::convnet::tiles
