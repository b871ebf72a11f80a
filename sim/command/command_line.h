#pragma once

#include <span>
#include <string>
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

/// tessera(1), in the language of man(7): what `--help` says of all commands, exit codes, examples.
std::string manual_page(std::span<const Command> commands);

/// A script for bash that completes commands, options, what options may be given, and files. It
/// needs nothing but bash 4.
std::string bash_completion(std::span<const Command> commands);

}  // namespace tessera::command
