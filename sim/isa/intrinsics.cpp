#include "sim/isa/intrinsics.h"

#include <fmt/format.h>

#include "sim/isa/intrinsics_names.h"

namespace tessera::isa {

std::string intrinsics_header() {
  const std::string macros = assembly_macros();
  return fmt::format(
      "// Xtile for tile code; generated from sim/isa/table.def.\n#pragma once\n"
      "#ifdef __ASSEMBLER__\n{0}#else\nasm(R\"xtile(\n{0})xtile\");\n{1}#endif\n",
      macros, cpp_functions());
}

}  // namespace tessera::isa
