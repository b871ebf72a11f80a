#pragma once

#include <string_view>

/// The version of Tessera (tools/cmake/version.cmake writes the values).
namespace tessera::report {

extern const std::string_view kVersion;  ///< "0.1.0"
extern const std::string_view kCommit;   ///< commit of the source; "unknown" without git

}  // namespace tessera::report
