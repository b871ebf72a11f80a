#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/command/command.h"
#include "sim/command/simulator.h"

namespace tessera::command {

/// Runs the command that the arguments name. Results go to stdout, everything else to stderr. Never
/// throws.
ExitCode run_command_line(int argc, const char* const* argv, const Simulator& simulator);

/// All commands with their options. `simulator` must outlive them.
std::vector<Command> all_commands(const Simulator& simulator);

/// tessera(1) in the language of man(7): all commands' `--help`, exit codes, examples.
std::string manual_page(std::span<const Command> commands);

/// A bash script that completes commands, options, their values, and files. Needs only bash 4.
std::string bash_completion(std::span<const Command> commands);

}  // namespace tessera::command
