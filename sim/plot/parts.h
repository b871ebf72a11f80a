#pragma once

#include <string>

namespace tessera::plot {

/// How a part of a whole is drawn: of time, of energy, of what contexts did.
struct PartLook {
  std::string name;    ///< "waiting for loads"
  std::string colour;  ///< that of the HTML page (tools/viewer); empty: any
};

/// Look of the number at a key path, "time.sync_cycles" or "stalls.load".
PartLook look_of_part(const std::string& path);

}  // namespace tessera::plot
