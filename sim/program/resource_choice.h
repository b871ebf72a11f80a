#pragma once

#include <functional>
#include <memory>

#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// How much of a machine a workload uses, where all of it is not the fastest. Planning is done anew
/// for each number that is tried.
namespace tessera {

using Planning = std::function<std::unique_ptr<Workload>(MachineCosts&)>;

/// Plans a workload for so many worker contexts of each tile as are predicted fastest, of those
/// that the machine has: where contexts compete for issue slots more of them may cost more than
/// they hide. All are started where contexts have slots of their own, and where fewer would do less
/// useful work. A `number` that is given (not 0) is taken as it is. Throws what `plan` throws for
/// all, if no number can be planned.
std::unique_ptr<Workload> plan_for_workers(const Planning& plan, MachineCosts& costs,
                                           std::uint32_t number = 0);

/// Plans a workload for as many of the machine's tiles as are predicted fastest, where exchanges
/// and barriers take much of the time that all tiles together need: the fewer have even shares, or
/// less to tell each other. The others hold nothing and end at once. All are used where fewer would
/// do less useful work, and in long runs, which are not worth planning anew. Throws what `plan`
/// throws for all tiles. A number that is pinned (not 0) is taken as it is; throws KeyError if the
/// machine has fewer.
std::unique_ptr<Workload> plan_for_tiles(const Planning& plan, MachineCosts& costs,
                                         std::uint32_t pinned = 0);

/// Both: workers are chosen on all tiles (or those that are pinned), and on fewer as many start.
std::unique_ptr<Workload> plan_for_machine(const Planning& plan, MachineCosts& costs,
                                           std::uint32_t pinned_tiles);

}  // namespace tessera
