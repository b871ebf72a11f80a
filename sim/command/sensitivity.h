#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/command/command.h"
#include "sim/command/simulator.h"

namespace tessera::command {

struct SensitivityRequest {
  std::string file;
  std::vector<std::string> sets;
  std::vector<std::string> keys;  ///< only these and what is below them; empty: all
  std::string seed;
  std::string by;
  std::string out;
  unsigned jobs = 0;  ///< at a time; 0: one a core
  bool simulate = false;
  bool quiet = false;
};

/// Moves each numeric key of the config's machine, predicts or simulates what it takes then, prints
/// a table and writes sensitivity.csv and sensitivity.json beside the run's report. Simulated runs
/// are kept as those of a sweep are.
ExitCode sensitivity(const SensitivityRequest& request, const Simulator& simulator);

Command sensitivity_command(const Simulator& simulator);

}  // namespace tessera::command
