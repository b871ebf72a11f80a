#pragma once

#include <functional>
#include <memory>

#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

namespace tessera {

/// Plans a workload for so many worker contexts of each tile as are predicted fastest, of those
/// that the machine has: where contexts compete for issue slots more of them may cost more than
/// they hide. All are started where contexts have slots of their own, and where fewer would do less
/// useful work. A `number` that is given (not 0) is taken as it is. Throws what `plan` throws for
/// all, if no number can be planned.
std::unique_ptr<Workload> plan_for_workers(
    const std::function<std::unique_ptr<Workload>(MachineCosts&)>& plan, MachineCosts& costs,
    std::uint32_t number = 0);

}  // namespace tessera
