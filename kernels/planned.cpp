#include "kernels/planned.h"

#include <fmt/format.h>

#include "sim/base/counted.h"

namespace tessera::kernels {

std::string no_plan_fits(const std::string& problem, const config::Json& closest,
                         const program::CategoryBytes& need, const MachineConfig& machine) {
  const std::string plan = closest.is_null() ? "" : ", " + closest.dump();
  return program::overflow_message(fmt::format("no plan of {} fits {}; of the closest{}", problem,
                                               counted(machine.tiles, "tile"), plan),
                                   {&need, 1}, machine);
}

}  // namespace tessera::kernels
