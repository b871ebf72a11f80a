#pragma once

#include <functional>
#include <vector>

#include "sim/plan/description.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// For programs whose tiles all do the same on data of their own and exchange nothing.
namespace tessera::plan {

/// States `tensor`, whose slice t along the first extent is the part of `array` on tile t. A result
/// lies there after the run; any other is what the array's contents were before it.
void add_slices(Description& description, program::Tensor tensor, BufferId array);

/// Cycles of the program at `sizes`: those of its first tile. `describe` gives the program of that
/// tile alone at other sizes, of which few are measured: see FittedCost.
Prediction predict_uniform(const std::vector<FittedCost::Axis>& axes, const Sizes& sizes,
                           const std::function<Description(const Sizes&)>& describe,
                           MachineCosts& costs);

}  // namespace tessera::plan
