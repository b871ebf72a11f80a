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
  unsigned jobs = 0;           ///< points at a time; 0: one per core
  std::string shard;           ///< "i/n"; empty: all points
  bool slurm = false;          ///< submit instead of running
  unsigned shards = 0;         ///< tasks of the Slurm array; 0: chosen
  std::string sbatch;          ///< additional options of sbatch
  bool predict = false;        ///< plan each point instead of simulating it
  bool timing = false;         ///< run.values false
  unsigned compute_every = 0;  ///< with timing: every n-th point computes values too; 0: none
  bool dry_run = false;        ///< only list the points
  bool yes = false;            ///< run without asking, however many points
  bool strict = false;         ///< a point without a result is an error
  bool replace = false;        ///< may replace the tables of another sweep
  bool quiet = false;
};

/// Runs the points of a sweep that have no result yet, one process each, and writes the tables;
/// with a shard only its points and no tables. Simulating more than 1,000 points needs `yes` or a
/// confirmation at the terminal, else throws UserError. Returns SweepSummary::exit_code, or
/// interrupted after SIGINT or SIGTERM.
ExitCode sweep(const SweepRequest& request, const Simulator& simulator);

}  // namespace tessera::command
