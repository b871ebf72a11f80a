#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace tessera::plot {

/// Data of the page of a sweep: axes, a column a number that differs between points, and of each
/// point its status and its report, packed (report/page.h). Throws UserError.
nlohmann::ordered_json sweep_data(const std::string& folder);

}  // namespace tessera::plot
