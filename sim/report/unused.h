#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/report/report.h"

/// The parts of a machine that a run did not use, so that no key of a config is silently inert.
namespace tessera::report {

/// The section `unused` of a report: keys of the machine, or groups of them, that the run's time
/// and dynamic energy did not depend on, each with why. With other values another plan may use
/// them; area and leakage depend on all parts.
nlohmann::ordered_json unused_section(const config::Config& config, const Built& built,
                                      const RunResult& result);

/// Why the run of a report did not use the key; empty: it did, or nothing is known of it.
std::string why_unused(const nlohmann::ordered_json& report, std::string_view path);

/// Names those of `keys` that the run did not use, a line for each reason; of a part of which many
/// are given the part. Empty: it used all.
std::string unused_lines(const nlohmann::ordered_json& report, std::span<const std::string> keys);

}  // namespace tessera::report
