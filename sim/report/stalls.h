#pragma once

#include <array>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "sim/machine/machine_config.h"
#include "sim/report/run_result.h"

/// Where the cycles of worker contexts went, as reports tell it.
namespace tessera::report {

/// By Stalls::What, and last the cycles in which a context had no worker. Their sum is contexts x
/// cycles of the tiles.
constexpr std::array<std::string_view, Stalls::kCount + 1> kStallNames = {
    "issued", "paired",   "load",        "arithmetic", "matrix",
    "branch", "external", "arbitration", "empty"};

/// Slots of a tile's contexts in these cycles, by kStallNames.
std::array<std::uint64_t, kStallNames.size()> stalls_of_tile(const RunResult& result,
                                                             std::size_t tile,
                                                             std::uint32_t contexts);

/// Totals of all tiles by kStallNames, and of each codelet. Context cycles.
nlohmann::ordered_json stalls_section(const RunResult& result, const MachineConfig& machine);

}  // namespace tessera::report
