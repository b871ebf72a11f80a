#pragma once

#include <string>
#include <vector>

/// Sweeps on a cluster: an array job whose tasks each run a shard, and a collecting job that runs
/// missing points and writes the tables after the array has ended, even if it failed.
namespace tessera::sweep {

struct SlurmJob {
  std::string config;
  std::vector<std::string> axes, sets;
  std::string out;      ///< a folder visible to all nodes
  unsigned jobs = 1;    ///< points at a time, and cores, per task
  unsigned shards = 0;  ///< tasks; 0: one per 50 points, at most 1000
  std::string sbatch;   ///< additional options, such as "--partition=x --time=60"
};

struct Submitted {
  unsigned tasks;
  std::string array_job, collecting_job;  ///< Slurm's ids
};

/// The text of the two scripts.
std::string array_script(const SlurmJob& job, const std::string& program, unsigned tasks);
std::string collecting_script(const SlurmJob& job, const std::string& program);

/// Throws UserError if sbatch is missing, or if the nodes could not read the config.
void require_slurm(const SlurmJob& job);

/// Writes the scripts to OUT/slurm and submits them with sbatch. Throws UserError if that fails.
Submitted submit(const SlurmJob& job, std::size_t points);

/// A word that a POSIX shell reads back as `text`.
std::string shell_word(const std::string& text);

struct ShellAnswer {
  int status;        ///< -1 if a signal ended the command
  std::string text;  ///< standard output and error
};

/// Runs a shell command for `caller`, such as "tessera plot". Throws UserError if no shell starts.
ShellAnswer shell(const std::string& caller, const std::string& line);

}  // namespace tessera::sweep
