#pragma once

#include <span>
#include <string>

namespace tessera {

/// One line a distinct state, `states[i]` being that of tile i: "tiles 3-1471, 1480: waiting ...";
/// with the class of nodes that is not empty, "tile 1472 (memory): waiting ...". Empty states
/// (tiles that have ended) are left out. States beyond the 40th are only counted.
std::string summarise_tiles(std::span<const std::string> states,
                            std::span<const std::string> kinds = {});

}  // namespace tessera
