#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/command/simulator.h"

namespace tessera::command {

struct SweepRequest {
  std::string file;
  std::vector<std::string> axes;  ///< path=values
  std::vector<std::string> sets;
  std::string out;             ///< may be empty for a dry run
  unsigned jobs = 0;           ///< points at a time; 0: one a core
  std::string shard;           ///< "i/n"; empty: all points
  bool slurm = false;          ///< submit instead of running
  unsigned shards = 0;         ///< tasks of the Slurm array; 0: chosen
  std::string sbatch;          ///< further options of sbatch
  bool predict = false;        ///< plan each point instead of simulating it
  bool timing = false;         ///< run.values false
  unsigned compute_every = 0;  ///< with timing: so many-th points compute values too; 0: none
  bool dry_run = false;        ///< list the points, run and write nothing
  bool yes = false;            ///< run however many they are
  bool strict = false;         ///< a point without a result is no success
  bool replace = false;        ///< the tables of another sweep may go
  bool quiet = false;
};

/// Runs the points of a sweep that have no result yet, a process each, and writes the tables; with
/// a shard its points only, and no tables. More than 1,000 that would be simulated now want `yes`:
/// a terminal is asked, elsewhere throws UserError. Returns what SweepSummary::exit_code says,
/// interrupted if SIGINT or SIGTERM ended it.
ExitCode sweep(const SweepRequest& request, const Simulator& simulator);

}  // namespace tessera::command
