#pragma once

#include <string>

namespace tessera::isa {

/// ISA.md: the tile ISA as a Markdown page, from the table.
std::string page();

}  // namespace tessera::isa
