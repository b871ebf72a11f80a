#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/report/report.h"

/// Lists the parts of a machine that a run did not use, so that no config key is silently inert.
namespace tessera::report {

/// The section `unused` of a report: keys of the machine, or groups of keys, on which the run's
/// time and dynamic energy did not depend, each with the reason. With other values another plan may
/// use them; area and leakage depend on all parts.
nlohmann::ordered_json unused_section(const config::Config& config, const Built& built,
                                      const RunResult& result);

/// Why a report's run did not use the key; empty if it did, or if that is unknown.
std::string why_unused(const nlohmann::ordered_json& report, std::string_view path);

/// Lists the `keys` that the run did not use, one line per reason; many keys of one part are given
/// as the part. Empty if all were used.
std::string unused_lines(const nlohmann::ordered_json& report, std::span<const std::string> keys);

}  // namespace tessera::report
