#pragma once

#include <span>
#include <string>

#include "sim/command/command.h"

namespace tessera::command {

/// A script for bash that completes commands, options, what options may be given, and files. It
/// needs nothing but bash 4.
std::string bash_completion(std::span<const Command> commands);

}  // namespace tessera::command
