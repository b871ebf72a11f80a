#pragma once

#include <nlohmann/json.hpp>

namespace tessera::report {

/// A report without what depends on values, on the host, or says whether values were computed: the
/// same of a timing run as of a full run of the same config.
nlohmann::ordered_json without_values(nlohmann::ordered_json report);

}  // namespace tessera::report
