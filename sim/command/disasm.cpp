#include "sim/command/disasm.h"

#include <iostream>

#include "sim/elf/listing.h"

namespace tessera::command {

ExitCode disasm(const DisasmRequest& request) {
  elf::list(std::cout, elf::read_file(request.file), request.symbol);
  std::cout.flush();
  return ExitCode::done;
}

}  // namespace tessera::command
