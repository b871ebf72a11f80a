#pragma once

#include <string>
#include <vector>

#include "kernels/convnet/tiles/program.h"
#include "sim/plan/search.h"

/// How the layers of a network are divided over tiles.
namespace tessera::convnet::tiles {

/// A layer's split, as plans are printed and pinned; layers that are not named are searched.
struct LayerPlan {
  std::string layer;
  Split split;
};
void describe(config::Fields& fields, LayerPlan& plan);
struct Plan {
  kernels::Form unit = {};  ///< computes all layers' sums
  std::vector<LayerPlan> layers;
};
void describe(config::Fields& fields, Plan& plan);

struct Planned {
  Geometries geometries;
  std::vector<Prediction> predictions;  ///< by layer, of each alone
  Prediction prediction;
};

/// Cycles that all layers together take at least, each by the best of its splits alone.
std::uint64_t least_cycles(const std::shared_ptr<const Problem>& problem, MachineCosts& costs);

/// One layer after the other: the split of least predicted cycles that fits beside what other
/// layers hold. Memory is shared out by a price of a byte in cycles, one for all layers. `pinned`
/// splits are taken as they are. Throws KeyError for a plan that the layer or the machine has no
/// parts for, UserError naming the layer that does not fit.
Planned planned(const std::shared_ptr<const Problem>& problem, const Plan& pinned,
                MachineCosts& costs);

}  // namespace tessera::convnet::tiles
