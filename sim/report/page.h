#pragma once

#include <span>
#include <string>

#include "sim/report/run_folder.h"

namespace tessera::report {

/// One HTML file with everything in it: the runs' data and the viewer of tools/viewer, which is
/// part of this program. Needs no network and no other file. One run, or two to compare.
std::string page(std::span<const RunFolder> runs);

/// Operations of the widest vector instructions by type, for rooflines.
nlohmann::ordered_json vector_flops();

/// The same viewer with other data: {"sweep": ...} or {"validation": ...}.
std::string page(const nlohmann::ordered_json& data);

}  // namespace tessera::report
