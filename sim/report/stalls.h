#pragma once

#include <array>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "sim/machine/machine_config.h"
#include "sim/report/run_result.h"

/// Cycles of worker contexts by state, as reported.
namespace tessera::report {

/// Names of Stalls::What, and last of the cycles in which a context had no worker. All sum to
/// contexts x cycles of the tiles.
constexpr std::array<std::string_view, Stalls::kCount + 1> kStallNames = {
    "issued", "paired",   "load",        "arithmetic", "matrix",
    "branch", "external", "arbitration", "empty"};

/// Context cycles of a tile by kStallNames.
std::array<std::uint64_t, kStallNames.size()> stalls_of_tile(const RunResult& result,
                                                             std::size_t tile,
                                                             std::uint32_t contexts);

/// Totals over all tiles by kStallNames, and of each codelet, in context cycles.
nlohmann::ordered_json stalls_section(const RunResult& result, const MachineConfig& machine);

}  // namespace tessera::report
