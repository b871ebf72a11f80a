#pragma once

#include <string>

#include "sim/config/json_text.h"

namespace tessera::sensitivity {

/// True if `tessera sensitivity` wrote into the folder.
bool is_stored(const std::string& folder);

/// Reads its file there, as to_json() gives it. Throws UserError naming the file for any other
/// content.
config::Json read(const std::string& folder);

}  // namespace tessera::sensitivity
