#pragma once

#include <nlohmann/json.hpp>

#include "sim/machine/machine_config.h"
#include "sim/program/image.h"
#include "sim/report/run_result.h"

namespace tessera::report {

/// The section `external` of a report: what memory outside holds, what was moved from and to it,
/// and what its channels did; of a platform's memory neither channels nor a peak. The machine has
/// some.
nlohmann::ordered_json external_section(const MachineConfig& machine, const program::Images& images,
                                        const RunResult& result);
/// The summary's line of it; nothing for a report without.
std::string external_line(const nlohmann::ordered_json& report);

}  // namespace tessera::report
