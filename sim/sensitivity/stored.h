#pragma once

#include <string>

#include "sim/config/json_text.h"

namespace tessera::sensitivity {

/// Whether `tessera sensitivity` wrote into the folder.
bool is_stored(const std::string& folder);

/// What it wrote there, as to_json() gives it. Throws UserError naming the file where that is
/// something else.
config::Json read(const std::string& folder);

}  // namespace tessera::sensitivity
