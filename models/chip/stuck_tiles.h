#pragma once

#include <span>
#include <string>

namespace tessera {

/// One line per distinct state (`states[i]`: tile i's): "tiles 3-1471, 1480: waiting ..."; a
/// non-empty node class is appended: "tile 1472 (memory): waiting ...". Empty states (tiles that
/// have ended) are left out. States beyond the 40th are only counted.
std::string summarise_tiles(std::span<const std::string> states,
                            std::span<const std::string> kinds = {});

}  // namespace tessera
