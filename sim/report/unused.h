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

/// The key paths of all values of the machine that a file or an option gives; what presets give is
/// not among them.
std::vector<std::string> given_keys(const config::Config& config);

/// Says how many keys of a machine are not given, of one that extends no preset: `layers` are the
/// machine's. Empty: none, or it extends one.
std::string defaults_line(const config::Layers& layers, const MachineConfig& machine);

/// Names those of `keys` that the run did not use, a line for each reason; empty: it used all.
std::string unused_lines(const nlohmann::ordered_json& report, std::span<const std::string> keys);

}  // namespace tessera::report
