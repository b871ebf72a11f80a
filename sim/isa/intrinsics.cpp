#include "sim/isa/intrinsics.h"

#include <fmt/format.h>

#include "sim/isa/intrinsics_names.h"

namespace tessera::isa {

std::string intrinsics_header() {
  return fmt::format(
      "// Xtile for tile code; generated from sim/isa/table.def.\n#pragma once\n"
      "#ifdef __ASSEMBLER__\n{}#else\n{}#endif\n",
      assembly_macros(), cpp_functions());
}

}  // namespace tessera::isa
