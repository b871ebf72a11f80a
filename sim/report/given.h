#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/config/config.h"

/// Lists the keys that a config gives or leaves to defaults, so that no default is silent.
namespace tessera::report {

/// The key paths of all machine values that a file or an option gives, without those of presets.
std::vector<std::string> given_keys(const config::Config& config);

/// Says how many keys of a machine that extends no preset are defaults; `layers` are the machine's.
/// Empty if none are, or if it extends a preset.
std::string defaults_line(const config::Layers& layers, const MachineConfig& machine);

/// A line on a partly given plan: the given keys, and those at their defaults. Empty if no plan or
/// a whole one is given.
std::string pinned_line(const config::Config& config, const nlohmann::ordered_json& report);

}  // namespace tessera::report
