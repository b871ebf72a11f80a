#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/command/command.h"

namespace tessera::command {

/// The arguments of `tessera report`.
struct ReportRequest {
  std::vector<std::string> runs;  ///< folders: one, or two to compare
  std::string out;                ///< the page; empty: in the folder of the last run
  bool top = false;
};

/// Writes the HTML page of the runs; with `top` prints where their time went instead.
ExitCode report(const ReportRequest& request);

Command report_command();

}  // namespace tessera::command
