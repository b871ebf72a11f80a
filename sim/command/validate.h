#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/command/command.h"
#include "sim/command/simulator.h"

namespace tessera::command {

struct ValidateRequest {
  /// Names, or files of the same form. Empty: all of configs/validation.
  std::vector<std::string> sets;
  bool quick = false;
  bool html = false;  ///< a page of all sets too
  /// Folder of the tables in CSV. Empty: runs, and none for sets of configs/validation.
  std::string out;
  unsigned jobs = 0;  ///< points at a time; 0: one a core
};

/// Simulates the points of validation sets, a process each, and prints published beside simulated
/// numbers. Returns check_failed if a gate fails.
ExitCode validate(const ValidateRequest& request, const Simulator& simulator);

Command validate_command(const Simulator& simulator);

}  // namespace tessera::command
