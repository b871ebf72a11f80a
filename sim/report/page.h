#pragma once

#include <span>
#include <string>

#include "sim/report/run_folder.h"

namespace tessera::report {

/// One HTML file with everything in it: the runs' data and the viewer of tools/viewer, which is
/// part of this program. Needs no network and no other file. One run, or several to compare.
/// `words` explains what the page writes: {"words": [[name, text]], "labels": {text: name}}.
std::string page(std::span<const RunFolder> runs, const nlohmann::ordered_json& words);

/// Operations of the widest vector instructions by type, for rooflines.
nlohmann::ordered_json vector_flops();

/// Makes the viewer's page with other data: {"sweep": ...} or {"validation": ...}.
std::string page(const nlohmann::ordered_json& data,
                 const nlohmann::ordered_json& words = nlohmann::ordered_json::object());

}  // namespace tessera::report
