#pragma once

#include <string>

#include "sim/base/errors.h"
#include "sim/command/command.h"
#include "sim/command/simulator.h"

namespace tessera::command {

/// Prints the machines, workloads, fabrics or sets, a name and a sentence each.
ExitCode list(const std::string& what, const Simulator& simulator);

/// Prints the JSON Schema of configs, or all keys as Markdown tables.
ExitCode schema(bool markdown, const Simulator& simulator);

Command list_command(const Simulator& simulator);
Command schema_command(const Simulator& simulator);

}  // namespace tessera::command
