#pragma once

#include <span>
#include <string>

#include "sim/command/command.h"

/// What is installed beside the program, made from the declarations of its commands.
namespace tessera::command {

/// tessera(1), in the language of man(7): what `--help` says of all commands, exit codes, examples.
std::string manual_page(std::span<const Command> commands);

/// A script for bash that completes commands, options, what options may be given, and files. It
/// needs nothing but bash 4.
std::string bash_completion(std::span<const Command> commands);

}  // namespace tessera::command
