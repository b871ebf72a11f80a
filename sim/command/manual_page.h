#pragma once

#include <span>
#include <string>

#include "sim/command/command.h"

namespace tessera::command {

/// tessera(1), in the language of man(7): what `--help` says of all commands, exit codes, examples.
std::string manual_page(std::span<const Command> commands);

}  // namespace tessera::command
