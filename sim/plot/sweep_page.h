#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace tessera::plot {

/// Data of a sweep's page: axes, a column per number that differs between points, and each point's
/// status and packed report (report/page.h). Throws UserError.
nlohmann::ordered_json sweep_data(const std::string& folder);

}  // namespace tessera::plot
