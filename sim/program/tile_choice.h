#pragma once

#include <functional>
#include <memory>

#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

namespace tessera {

/// Plans a workload for as many of the machine's tiles as are predicted fastest, where exchanges
/// and barriers take much of the time that all tiles together need: the fewer have even shares, or
/// less to tell each other. The others hold nothing and end at once. All are used where fewer would
/// do less useful work. Planning is done anew for each number, which long runs are not worth: they
/// use all. Throws what `plan` throws for all tiles. A number that is pinned (not 0) is taken as it
/// is; throws KeyError if the machine has fewer.
std::unique_ptr<Workload> plan_for_tiles(
    const std::function<std::unique_ptr<Workload>(MachineCosts&)>& plan, MachineCosts& costs,
    std::uint32_t pinned = 0);

}  // namespace tessera
