#pragma once

#include <string>
#include <vector>

#include "sim/command/command.h"
#include "sim/command/simulator.h"

/// Values of options for completion, from the code that reads them.
namespace tessera::command {

std::vector<std::string> names_of(config::Presets presets);

/// The option with the values of the key at `path`, such as report.trace.
Option choosing_key(Option option, std::string path, const Simulator& simulator);

/// The option, which takes key paths and values, with "PATH=" of every key of every workload.
Option with_keys(Option option, const Simulator& simulator);

/// `--set`, as all commands that read a config have it.
Option set_option(std::vector<std::string>* sets, const Simulator& simulator);

}  // namespace tessera::command
