#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/config/config.h"

/// The keys that a config gives and those that it leaves to defaults, so that no default is silent.
namespace tessera::report {

/// The key paths of all values of the machine that a file or an option gives; what presets give is
/// not among them.
std::vector<std::string> given_keys(const config::Config& config);

/// Says how many keys of a machine are not given, of one that extends no preset: `layers` are the
/// machine's. Empty: none, or it extends one.
std::string defaults_line(const config::Layers& layers, const MachineConfig& machine);

/// Line on a plan that the config gives in part: its keys, and the others, for which the run's plan
/// has the defaults. Empty: no plan is given, or a whole one.
std::string pinned_line(const config::Config& config, const nlohmann::ordered_json& report);

}  // namespace tessera::report
