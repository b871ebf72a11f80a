#pragma once

#include "sim/base/errors.h"
#include "sim/command/simulator.h"

namespace tessera::command {

/// Runs the command that the arguments name. Results go to stdout, everything else to stderr; never
/// throws.
ExitCode run_command_line(int argc, const char* const* argv, const Simulator& simulator);

}  // namespace tessera::command
