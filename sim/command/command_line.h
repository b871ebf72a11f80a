#pragma once

#include <vector>

#include "sim/base/errors.h"
#include "sim/command/command.h"
#include "sim/command/simulator.h"

namespace tessera::command {

/// Runs the command that the arguments name. Results go to stdout, everything else to stderr; never
/// throws.
ExitCode run_command_line(int argc, const char* const* argv, const Simulator& simulator);

/// All commands, each with its options. `simulator` outlives them.
std::vector<Command> all_commands(const Simulator& simulator);

}  // namespace tessera::command
