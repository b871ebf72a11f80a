#include "sim/command/disasm.h"

#include <iostream>
#include <memory>

#include "sim/elf/listing.h"

namespace tessera::command {

ExitCode disasm(const DisasmRequest& request) {
  elf::list(std::cout, elf::read_file(request.file), request.symbol);
  std::cout.flush();
  return ExitCode::done;
}

Command disasm_command() {
  const auto request = std::make_shared<DisasmRequest>();
  return {"disasm",
          "print the tile code of an ELF file",
          {{"FILE", &request->file, "an ELF file", kRequired},
           {"--symbol", &request->symbol, "only this function"}},
          [request] { return disasm(*request); }};
}

}  // namespace tessera::command
