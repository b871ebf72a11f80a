#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/command/command.h"
#include "sim/command/simulator.h"

namespace tessera::command {

/// The arguments of `tessera run` and `tessera check` as given; empty: not given.
struct RunRequest {
  std::string file;
  std::vector<std::string> sets;
  std::string out;
  std::string threads;
  std::string engine;
  std::string max_cycles;
  std::string seed;
  std::string trace;
  std::string trace_tiles;
  std::vector<std::string> saves;  ///< NAME=FILE.npy
  std::string fit;                 ///< of check: a key whose last value that fits is wanted
  bool quiet = false;
};

/// Runs a config, writes the report's files, prints the summary.
ExitCode run(const RunRequest& request, const Simulator& simulator);

/// Prints plan, predicted cycles and the memory table of a config; or which value of a key is the
/// last that fits.
ExitCode check(const RunRequest& request, const Simulator& simulator);

Command run_command(const Simulator& simulator);
Command check_command(const Simulator& simulator);

}  // namespace tessera::command
