#pragma once

#include <string>

namespace tessera::benchmark {

/// A shell command's output and its cost on this host.
struct Ran {
  std::string output;
  int status = 0;                ///< as of waitpid
  double user_seconds = 0;       ///< sum over its threads
  double processor_seconds = 0;  ///< including the kernel's
  double wall_seconds = 0;
};

/// Runs the command and waits for it. Call it one at a time.
Ran run(const std::string& command);

}  // namespace tessera::benchmark
