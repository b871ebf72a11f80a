#pragma once

#include <string>

#include "sim/base/errors.h"
#include "sim/command/command.h"
#include "sim/command/simulator.h"

namespace tessera::command {

/// Prints what is installed beside the program, made from the declarations of its commands: `man`
/// or `bash`.
ExitCode docs(const std::string& what, const Simulator& simulator);

Command docs_command(const Simulator& simulator);

}  // namespace tessera::command
