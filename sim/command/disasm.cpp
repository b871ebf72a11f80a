#include <iostream>
#include <memory>
#include <string>

#include "sim/base/errors.h"
#include "sim/command/commands.h"
#include "sim/elf/listing.h"

namespace tessera::command {
namespace {

struct DisasmRequest {
  std::string file;
  std::string symbol;  ///< empty: everything that is executable
};

/// Prints the tile code of an ELF file: address, word and assembly text, a label a symbol.
ExitCode disasm(const DisasmRequest& request) {
  elf::list(std::cout, elf::read_file(request.file), request.symbol);
  std::cout.flush();
  return ExitCode::done;
}

}  // namespace

Command disasm_command() {
  const auto request = std::make_shared<DisasmRequest>();
  return {"disasm",
          "print the tile code of an ELF file",
          {{"FILE", &request->file, "an ELF file", kRequired},
           {"--symbol", &request->symbol, "only this function"}},
          [request] { return disasm(*request); }};
}

}  // namespace tessera::command
