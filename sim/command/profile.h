#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/command/command.h"
#include "sim/command/exec.h"
#include "sim/command/simulator.h"
#include "sim/report/profile.h"

namespace tessera::command {

struct ProfileRequest {
  ExecRequest exec;               ///< an ELF program, or a config; the rest is of programs
  std::vector<std::string> sets;  ///< of configs
  report::ProfileView view;
  std::string out;  ///< a CSV file; empty: none
};

/// Runs a bare program on one tile, or a config, and prints where the cycles of its workers went.
ExitCode profile(const ProfileRequest& request, const Simulator& simulator);

Command profile_command(const Simulator& simulator);

}  // namespace tessera::command
