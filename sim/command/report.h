#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"

namespace tessera::command {

/// The arguments of `tessera report`.
struct ReportRequest {
  std::vector<std::string> runs;  ///< folders: one, or two to compare
  bool top = false;
};

/// Prints where the time of each run went.
ExitCode report(const ReportRequest& request);

}  // namespace tessera::command
