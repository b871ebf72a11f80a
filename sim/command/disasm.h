#pragma once

#include <string>

#include "sim/base/errors.h"
#include "sim/command/command.h"

namespace tessera::command {

struct DisasmRequest {
  std::string file;
  std::string symbol;  ///< empty: everything that is executable
};

/// Prints the tile code of an ELF file: address, word and assembly text, a label a symbol.
ExitCode disasm(const DisasmRequest& request);

Command disasm_command();

}  // namespace tessera::command
