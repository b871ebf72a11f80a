#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/command/simulator.h"

namespace tessera::command {

struct ValidateRequest {
  std::vector<std::string> sets;  ///< empty: all
  bool quick = false;
  unsigned jobs = 0;  ///< points at a time; 0: one a core
};

/// Simulates the points of validation sets, a process each, and prints published beside simulated
/// numbers. Returns check_failed if a gate fails.
ExitCode validate(const ValidateRequest& request, const Simulator& simulator);

}  // namespace tessera::command
