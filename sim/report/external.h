#pragma once

#include <nlohmann/json.hpp>

#include "sim/machine/machine_config.h"
#include "sim/program/image.h"
#include "sim/report/run_result.h"

namespace tessera::report {

/// The section `external` of a report: capacity, bytes moved, and activity of the channels of
/// external memory; with a platform's memory neither channels nor a peak. The machine must have
/// external memory.
nlohmann::ordered_json external_section(const MachineConfig& machine, const program::Images& images,
                                        const RunResult& result);
/// The summary's line about this section; empty if the report has none.
std::string external_line(const nlohmann::ordered_json& report);

}  // namespace tessera::report
