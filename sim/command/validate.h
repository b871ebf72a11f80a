#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/command/simulator.h"

namespace tessera::command {

struct ValidateRequest {
  std::vector<std::string> sets;  ///< names, or files of the same form; empty: all by name
  bool quick = false;
  std::string out;    ///< folder of the tables in CSV; empty: runs, and for sets from files only
  unsigned jobs = 0;  ///< points at a time; 0: one a core
};

/// Simulates the points of validation sets, a process each, and prints published beside simulated
/// numbers. Returns check_failed if a gate fails.
ExitCode validate(const ValidateRequest& request, const Simulator& simulator);

}  // namespace tessera::command
