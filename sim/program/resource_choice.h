#pragma once

#include <functional>
#include <memory>

#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// Chooses how much of a machine a workload uses, if using all is not fastest. Plans once for each
/// number tried.
namespace tessera {

using Planning = std::function<std::unique_ptr<Workload>(MachineCosts&)>;

/// Plans a workload for the number of worker contexts per tile that is predicted fastest: where
/// contexts compete for issue slots, more of them may cost more than they hide. Uses all contexts
/// if they have their own slots, or if fewer would do less useful work. A given `number` (not 0) is
/// used unchanged. A plan that a config pins may hold for one number alone: if keys are refused,
/// all numbers are tried. If none can be planned, throws what `plan` throws for all.
std::unique_ptr<Workload> plan_for_workers(const Planning& plan, MachineCosts& costs,
                                           std::uint32_t number = 0);

/// Plans a workload for the number of tiles that is predicted fastest. Tries fewer than all only
/// where exchanges and barriers take much of the time of all tiles: fewer tiles may have even
/// shares or exchange less. The other tiles are empty and end at once. Uses all tiles if fewer
/// would do less useful work, and in long runs, where more planning does not pay. Throws what
/// `plan` throws for all tiles. A `pinned` number (not 0) is used unchanged; throws KeyError if the
/// machine has fewer.
std::unique_ptr<Workload> plan_for_tiles(const Planning& plan, MachineCosts& costs,
                                         std::uint32_t pinned = 0);

/// Chooses both: workers on all (or the pinned) tiles; smaller tile counts use the same workers.
std::unique_ptr<Workload> plan_for_machine(const Planning& plan, MachineCosts& costs,
                                           std::uint32_t pinned_tiles);

}  // namespace tessera
